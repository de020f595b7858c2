"""The monitor of docs/theory/rc11-robustness.md over sets, as it is defined there, with nothing left out.

It runs the SC interleavings of a program event by event. `forget` plants a mistake: the tests see that each is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from memfence.program.expressions import Register
from memfence.program.facts.effects import value_written
from memfence.program.ir import Fence, Load, Op, Program, Rmw, Store
from memfence.program.orders import MemoryOrder
from twins.rc11_graphs import Stand, goes_on, to_event, value_of

PLAIN, SEQ_CST = MemoryOrder.PLAIN, MemoryOrder.SEQ_CST
FENCES = -1
"""The variable that seq_cst fences update."""

Set = frozenset[object]
NONE: Set = frozenset()


@dataclass(frozen=True)
class View:
    """`fresh`: variables whose newest write is known; `tight`: no write can come in between; `old`: older writes that
    may still be seen, as pairs of variable and value; `unknown`: accesses that did not happen before."""

    fresh: Set
    tight: Set
    old: Set = NONE
    unknown: Set = NONE

    def __or__(self, other: View) -> View:
        return View(
            self.fresh | other.fresh, self.tight | other.tight, self.old & other.old, self.unknown & other.unknown
        )

    def knowing(self, x: int) -> View:
        return replace(
            self, fresh=self.fresh | {x}, tight=self.tight | {x}, old=frozenset(p for p in self.old if p[0] != x)
        )


@dataclass(frozen=True)
class State:
    """`cur`, `acq`, `rel` by thread and `msg` by variable are views; `to` by thread, `any`, `last` by variable are sets
    of variables whose newest write leads there; those with `sc_` by seq_cst accesses only."""

    stands: tuple[frozenset[Stand], ...]
    memory: tuple[int, ...]
    cur: tuple[View, ...]
    acq: tuple[View, ...]
    rel: tuple[View, ...]
    msg: tuple[View, ...]
    to: tuple[Set, ...]
    any: tuple[Set, ...]
    last: tuple[Set, ...]
    sc_to: tuple[Set, ...]
    sc_any: tuple[Set, ...]
    sc_last: tuple[Set, ...]


def is_robust(program: Program, forget: str = "") -> bool:
    """Whether the monitor finds no access that RC11 lets see a past which SC does not, and no race."""
    return all(_explore(program, start, forget) for start in _starts(program))


def _starts(program: Program) -> Iterator[State]:
    count, threads = len(program.variables) + 1, len(program.processes)
    everything: Set = frozenset(range(-1, count - 1))
    top = View(everything, everything)
    for registers in product(*(tuple(product(*(r.init for r in p.registers))) for p in program.processes)):
        yield State(
            tuple(
                frozenset(to_event(p, p.initial, values))
                for p, values in zip(program.processes, registers, strict=True)
            ),
            tuple(v.init[0] for v in program.variables),
            *((top,) * threads,) * 3,
            (top,) * count,
            *((NONE,) * n for n in (threads, count, count) * 2),
        )


class _Alarm(Exception):
    pass


def _explore(program: Program, start: State, forget: str) -> bool:
    seen, work = {start}, [start]
    while work:
        state = work.pop()
        try:
            for after in _successors(program, state, forget):
                if after not in seen:
                    seen.add(after)
                    work.append(after)
        except _Alarm:
            return False
    return True


def _successors(program: Program, state: State, forget: str) -> Iterator[State]:
    for t, stands in enumerate(state.stands):
        for stand in stands:
            process = program.processes[t]
            op = process.transitions[stand.step].ops[stand.op]
            step = _Step(program, state, t, stand, op, forget)
            step.check()
            after = goes_on(process, stand, step.registers)
            if after is not None:
                stood = (*state.stands[:t], after, *state.stands[t + 1 :])
                yield step.done(stood)


class _Step:
    """One event of thread `t`; rows are changed in place."""

    def __init__(self, program: Program, state: State, t: int, stand: Stand, op: Op, forget: str) -> None:
        self.program, self.state, self.t, self.stand, self.op, self.forget = program, state, t, stand, op, forget
        self.process = program.processes[t]
        self.cur, self.acq, self.rel, self.msg = map(list, (state.cur, state.acq, state.rel, state.msg))
        self.to, self.any, self.last = map(list, (state.to, state.any, state.last))
        self.sc_to, self.sc_any, self.sc_last = map(list, (state.sc_to, state.sc_any, state.sc_last))
        self.memory = list(state.memory)
        self.registers = list(stand.registers)
        self.x = FENCES if isinstance(op, Fence) else op.address.base + value_of(op.address.index, self.registers)  # type: ignore[union-attr]
        self.reads, self.writes, self.order, self.written = self._shape(self.memory[self.x] if self.x >= 0 else 0)
        if self.x >= 0 and self.reads and getattr(op, "register", None) is not None:
            self.registers[op.register] = self.memory[self.x]  # type: ignore[union-attr]

    def _shape(self, old: int) -> tuple[bool, bool, MemoryOrder, MemoryOrder]:
        match self.op:
            case Fence(kind, order):
                return True, True, SEQ_CST if kind == "mfence" else order, PLAIN
            case Load(order=order):
                return True, False, order, PLAIN
            case Store(order=order):
                return False, True, PLAIN, order
            case Rmw(expected=expected, order=order):
                if expected is not None and old != value_of(expected, self.stand.registers):
                    return True, False, self.op.failure_order.of_read, PLAIN  # type: ignore[union-attr]
                return True, True, order.of_read, order.of_write
        raise AssertionError(self.op)

    # Before the event.

    def check(self) -> None:
        if self.x == FENCES:
            return
        self._check_races()
        cur = self.state.cur[self.t]
        for value in {value for y, value in cur.old if y == self.x}:
            self._check_past(cur, value)
        if isinstance(self.op, Store) and self.x not in cur.tight and self.x in self.state.to[self.t]:
            self._alarm(SEQ_CST is self.op.order)

    def _check_past(self, cur: View, value: int) -> None:
        """Would the thread go on, if it read this older value?"""
        if isinstance(self.op, Store) or self.x not in self.state.to[self.t]:
            return
        _, writes, order, written = self._shape(value)
        registers = list(self.stand.registers)
        if self.op.register is not None:  # type: ignore[union-attr]
            registers[self.op.register] = value  # type: ignore[union-attr]
        if goes_on(self.process, self.stand, registers) is None or (writes and self.x in cur.tight):
            return
        self._alarm(order is SEQ_CST and (not writes or written is SEQ_CST))

    def _alarm(self, is_sc: bool) -> None:
        if not ((is_sc or self.forget == "sc-access") and self.x in self.state.sc_to[self.t]):
            raise _Alarm

    def _check_races(self) -> None:
        is_plain = self.order is PLAIN and self.written is PLAIN
        for y, thread, wrote, plain in self.state.cur[self.t].unknown:  # type: ignore[misc]
            if y == self.x and thread != self.t and (wrote or self.writes) and (plain or is_plain):
                raise _Alarm

    # The event.

    def done(self, stands: tuple[frozenset[Stand], ...]) -> State:
        if isinstance(self.op, Fence):
            self._fence()
        else:
            is_sc = (not self.reads or self.order is SEQ_CST) and (not self.writes or self.written is SEQ_CST)
            self._access(is_sc)
        rows = (self.cur, self.acq, self.rel, self.msg, self.to, self.any, self.last)
        sc_rows = (self.sc_to, self.sc_any, self.sc_last)
        return State(stands, tuple(self.memory), *map(tuple, rows), *map(tuple, sc_rows))  # type: ignore[arg-type]

    def _access(self, is_sc: bool) -> None:
        t, x = self.t, self.x
        was = self.memory[x]
        if self.reads:
            self.to[t] |= self.last[x]
            if is_sc:
                self.sc_to[t] |= self.sc_last[x]
            if self.order is not PLAIN:
                if self.order.acquires or self.forget == "relaxed":
                    self.cur[t] |= self.msg[x]
                self.acq[t] |= self.msg[x]
            self.cur[t], self.acq[t] = self.cur[t].knowing(x), self.acq[t].knowing(x)
        if self.writes:
            self._write(is_sc, was)
        else:
            if self.forget != "leads-to-reads":
                self.any[x] |= self.to[t]
            if is_sc and self.forget != "sc-any":
                self.sc_any[x] |= self.sc_to[t]
        access = (x, t, self.writes, self.order is PLAIN and self.written is PLAIN)
        self._views(lambda view: replace(view, unknown=view.unknown | {access}))
        for rows in (self.cur, self.acq):
            rows[t] = replace(rows[t], unknown=rows[t].unknown - {access})

    def _views(self, change: object) -> None:
        for rows in (self.cur, self.acq, self.rel, self.msg):
            rows[:] = [change(view) for view in rows]  # type: ignore[operator]

    def _write(self, is_sc: bool, was: int) -> None:
        t, x = self.t, self.x
        self.to[t] |= self.any[x]
        if is_sc:
            self.sc_to[t] |= self.sc_any[x]
        keeps = (self.reads and self.forget != "tight-update") or self.forget == "tight"

        def older(view: View) -> View:
            tight = view.tight if keeps else view.tight - {x}
            return replace(view, fresh=view.fresh - {x}, tight=tight, old=view.old | {(x, was)})

        self._views(older)
        for rows in (self.to, self.any, self.last, self.sc_to, self.sc_any, self.sc_last):
            rows[:] = [row - {x} for row in rows]
        self.cur[t], self.acq[t] = self.cur[t].knowing(x), self.acq[t].knowing(x)
        carried = self.msg[x].knowing(x)
        if self.written is PLAIN:
            self.msg[x] = self._bottom()
        else:
            self.msg[x] = (self.cur[t] if self.written.releases else self.rel[t]).knowing(x)
        if self.reads and self.forget != "msg":
            self.msg[x] |= carried
        self.to[t] |= {x}
        self.any[x] = self.last[x] = self.to[t]
        if is_sc:
            self.sc_to[t] |= {x}
        self.sc_any[x] = self.sc_last[x] = self.sc_to[t] if is_sc else NONE
        self.memory[x] = self._new(was)

    def _bottom(self) -> View:
        """What everybody knows: nothing more than anybody."""
        views = [*self.cur, *self.acq, *self.rel]
        meet = views[0]
        for view in views:
            meet = View(
                meet.fresh & view.fresh, meet.tight & view.tight, meet.old | view.old, meet.unknown | view.unknown
            )
        return meet

    def _new(self, was: int) -> int:
        domain = self.program.variables[self.x].domain
        if isinstance(self.op, Store):
            return domain.fit(value_of(self.op.value, self.stand.registers))
        registers = [*self.stand.registers, was]
        return domain.fit(value_of(value_written(self.op, Register(len(registers) - 1)), registers))  # type: ignore[arg-type]

    def _fence(self) -> None:
        t, order = self.t, self.order
        if order.acquires:
            self.cur[t] |= self.acq[t]
        if order is SEQ_CST and self.forget != "fences":
            self.cur[t] |= self.msg[FENCES]
            self.msg[FENCES] = self.cur[t]
            self.to[t] |= self.any[FENCES]
            self.any[FENCES] = self.last[FENCES] = self.to[t]
        self.acq[t] |= self.cur[t]
        if order.releases:
            self.rel[t] = self.cur[t]
