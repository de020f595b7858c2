"""Which plain accesses of a C program race: accesses that are neither atomic nor volatile, and that C does not order.

Two threads race where some SC run leads to a state in which both are about to access the same variable, and one of them
writes. (Under SC, that is what happens-before leaves unordered, once locks and atomic accesses order the rest.) Each
source place is reported once, with one partner: the search looks for a state in which some place not reported yet is
about to race, and starts again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from memfence.models.readings import is_locked
from memfence.models.spec import SC
from memfence.models.state import State
from memfence.models.steps import evaluate_in
from memfence.program import expressions
from memfence.program.ir import Assign, Assume, Load, Op, Program, Rmw, Store, Transition
from memfence.program.orders import MemoryOrder
from memfence.program.parameterised import resized
from memfence.records import Record
from memfence.source import Span
from memfence.strategy.portfolio import ask, decide
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import CounterexampleRun
from memfence.tasks.limits import Limits
from memfence.tasks.plain_race import PlainRace, PlainRaces, RacingAccess
from memfence.tasks.task import Safety, Task

MOST_STATES = 100_000
"""States that all searches for one program may visit together."""
MOST_PAIRS = 5_000
"""Pairs of accesses that may race by a look at the text, before it is not worth the while."""
MOST_RACES = 20
MOST_SECONDS = 5.0
"""For the proof that no number of threads has a race."""


class _Access(Record):
    """A transition that is about to access `address` at its `location`, where `enabled` is true."""

    process: int
    location: int
    number: int
    span: Span
    address: expressions.Address
    writes: bool
    is_plain: bool
    enabled: expressions.Expr

    @property
    def place(self) -> tuple[str, int, int]:
        return self.span.source.path, self.span.start, self.span.end


def races_of(program: Program, limits: Limits) -> PlainRaces | None:
    """The plain accesses that race, for languages that know plain ones besides others; None for the rest."""
    if program.language != "c":
        return None
    return _of_any_number(program, limits) if program.any_number else plain_races(program, limits)


def _of_any_number(program: Program, limits: Limits) -> PlainRaces:
    """The races between two threads of each kind; where there is none, it is asked whether more threads have one."""
    few = plain_races(resized(program, dict.fromkeys(program.any_number, 2)).program, limits)
    if few.races or not few.complete:
        return few
    accesses = [access for access in _accesses(program) if not _is_bookkeeping(program, access)]
    pairs = _pairs([access for access in accesses if access.is_plain], accesses)
    if not pairs:
        return few
    goal = Safety(bad=_bad(pairs), failures=False)
    answer = ask("any number", Task(program, SC, goal, limits).within(timeout_seconds=MOST_SECONDS))
    return PlainRaces((), answer.verdict is Verdict.HOLDS)


def plain_races(program: Program, limits: Limits) -> PlainRaces:
    """Every plain access that races under SC, up to a limit; the same on every machine unless time runs out."""
    accesses = [access for access in _accesses(program) if not _is_bookkeeping(program, access)]
    waiting = {access.place for access in accesses if access.is_plain}
    found: list[PlainRace] = []
    left, complete = MOST_STATES, True
    while pairs := _pairs([a for a in accesses if a.is_plain and a.place in waiting], accesses):
        if len(pairs) > MOST_PAIRS or len(found) == MOST_RACES or left <= 0:
            complete = False
            break
        goal = Safety(bad=_bad(pairs), failures=False)
        answer = decide(Task(program, SC, goal, replace(limits, most_states=left, progress=None)), "explicit")
        left -= answer.cost.states
        if not isinstance(answer.evidence, CounterexampleRun):
            complete = answer.verdict is Verdict.HOLDS
            break
        one, other = _met(program, pairs, answer.evidence.trace.end)
        found.append(_race(program, one, other))
        waiting -= {one.place, *([other.place] if other.is_plain else [])}
    return PlainRaces(tuple(sorted(found, key=_in_order_of_text)), complete)


def _bad(pairs: Sequence[tuple[_Access, _Access]]) -> expressions.Expr:
    """Some pair meets. A tree over locations, so that in most states a few tests are enough to say no."""
    by_process: dict[tuple[int, int], list[tuple[_Access, _Access]]] = {}
    for one, other in pairs:
        by_process.setdefault((one.process, other.process), []).append((one, other))
    return _any([_by_location(0, found) for found in by_process.values()])


def _by_location(side: int, pairs: Sequence[tuple[_Access, _Access]]) -> expressions.Expr:
    """Some of the pairs meets, told by where the process of the first side stands, then by the second's."""
    if side == 2:
        return _any([_condition(*pair) for pair in pairs])
    found: dict[int, list[tuple[_Access, _Access]]] = {}
    for pair in pairs:
        found.setdefault(pair[side].location, []).append(pair)
    return _tree(pairs[0][side].process, sorted(found), lambda location: _by_location(side + 1, found[location]))


