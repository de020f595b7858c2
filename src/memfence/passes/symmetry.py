"""Which processes are interchangeable: those with the same code that nothing tells apart.

Exchanging two such processes maps runs to runs, so a state may be stored with their local parts in any fixed order.
Initial values may differ: the exchange is about what can happen next, not about where it began.
"""

from __future__ import annotations

from memfence.program.expressions import At, RegisterOf, walk
from memfence.program.facts.effects import op_expressions
from memfence.program.facts.observation import Observed
from memfence.program.ir import Process, Program, Transition


def symmetry_classes(program: Program, observed: Observed, *, same_start: bool = False) -> tuple[tuple[int, ...], ...]:
    """Classes of at least two interchangeable processes; with `same_start`, their initial values must agree too."""
    if program.error_locations is not None or _has_foreign_looks(program):
        return ()
    seen = {p for p, _ in observed.locations} | {p for p, _ in observed.registers} | observed.buffers
    classes: list[list[int]] = []
    for number, process in enumerate(program.processes):
        if number in seen or any(t.sync for t in process.transitions):
            continue
        for members in classes:
            if _same_code(program.processes[members[0]], process, same_start):
                members.append(number)
                break
        else:
            classes.append([number])
    return tuple(tuple(members) for members in classes if len(members) > 1)


def common_classes(
    some: tuple[tuple[int, ...], ...], others: tuple[tuple[int, ...], ...]
) -> tuple[tuple[int, ...], ...]:
    """The largest classes of at least two that are within one of `some` and one of `others`."""
    met = (tuple(p for p in one if p in other) for one in some for other in others)
    return tuple(sorted(members for members in met if len(members) > 1))


def _same_code(a: Process, b: Process, same_start: bool) -> bool:
    if same_start and (a.initial != b.initial or [r.init for r in a.registers] != [r.init for r in b.registers]):
        return False
    shapes = [[(r.domain, r.transient) for r in p.registers] for p in (a, b)]
    committed = [[location.committed for location in p.locations] for p in (a, b)]
    return (
        shapes[0] == shapes[1]
        and committed[0] == committed[1]
        and [_code(t) for t in a.transitions] == [_code(t) for t in b.transitions]
    )


def _code(t: Transition) -> tuple[object, ...]:
    return t.source, t.target, t.ops, t.locked, t.origin


def _has_foreign_looks(program: Program) -> bool:
    """Whether some process looks at another: then processes have identities."""
    ops = [op for p in program.processes for t in p.transitions for op in t.ops]
    return any(isinstance(node, At | RegisterOf) for op in ops for e in op_expressions(op) for node in walk(e))
