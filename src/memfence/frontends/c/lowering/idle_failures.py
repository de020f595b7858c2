"""Weak compare-exchanges that fail spuriously and are tried again at once, with everything as it was before.

Such a step does nothing that counts. Leave its read out of a run: what others do stays possible, since nobody reads
from a read, and what the thread does next does not depend on it. So the thread may as well wait before the
compare-exchange. Without this, a loop that tries until it succeeds could go round for ever, and the unrolling of loops
would never be complete.

The front end copies the first round of a loop, so the failure seldom leads back to the very location where it began.
What counts is that all it can do from there could be done without it, with the same effect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memfence.frontends.c.machine.residual import (
    Among,
    Check,
    Draw,
    Guard,
    Modify,
    Op,
    Read,
    Set,
    Step,
    Target,
    Write,
    registers_read_by,
)
from memfence.program.expressions import Expr, Register, rewrite

FURTHEST = 100
"""Steps of the thread alone that are followed from a failure."""
FIRST_READ = 100_000_000
"""What a step reads gets numbers from here on, in place of the register that it is read into."""
Values = dict[int, Expr]
"""Registers in terms of what they were at the failure; those that are not there are unchanged."""
Live = dict[int, frozenset[int]]
"""The registers that count at each location."""
Effect = tuple[int, bool, tuple[Op, ...], tuple[tuple[int, Expr], ...]]
"""Where a step leads, whether it is locked, its ops, and the registers that count there."""


def drop_idle_failures(steps: dict[int, list[Step]]) -> None:
    """Take these steps out. First those that lead back to their own location: others are seen to be idle then."""
    failing = [number for number, leaving in steps.items() if any(map(_is_spurious, leaving))]
    live = _live_registers(steps) if failing else {}
    for _ in range(2):
        for number in failing:
            steps[number] = [step for step in steps[number] if not _is_idle(step, live, steps)]


def _is_spurious(step: Step) -> bool:
    found = [op for op in step.ops if isinstance(op, Modify | Read | Write)]
    return len(found) == 1 and isinstance(found[0], Modify) and found[0].is_spurious


def _is_idle(step: Step, live: Live, steps: Mapping[int, Sequence[Step]]) -> bool:
    """Whether all that is possible after the failure is possible without it."""
    if not _is_spurious(step):
        return False
    values: Values = {}
    given = frozenset(op.condition for op in _perform(step, values) or () if isinstance(op, Guard))
    before = {_effect(other, live, {}, given) for other in steps[step.source]}
    here = step.target
    for _ in range(FURTHEST):
        if here == step.source:
            return all(values.get(register, Register(register)) == Register(register) for register in live[here])
        after = [_effect(other, live, values, given) for other in steps[here]]
        if after and None not in after and before.issuperset(after):
            return True
        if len(steps[here]) != 1 or not all(isinstance(op, Set) for op in steps[here][0].ops):
            return False
        _perform(steps[here][0], values)
        here = steps[here][0].target
    return False


def _live_registers(steps: Mapping[int, Sequence[Step]]) -> Live:
    """For each location the registers that are read before they are written."""
    sources: dict[int, set[int]] = {}
    for step in (step for leaving in steps.values() for step in leaving):
        sources.setdefault(step.target, set()).add(step.source)
    live: Live = {number: frozenset() for number in steps}
    waiting = list(steps)
    while waiting:
        here = waiting.pop()
        found = frozenset().union(*(_needed(step, live[step.target]) for step in steps[here]))
        if found != live[here]:
            live[here] = found
            waiting += sources.get(here, ())
    return live


def _needed(step: Step, after: frozenset[int]) -> frozenset[int]:
    needed = set(after)
    for op in reversed(step.ops):
        if isinstance(op, Set | Read | Modify | Draw):
            needed.discard(op.register)
        needed |= registers_read_by([op])
    return frozenset(needed)


def _effect(step: Step, live: Live, values: Values, given: frozenset[Expr]) -> Effect | None:
    """What the step does where registers have these values and the conditions are `given`.

    None where it has ops that are not known here.
    """
    known = dict(values)
    ops = _perform(step, known)
    if ops is None:
        return None
    registers = tuple((n, known.get(n, Register(n))) for n in sorted(live[step.target]))
    asked = tuple(op for op in ops if not (isinstance(op, Guard) and op.condition in given))
    return step.target, step.locked, asked, registers


def _perform(step: Step, values: Values) -> list[Op] | None:
    """The ops but for those that only set registers, which change `values`; None for ops that are not known here."""
    found: list[Op] = []
    for op in step.ops:
        fresh = FIRST_READ + sum(isinstance(one, Read | Modify) for one in found)
        match op:
            case Set(register, value):
                values[register] = _then(value, values)
            case Guard(condition):
                found.append(replace(op, condition=_then(condition, values)))
            case Check(condition):
                found.append(replace(op, condition=_then(condition, values)))
            case Read(register, target):
                found.append(replace(op, register=fresh, target=_where(target, values)))
                values[register] = Register(fresh)
            case Write(target, value):
                found.append(replace(op, target=_where(target, values), value=_then(value, values)))
            case Modify(register, target, operand=operand, expected=expected):
                wanted = None if expected is None else _then(expected, values)
                operand, target = _then(operand, values), _where(target, values)
                found.append(replace(op, register=fresh, target=target, operand=operand, expected=wanted))
                values[register] = wanted if op.is_spurious and wanted is not None else Register(fresh)
            case _:
                return None
    return found


def _where(target: Target, values: Values) -> Target:
    return replace(target, pointer=_then(target.pointer, values)) if isinstance(target, Among) else target


def _then(expr: Expr, values: Values) -> Expr:
    return rewrite(expr, lambda leaf: values.get(leaf.index, leaf) if isinstance(leaf, Register) else leaf)
