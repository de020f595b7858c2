"""Few values for nondeterministic integers that are only copied and compared, standing for all of them.

A program that copies data and tests it for equality cannot tell one integer from another (Wolper, POPL 1986): renaming
all data of a run, one to one, gives a run, if the constants C that data meets are left alone. Give each draw that is
executed at most once a number d. Rename each value outside C to the least number of a draw that drew it: draw d then
gets a member of C or one of d + 1 values. So these are enough, for every run up to renaming.

A *passing* draw is never stored. Where passing draws are not compared with each other, one more value stands for
everything that none of the others drew. The draws here are ops of the residual program (`Draw`), with every use of
them in sight; they become one step for each value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memfence.frontends.c.machine.process import SCRATCH, Process
from memfence.frontends.c.machine.residual import (
    Among,
    Draw,
    Modify,
    Op,
    Read,
    Set,
    Step,
    Target,
    Write,
    expressions_of,
)
from memfence.frontends.c.machine.value_sets import range_of_bits
from memfence.frontends.c.machine.world import World
from memfence.program.expressions import Binary, Conditional, Const, Expr, Register, children, registers_of
from memfence.records import Record

MOST_DRAWS = 12

Holder = tuple[int, ...]
"""What may hold data: (-1, address) of a cell, (process, register), (process, source, step, scratch register)."""


class Dependent(Exception):
    """Something happens to the data besides being copied and compared."""


class _Drawn(Record):
    process: int
    source: int
    number: int
    op: Draw


@dataclass
class _Flow:
    """Where data may be, from the draws in `seeds`."""

    processes: Sequence[Process]
    holders: set[Holder] = field(default_factory=set)

    def steps(self) -> Iterator[tuple[Process, int, int, Step]]:
        for process in self.processes:
            for location in process.locations:
                for number, step in enumerate(location.steps):
                    yield process, location.number, number, step

    def spread(self) -> None:
        """Add everything that data is copied to."""
        before = -1
        while before != len(self.holders):
            before = len(self.holders)
            for process, source, number, step in self.steps():
                for op in step.ops:
                    self._copy(_Names(process.number, source, number), op)

    def _copy(self, names: _Names, op: Op) -> None:
        for targets, sources in copies_of(names, op):
            if any(isinstance(source, tuple) and source in self.holders for source in sources):
                self.holders.update(targets)


class _Names(Record):
    """Which holder a register is in one step; scratch registers last for the step alone."""

    process: int
    source: int
    step: int

    def of(self, register: int) -> Holder:
        if register >= SCRATCH:
            return (self.process, self.source, self.step, register)
        return (self.process, register)


Source = Holder | int | None
"""A holder, a constant, or something else."""


def copies_of(names: _Names, op: Op) -> list[tuple[list[Holder], list[Source]]]:
    """What the op fills, and with what."""
    match op:
        case Set(register, value):
            return [([names.of(register)], _sources(names, value))]
        case Write(target, value):
            return [(_cells(target), _sources(names, value))]
        case Read(register, target):
            return [([names.of(register)], list(_cells(target)))]
        case Modify(register, target):
            return [([names.of(register)], list(_cells(target))), (_cells(target), [None])]
        case _:
            return []


def _cells(target: Target) -> list[Holder]:
    addresses = target.cells if isinstance(target, Among) else (target.address,)
    return [(-1, address) for address in addresses]


def _sources(names: _Names, value: Expr) -> list[Source]:
    match value:
        case Register(index):
            return [names.of(index)]
        case Const(number):
            return [number]
        case Conditional(_, then, otherwise):
            return [*_sources(names, then), *_sources(names, otherwise)]
        case _:
            return [None]


def resolve_draws(world: World, processes: Sequence[Process]) -> bool:
    """Replace each `Draw` by steps with values that are enough; False where that is not known to be possible."""
    flow = _Flow(processes)
    drawn = [
        _Drawn(process.number, source, number, op)
        for process, source, number, step in flow.steps()
        for op in step.ops
        if isinstance(op, Draw)
    ]
    if not drawn:
        return True
    if len(drawn) > MOST_DRAWS or any(world.is_parameterised(d.process) or _is_repeated(processes, d) for d in drawn):
        return False
    try:
        constants = _constants(world, flow, drawn)
    except Dependent:
        return False
    _put_values(processes, drawn, _passing(processes, drawn), constants)
    return True


def _seed(draw: _Drawn) -> Holder:
    return _Names(draw.process, draw.source, draw.number).of(draw.op.register)


def _is_repeated(processes: Sequence[Process], draw: _Drawn) -> bool:
    """Whether control can come to the draw again."""
    locations = next(p for p in processes if p.number == draw.process).locations
    waiting = [step.target for step in locations[draw.source].steps]
    seen = set(waiting)
    while waiting:
        for step in locations[waiting.pop()].steps:
            if step.target not in seen:
                seen.add(step.target)
                waiting.append(step.target)
    return draw.source in seen


def _constants(world: World, flow: _Flow, drawn: Sequence[_Drawn]) -> set[int]:
    """The integers that data meets. Dependent where data meets anything else."""
    flow.holders = {_seed(draw) for draw in drawn}
    flow.spread()
    found = {world.initial(at[1], world.shared.get(at[1], 4)) for at in flow.holders if at[0] == -1}
    for process, source, number, step in flow.steps():
        names = _Names(process.number, source, number)
        for op in step.ops:
            found |= _filled(flow.holders, copies_of(names, op))
            for expr in expressions_of(op):
                if not (isinstance(op, Set | Write) and expr is op.value and _is_copy(expr)):
                    found |= _compared(flow.holders, names, expr)
    return found


def _filled(holders: set[Holder], copies: list[tuple[list[Holder], list[Source]]]) -> set[int]:
    """The constants that are stored where data is."""
    found: set[int] = set()
    for targets, sources in copies:
        if not holders.isdisjoint(targets):
            if any(source is None or (isinstance(source, tuple) and source not in holders) for source in sources):
                raise Dependent
            found |= {source for source in sources if isinstance(source, int)}
    return found


def _is_copy(expr: Expr) -> bool:
    return isinstance(expr, Register | Const)


def _compared(holders: set[Holder], names: _Names, expr: Expr) -> set[int]:
    """The constants that data is compared with in the expression, of which it is no other part."""
    match expr:
        case Register(index):
            if names.of(index) in holders:
                raise Dependent
            return set()
        case Binary("==" | "!=", Register() | Const() as left, Register() | Const() as right):
            sides = [*_sources(names, left), *_sources(names, right)]
            if not any(side in holders for side in sides if isinstance(side, tuple)):
                return set()
            if any(isinstance(side, tuple) and side not in holders for side in sides):
                raise Dependent
            return {side for side in sides if isinstance(side, int)}
        case Conditional(condition, then, otherwise) if _is_copy(then) and _is_copy(otherwise):
            arms = [side for side in (*_sources(names, then), *_sources(names, otherwise)) if isinstance(side, tuple)]
            if any(side in holders for side in arms):
                raise Dependent
            return _compared(holders, names, condition)
        case _:
            return {number for child in children(expr) for number in _compared(holders, names, child)}


def _passing(processes: Sequence[Process], drawn: Sequence[_Drawn]) -> set[_Drawn]:
    """The draws that are never stored in memory, if no two of them are compared with each other."""
    passing: set[_Drawn] = set()
    holders: set[Holder] = set()
    for draw in drawn:
        flow = _Flow(processes, {_seed(draw)})
        flow.spread()
        if all(holder[0] != -1 for holder in flow.holders):
            passing.add(draw)
            holders |= flow.holders
    return set() if _meet(_Flow(processes), holders) else passing


def _meet(flow: _Flow, holders: set[Holder]) -> bool:
    """Whether two of the holders are in one comparison."""
    for process, source, number, step in flow.steps():
        names = _Names(process.number, source, number)
        for op in step.ops:
            for expr in expressions_of(op):
                if any(_both(names, holders, part) for part in _parts(expr)):
                    return True
    return False


def _both(names: _Names, holders: set[Holder], expr: Expr) -> bool:
    return (
        isinstance(expr, Binary)
        and expr.op in ("==", "!=")
        and all(
            any(names.of(register) in holders for register in registers_of(side)) for side in (expr.left, expr.right)
        )
    )


def _parts(expr: Expr) -> Iterator[Expr]:
    yield expr
    for child in children(expr):
        yield from _parts(child)


def _put_values(
    processes: Sequence[Process], drawn: Sequence[_Drawn], passing: set[_Drawn], constants: set[int]
) -> None:
    stored = [draw for draw in drawn if draw not in passing]
    fresh = [n for n in range(len(drawn) + len(constants) + 1) if n not in constants]
    for process in processes:
        for location in process.locations:
            location.steps = [
                each
                for number, step in enumerate(location.steps)
                for each in _with_values(step, _values_of(process, location.number, number, stored, fresh, constants))
            ]


def _values_of(
    process: Process, source: int, number: int, stored: Sequence[_Drawn], fresh: Sequence[int], constants: set[int]
) -> list[int]:
    """The constants, and as many others as this draw needs."""
    before = next(
        (n for n, d in enumerate(stored) if (d.process, d.source, d.number) == (process.number, source, number)),
        len(stored),
    )
    return sorted({*constants, *fresh[: before + 1]})


def _with_values(step: Step, values: Sequence[int]) -> list[Step]:
    for position, op in enumerate(step.ops):
        if isinstance(op, Draw):
            lo, hi = range_of_bits(op.bits)
            choices = [Set(op.register, Const(v)) for v in values if lo <= v <= hi]
            return [replace(step, ops=(*step.ops[:position], c, *step.ops[position + 1 :])) for c in choices]
    return [step]