def _tree(process: int, locations: Sequence[int], behind: Callable[[int], expressions.Expr]) -> expressions.Expr:
    """What `behind` says of the location at which the process stands; false anywhere else."""
    here = expressions.At(process, frozenset(locations))
    if len(locations) == 1:
        return expressions.conjunction(here, behind(locations[0]))
    middle = len(locations) // 2
    halves = [_tree(process, some, behind) for some in (locations[:middle], locations[middle:])]
    return expressions.conjunction(here, expressions.disjunction(*halves))


def _any(exprs: Sequence[expressions.Expr]) -> expressions.Expr:
    """A disjunction that is not nested deeply."""
    if len(exprs) <= 2:
        return expressions.disjunction(*exprs)
    middle = len(exprs) // 2
    return expressions.disjunction(_any(exprs[:middle]), _any(exprs[middle:]))


def _in_order_of_text(race: PlainRace) -> tuple[str, int, int]:
    return race.first.span.source.path, race.first.span.start, race.second.span.start


def _accesses(program: Program) -> Iterator[_Access]:
    for number, process in enumerate(program.processes):
        for position, transition in enumerate(process.transitions):
            locked = is_locked(SC, transition) or any(isinstance(op, Rmw) for op in transition.ops)
            for address, op, enabled in _about_to_access(number, transition):
                is_plain = not locked and not isinstance(op, Rmw) and op.order is MemoryOrder.PLAIN
                writes = not isinstance(op, Load)
                yield _Access(number, transition.source, position, transition.span, address, writes, is_plain, enabled)


def _about_to_access(
    process: int, transition: Transition
) -> Iterator[tuple[expressions.Address, Load | Store | Rmw, expressions.Expr]]:
    """The accesses of the transition, each with where they are about to happen, in terms of the state before it."""
    here: expressions.Expr = expressions.TRUE
    known: dict[int, expressions.Expr | None] = {}
    for op in transition.ops:
        match op:
            case Assume(condition):
                guard = _before(process, condition, known)
                here = (
                    here
                    if guard is None
                    else guard
                    if here is expressions.TRUE
                    else expressions.conjunction(here, guard)
                )
            case Assign(register, value):
                known[register] = _before(process, value, known)
            case Load() | Store() | Rmw():
                index = _before(process, op.address.index, known)
                if index is not None and not _is_direct(op):
                    yield replace(op.address, index=index), op, here
                if not isinstance(op, Store) and op.register is not None:
                    known[op.register] = None
            case _:
                pass


def _is_direct(op: Op) -> bool:
    return isinstance(op, Store) and op.direct


def _before(process: int, expr: expressions.Expr, known: dict[int, expressions.Expr | None]) -> expressions.Expr | None:
    """The expression over the state before the step; None where it depends on what the step itself loads."""
    if any(register in known and known[register] is None for register in expressions.registers_of(expr)):
        return None

    def leaf(found: expressions.Expr) -> expressions.Expr:
        if not isinstance(found, expressions.Register):
            return found
        return known.get(found.index) or expressions.RegisterOf(process, found.index)

    return expressions.rewrite(expr, leaf)


def _is_bookkeeping(program: Program, access: _Access) -> bool:
    return all(program.variables[number].is_bookkeeping for number in access.address.variables)


def _pairs(plain: Sequence[_Access], accesses: Sequence[_Access]) -> list[tuple[_Access, _Access]]:
    """Who may race with whom, by a look at the text."""
    touching: dict[int, list[_Access]] = {}
    for access in accesses:
        for variable in access.address.variables:
            touching.setdefault(variable, []).append(access)
    found: dict[tuple[int, int, int, int], tuple[_Access, _Access]] = {}
    for one in plain:
        for variable in one.address.variables:
            for other in touching[variable]:
                if other.process != one.process and (one.writes or other.writes):
                    found.setdefault((one.process, one.number, other.process, other.number), (one, other))
    return list(found.values())


def _condition(one: _Access, other: _Access) -> expressions.Expr:
    """Both are about to access the same variable, where both stand at their locations."""
    terms = [access.enabled for access in (one, other) if access.enabled is not expressions.TRUE]
    if not one.address.size == other.address.size == 1:
        first, second = (
            expressions.Binary("+", expressions.Const(a.address.base), a.address.index) for a in (one, other)
        )
        terms.append(expressions.Binary("==", first, second))
    return expressions.conjunction(*terms)


def _met(program: Program, pairs: Sequence[tuple[_Access, _Access]], end: State) -> tuple[_Access, _Access]:
    return next(pair for pair in pairs if evaluate_in(program, end, 0, _bad([pair])))


def _race(program: Program, one: _Access, other: _Access) -> PlainRace:
    common = sorted(set(one.address.variables) & set(other.address.variables))
    name = program.variables[common[0]].name
    return PlainRace(name, _shown(program, one), _shown(program, other))


def _shown(program: Program, access: _Access) -> RacingAccess:
    return RacingAccess(program.processes[access.process].name, access.span, access.writes, access.is_plain)
