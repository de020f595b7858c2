"""Every RC11 execution graph of a small program without loops: is each of them one of SC, without races?

Graphs grow by one event of one thread at a time, which reaches all of them, since program order and reads-from together
have no cycle. A read whose value the thread does not go on for (an `Assume` in the same step) is no event. Relations
are bit masks: `after[e]` has the events that come after e. The formulas are those of Lahav et al. (PLDI 2017), with the
release sequences of C++20, and a read-modify-write is one event.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from memfence.program.expressions import Expr, Register, evaluate
from memfence.program.facts.effects import value_written
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Op, Process, Program, Rmw, Store
from memfence.program.orders import MemoryOrder

PLAIN, RELAXED, SEQ_CST = MemoryOrder.PLAIN, MemoryOrder.RELAXED, MemoryOrder.SEQ_CST
INITIAL = -1
"""Who reads from nobody in the graph reads what was there at the start."""


@dataclass(frozen=True)
class Stand:
    """A thread in front of an event: the op with this number of this step comes next."""

    step: int
    op: int
    registers: tuple[int, ...]


@dataclass(frozen=True)
class Event:
    thread: int
    variable: int | None
    order: MemoryOrder = PLAIN
    written: MemoryOrder = PLAIN
    reads: bool = False
    writes: bool = False
    value: int = 0

    @property
    def is_fence(self) -> bool:
        return self.variable is None

    @property
    def acquires(self) -> bool:
        return self.order.acquires and (self.reads or self.is_fence)

    @property
    def releases(self) -> bool:
        return self.order.releases if self.is_fence else self.writes and self.written.releases

    @property
    def is_plain(self) -> bool:
        return not self.is_fence and self.order is PLAIN and self.written is PLAIN

    @property
    def is_sc(self) -> bool:
        if self.is_fence:
            return self.order is SEQ_CST
        return (not self.reads or self.order is SEQ_CST) and (not self.writes or self.written is SEQ_CST)


@dataclass(frozen=True)
class Graph:
    """`before`: of each event those of its thread that came before. `source`: of each that reads, who it reads from."""

    events: tuple[Event, ...]
    stands: tuple[frozenset[Stand], ...]
    source: tuple[int | None, ...]
    order: tuple[tuple[int, ...], ...]

    def key(self) -> object:
        """The same for graphs that differ in the order of discovery only."""
        names: dict[int, tuple[int, int]] = {}
        counts: dict[int, int] = {}
        for n, event in enumerate(self.events):
            names[n] = (event.thread, counts.get(event.thread, 0))
            counts[event.thread] = names[n][1] + 1
        sources = (None if w is None else names.get(w) for w in self.source)
        named = zip(self.events, sources, strict=True)
        return (
            frozenset((names[n], event, source) for n, (event, source) in enumerate(named)),
            tuple(tuple(names[w] for w in writes) for writes in self.order),
            self.stands,
        )


def is_robust(program: Program, most_graphs: int = 20_000) -> bool | None:
    """Whether every graph is one of SC and has no race; None where there are more graphs than that."""
    seen: set[object] = set()
    for registers in product(*(tuple(product(*(r.init for r in p.registers))) for p in program.processes)):
        stands = tuple(
            frozenset(to_event(process, process.initial, values))
            for process, values in zip(program.processes, registers, strict=True)
        )
        work = [Graph((), stands, (), tuple(() for _ in program.variables))]
        while work:
            for graph in _larger(program, work.pop()):
                if graph.key() in seen:
                    continue
                relations = Relations(graph)
                if not relations.is_rc11():
                    continue
                if not relations.is_sc() or relations.has_race():
                    return False
                seen.add(graph.key())
                if len(seen) > most_graphs:
                    return None
                work.append(graph)
    return True


# One more event.


def to_event(process: Process, location: int, registers: tuple[int, ...]) -> Iterator[Stand]:
    for number, _ in process.leaving(location):
        yield from _along(process, number, 0, registers)


def _along(process: Process, number: int, op: int, registers: tuple[int, ...]) -> Iterator[Stand]:
    """Follow local ops from here to the next event."""
    step = process.transitions[number]
    values = list(registers)
    for n in range(op, len(step.ops)):
        match step.ops[n]:
            case Assume(condition):
                if not value_of(condition, values):
                    return
            case Assign(register, value):
                values[register] = process.registers[register].domain.fit(value_of(value, values))
            case Assert():
                raise AssertionError("programs of this comparison do not fail")
            case _:
                yield Stand(number, n, tuple(values))
                return
    kept = tuple(0 if r.transient else v for r, v in zip(process.registers, values, strict=True))
    yield from to_event(process, step.target, kept) if any(process.leaving(step.target)) else ()


def goes_on(process: Process, stand: Stand, registers: list[int]) -> frozenset[Stand] | None:
    """Where the thread stands after the event; None where the step that it is in blocks."""
    step = process.transitions[stand.step]
    values = list(registers)
    for op in step.ops[stand.op + 1 :]:
        match op:
            case Assume(condition):
                if not value_of(condition, values):
                    return None
            case Assign(register, value):
                values[register] = value_of(value, values)
            case _:
                break
    return frozenset(_along(process, stand.step, stand.op + 1, tuple(registers)))


def value_of(expr: Expr, registers: Sequence[int]) -> int:
    return evaluate(expr, lambda leaf, _: registers[leaf.index] if isinstance(leaf, Register) else 0)


def _larger(program: Program, graph: Graph) -> Iterator[Graph]:
    for thread, stands in enumerate(graph.stands):
        for stand in stands:
            process = program.processes[thread]
            op = process.transitions[stand.step].ops[stand.op]
            for event, source, place, registers in _ways(program, graph, thread, stand, op):
                after = goes_on(process, stand, registers)
                if after is None:
                    continue
                number = len(graph.events)
                order = list(graph.order)
                if event.writes:
                    assert event.variable is not None
                    writes = order[event.variable]
                    order[event.variable] = (*writes[:place], number, *writes[place:])
                stood = (*graph.stands[:thread], after, *graph.stands[thread + 1 :])
                yield Graph((*graph.events, event), stood, (*graph.source, source), tuple(order))


Way = tuple[Event, int | None, int, list[int]]


def _ways(program: Program, graph: Graph, thread: int, stand: Stand, op: Op) -> Iterator[Way]:
    """The event, who it reads from, its place among the writes, and the registers behind it."""
    registers = list(stand.registers)
    if isinstance(op, Fence):
        order = SEQ_CST if op.kind == "mfence" else op.order
        yield Event(thread, None, order), None, 0, registers
        return
    assert isinstance(op, Load | Store | Rmw)
    x = op.address.base + value_of(op.address.index, registers)
    writes = graph.order[x]
    domain = program.variables[x].domain
    if isinstance(op, Store):
        value = domain.fit(value_of(op.value, registers))
        for place in range(len(writes) + 1):
            yield Event(thread, x, written=op.order, writes=True, value=value), None, place, registers
        return
    for place, source in enumerate((INITIAL, *writes)):
        old = program.variables[x].init[0] if source == INITIAL else graph.events[source].value
        after = list(registers)
        if op.register is not None:
            after[op.register] = old
        if isinstance(op, Load):
            yield Event(thread, x, op.order, reads=True), source, 0, after
        elif op.expected is not None and old != value_of(op.expected, registers):
            yield Event(thread, x, op.failure_order.of_read, reads=True), source, 0, after
        else:
            new = domain.fit(value_of(value_written(op, Register(len(registers))), [*registers, old]))
            yield (
                Event(thread, x, op.order.of_read, op.order.of_write, reads=True, writes=True, value=new),
                source,
                place,
                after,
            )


# Consistency.

Rows = list[int]


def _closed(rows: Rows) -> Rows:
    rows = list(rows)
    for k in range(len(rows)):
        for i in range(len(rows)):
            if rows[i] >> k & 1:
                rows[i] |= rows[k]
    return rows


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _then(a: Rows, b: Rows) -> Rows:
    found = []
    for row in a:
        reached = 0
        for k in _bits(row):
            reached |= b[k]
        found.append(reached)
    return found


def _or(*relations: Rows) -> Rows:
    result = [0] * len(relations[0])
    for rows in relations:
        result = [x | y for x, y in zip(result, rows, strict=True)]
    return result


def _is_acyclic(rows: Rows) -> bool:
    return not any(row >> n & 1 for n, row in enumerate(_closed(rows)))


def _inverse(rows: Rows) -> Rows:
    found = [0] * len(rows)
    for a, row in enumerate(rows):
        for b in _bits(row):
            found[b] |= 1 << a
    return found


class Relations:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        events = self.events = graph.events
        n = self.n = len(events)
        self.po = [sum(1 << b for b in range(a + 1, n) if events[b].thread == events[a].thread) for a in range(n)]
        self.rf, self.mo, self.fr = [0] * n, [0] * n, [0] * n
        for r, w in enumerate(graph.source):
            if w is not None and w != INITIAL:
                self.rf[w] |= 1 << r
        for writes in graph.order:
            for place, w in enumerate(writes):
                self.mo[w] = sum(1 << later for later in writes[place + 1 :])
        for r, w in enumerate(graph.source):
            if w is not None:
                everybody = sum(1 << one for one in graph.order[events[r].variable or 0])
                self.fr[r] = (everybody if w == INITIAL else self.mo[w]) & ~(1 << r)

    def _mask(self, holds: object) -> int:
        return sum(1 << n for n, event in enumerate(self.events) if holds(event))  # type: ignore[operator]

    def is_sc(self) -> bool:
        return _is_acyclic(_or(self.po, self.rf, self.mo, self.fr))

    def is_rc11(self) -> bool:
        if not self._is_atomic():
            return False
        self.hb = _closed(_or(self.po, self._sw()))
        eco = _closed(_or(self.rf, self.mo, self.fr))
        for a, row in enumerate(self.hb):
            if row >> a & 1 or eco[a] >> a & 1 or any(eco[b] >> a & 1 for b in _bits(row)):
                return False
        return _is_acyclic(self._psc(eco))

    def _is_atomic(self) -> bool:
        for u, event in enumerate(self.events):
            if event.reads and event.writes:
                writes, source = self.graph.order[event.variable or 0], self.graph.source[u]
                place = writes.index(u)
                if (INITIAL if place == 0 else writes[place - 1]) != source:
                    return False
        return True

    def _sw(self) -> Rows:
        events, rows = self.events, [0] * self.n
        updates = self._mask(lambda e: e.reads and e.writes)
        atomic_reads = self._mask(lambda e: e.reads and e.order is not PLAIN)
        for w, write in enumerate(events):
            if not write.writes or write.written is PLAIN:
                continue
            chain, last = 1 << w, w
            while following := self.rf[last] & updates:
                last = following.bit_length() - 1
                chain |= 1 << last
            readers = 0
            for one in _bits(chain):
                readers |= self.rf[one]
            tails = 0
            for r in _bits(readers & atomic_reads):
                tails |= 1 << r if events[r].acquires else 0
                tails |= self.po[r] & self._mask(lambda e: e.is_fence and e.acquires)
            heads = [w] if write.releases else []
            heads += [f for f, e in enumerate(events) if e.is_fence and e.releases and self.po[f] >> w & 1]
            for head in heads:
                rows[head] |= tails
        return rows

    def _psc(self, eco: Rows) -> Rows:
        events, n = self.events, self.n
        identity = [1 << k for k in range(n)]
        same = [
            sum(1 << b for b in range(n) if events[a].variable is not None and events[a].variable == events[b].variable)
            for a in range(n)
        ]
        elsewhere = [self.po[a] & ~same[a] for a in range(n)]
        scb = _or(
            self.po,
            _then(_then(elsewhere, self.hb), elsewhere),
            [row & same[a] for a, row in enumerate(self.hb)],
            self.mo,
            self.fr,
        )
        accesses = self._mask(lambda e: e.is_sc and not e.is_fence)
        fences = self._mask(lambda e: e.is_sc and e.is_fence)
        is_access = [1 << k if accesses >> k & 1 else 0 for k in range(n)]
        is_fence = [1 << k if fences >> k & 1 else 0 for k in range(n)]
        maybe = _or(self.hb, identity)
        first = _or(is_access, _then(is_fence, maybe))
        last = _or(is_access, _then(maybe, is_fence))
        base = _then(_then(first, scb), last)
        between = _or(self.hb, _then(_then(self.hb, eco), self.hb))
        return _or(base, _then(_then(is_fence, between), is_fence))

    def has_race(self) -> bool:
        """Of `is_rc11`, which found `hb`."""
        known = _or(self.hb, _inverse(self.hb))
        for a, one in enumerate(self.events):
            for b, other in enumerate(self.events[:a]):
                if one.is_fence or one.variable != other.variable or one.thread == other.thread:
                    continue
                is_conflict = (one.writes or other.writes) and (self._plain(one) or self._plain(other))
                if is_conflict and not known[a] >> b & 1:
                    return True
        return False

    @staticmethod
    def _plain(event: Event) -> bool:
        return event.is_plain
