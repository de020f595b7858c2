"""What the monitor has to remember of each variable.

Nothing where no access can see a past that matters: variables of one thread, variables that nobody writes. Plain
variables without races need no more than the races themselves: their order is that of happens-before, which other
variables carry. See docs/theory/rc11-robustness.md, "What is left out".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import Enum, auto
from itertools import combinations

from memfence.axiomatic.unrolling.conditions import is_opposite
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.engines.rc11.events import PLAIN, Event, Kind, all_events
from memfence.engines.rc11.values import Known, few_values
from memfence.engines.rc11.waiting import Going, going_on
from memfence.passes.liveness import dead_registers
from memfence.program.expressions import FALSE, TRUE, Expr
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Program
from memfence.program.traversal import property_expressions
from memfence.records import Record

GUESSED = tuple(range(12))
"""Values that are told apart where those of a variable are not known; all others count as one."""


class Access(Enum):
    """What races are about. Plain writes race with everything, so that the last one stands for all."""

    PLAIN_WRITE = auto()
    ATOMIC_WRITE = auto()
    PLAIN_READ = auto()
    ATOMIC_READ = auto()


Done = tuple[Access, int]
"""Accesses of this kind by this thread; -1: by any."""


class Variable(Record):
    """The columns of one variable: what a view may know of it.

    `fresh`: the newest write. `gone`: that no older write with this value can be seen any more; None: with a value that
    is not `listed`. `tight`: no write can come in between. `leads`: in sets of variables whose newest write leads
    somewhere. `done`: accesses that happened before. `asked`: by thread, what its own accesses look at. `is_tracked`:
    atomic, and shared.
    """

    is_tracked: bool
    fresh: int | None = None
    gone: Mapping[int | None, int] = field(default_factory=dict)
    listed: tuple[int, ...] = ()
    tight: int | None = None
    leads: int | None = None
    done: Mapping[Done, int] = field(default_factory=dict)
    asked: Mapping[int, int] = field(default_factory=dict)

    @property
    def known(self) -> int:
        """The columns of a view that knows the newest write."""
        columns = [*self.gone.values(), *(c for c in (self.fresh, self.tight) if c is not None)]
        return sum(1 << column for column in columns)


class Columns(Record):
    """`variables`: those that are shared and written, by number. `going`: by process and step, of what reads."""

    variables: Mapping[int, Variable]
    going: Mapping[tuple[int, int], Going]
    width: int
    leading: int

    def asked_by(self, thread: int) -> int:
        """The columns that accesses of the thread look at."""
        return sum(variable.asked.get(thread, 0) for variable in self.variables.values())

    @property
    def tracked(self) -> tuple[int, ...]:
        return tuple(n for n, variable in self.variables.items() if variable.is_tracked)


Use = tuple[int, int, Event]


def columns_of(program: Program) -> Columns:
    """The columns for a program with single events at single variables."""
    uses: dict[int, list[Use]] = {}
    for p, n, event in all_events(program):
        if event.kind is not Kind.FENCE:
            uses.setdefault(event.variable, []).append((p, n, event))
    looked_at = [expr for prop in program.properties for expr in property_expressions(prop)]
    dead = dead_registers(program, observed_by(program, looked_at))
    going = {
        (p, n): going_on(program.processes[p], program.processes[p].transitions[n], event, dead[p])
        for found in uses.values()
        for p, n, event in found
        if event.reads
    }
    for found in uses.values():
        _refuse_hidden_reads(program, found, going)
    values = few_values(program)
    numbers = _Numbers()
    variables = {
        x: _with_asked(_variable(found, values[x], going, numbers), found)
        for x, found in sorted(uses.items())
        if _is_shared(found)
    }
    return Columns(variables, going, numbers.view, numbers.leading)


def _refuse_hidden_reads(program: Program, uses: Sequence[Use], going: Mapping[tuple[int, int], Going]) -> None:
    """A read in a step that then blocks is no event here; none may race with a plain write."""
    storing = {p for p, _, event in uses if event.writes and event.written is PLAIN}
    waiting: dict[tuple[int, int], list[Expr]] = {}
    for p, n, event in uses:
        if event.reads and storing - {p}:
            waiting.setdefault((p, program.processes[p].transitions[n].source), []).append(going[p, n].waits_for)
    for (p, at), conditions in waiting.items():
        if TRUE not in conditions and not any(is_opposite(a, b) for a, b in combinations(conditions, 2)):
            raise NotUnrolled(Unfit.WAITS_BESIDE_PLAIN, program.processes[p].locations[at].span)


class _Numbers:
    view = 0
    leading = 0

    def next(self) -> int:
        self.view += 1
        return self.view - 1

    def next_leading(self) -> int:
        self.leading += 1
        return self.leading - 1


def _is_shared(uses: Sequence[Use]) -> bool:
    return len({p for p, _, _ in uses}) > 1 and any(event.writes for _, _, event in uses)


def _variable(
    uses: Sequence[Use], values: Known, going: Mapping[tuple[int, int], Going], numbers: _Numbers
) -> Variable:
    done = {key: numbers.next() for key in _racing(uses)}
    if all(event.is_plain for _, _, event in uses):
        return Variable(False, done=done)
    readers = {p for p, _, event in uses if event.kind is Kind.READ}
    writers = {p for p, _, event in uses if event.writes}
    storing = {p for p, _, event in uses if event.kind is Kind.WRITE}
    sees_past = any(p != q for p in readers for q in writers)
    comes_between = any(p != q for p in writers for q in storing)
    if not sees_past and not comes_between:
        return Variable(True, done=done)
    conditions = [going[p, n] for p, n, event in uses if event.reads]
    waits = any(one.goes_on != TRUE for one in conditions)
    fresh = None
    gone: dict[int | None, int] = {}
    listed = tuple(sorted(values)) if values is not None else GUESSED
    if waits:
        gone = {v: numbers.next() for v in listed if any(one.with_value(v) != FALSE for one in conditions)}
        if values is None:
            gone[None] = numbers.next()
    elif sees_past:
        fresh = numbers.next()
    tight = numbers.next() if comes_between else None
    return Variable(True, fresh, gone, listed, tight, numbers.next_leading(), done)


def _with_asked(variable: Variable, uses: Sequence[Use]) -> Variable:
    asked: dict[int, int] = {}
    for p, _, event in uses:
        columns = {column for (access, by), column in variable.done.items() if by != p and access in conflicting(event)}
        if event.reads:
            columns |= {*variable.gone.values(), *([] if variable.fresh is None else [variable.fresh])}
        if event.writes and variable.tight is not None:
            columns.add(variable.tight)
        for column in columns:
            asked[p] = asked.get(p, 0) | 1 << column
    return replace(variable, asked=asked)


def _racing(uses: Sequence[Use]) -> Iterator[Done]:
    """The accesses that another thread's may race with, each once."""
    found = dict.fromkeys(done for p, _, event in uses for done in done_by(p, event))
    for done in found:
        if any(p != done[1] and done[0] in conflicting(event) for p, _, event in uses):
            yield done


def done_by(process: int, event: Event) -> Iterator[Done]:
    """What the event does, as others may race with it."""
    if event.writes:
        plain = event.written is PLAIN
        yield (Access.PLAIN_WRITE, -1) if plain else (Access.ATOMIC_WRITE, process)
    if event.reads:
        yield (Access.PLAIN_READ if event.order is PLAIN else Access.ATOMIC_READ, process)


def conflicting(event: Event) -> frozenset[Access]:
    """What the event races with, where neither happens before the other."""
    found = {Access.PLAIN_WRITE}
    if event.is_plain:
        found.add(Access.ATOMIC_WRITE)
    if event.writes:
        found.add(Access.PLAIN_READ)
        if event.is_plain:
            found.add(Access.ATOMIC_READ)
    return frozenset(found)
