"""The program with the monitor in its state: a search of SC states of it decides robustness against RC11.

`views`: for every thread what it knows (`cur`), with what an acquire fence would add (`acq`), what its last release
fence published (`rel`), and what the newest write of each variable carries (`msg`). `leads`: variables whose newest
write leads to a thread (`to`), to some access of a variable (`any`), to its newest write (`last`); the same by ways on
which all is seq_cst (`sc-to`, ...). Before each event stands an assertion that RC11 has no choice that SC has not, and
others that nothing races.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from memfence.engines.rc11.columns import Access, Columns, Variable, columns_of, conflicting, done_by
from memfence.engines.rc11.emission import Emission, Registers
from memfence.engines.rc11.events import Event, Kind, all_events, event_of
from memfence.engines.rc11.rows import Key, Table
from memfence.program.expressions import (
    FALSE,
    TRUE,
    Binary,
    Conditional,
    Const,
    Expr,
    Register,
    conjunction,
    disjunction,
    negate,
    variable_address,
)
from memfence.program.ir import Assert, Load, Op, Process, Program, Transition
from memfence.program.orders import MemoryOrder

PAST = "sees the past"
RACE = "races"
FENCES = -1
"""The variable that seq_cst fences update."""


def monitored(program: Program) -> Program:
    """`program`, which has single events at single variables, with the monitor."""
    return _Monitor(program).program()


class _Monitor:
    def __init__(self, program: Program) -> None:
        self.source = program
        self.columns = columns_of(program)
        events = [event for _, _, event in all_events(program)]
        threads = range(len(program.processes))
        self.has_sc_fences = any(e.kind is Kind.FENCE and e.order is MemoryOrder.SEQ_CST for e in events)
        tracked = self.columns.tracked + ((FENCES,) if self.has_sc_fences else ())
        self.tracked = frozenset(tracked)
        self.has_sc = any(e.is_sc and e.variable in self.tracked for e in events if e.kind is not Kind.FENCE)
        views = [("cur", t) for t in threads]
        fences = [(p, e.order) for p, _, e in all_events(program) if e.kind is Kind.FENCE]
        views += [("acq", p) for p in dict.fromkeys(p for p, order in fences if order.acquires)]
        views += [("rel", p) for p in dict.fromkeys(p for p, order in fences if order.releases)]
        views += [("msg", x) for x in tracked]
        self.views = Table("views", views, self.columns.width, len(program.variables))
        leads: list[Key] = [("to", t) for t in threads]
        leads += [(name, x) for x in tracked for name in ("any", "last")]
        if self.has_sc:
            leads += [("sc-to", t) for t in threads]
            leads += [(name, x) for x in tracked if x != FENCES for name in ("sc-any", "sc-last")]
        self.leads = Table("leads", leads, self.columns.leading, len(program.variables) + self.views.words)

    def program(self) -> Program:
        everything = (1 << self.columns.width) - 1
        known: dict[Key, int] = {row: everything for row in self.views.rows if row[0] in ("cur", "acq")}
        variables = (*self.source.variables, *self.views.variables(known), *self.leads.variables({}))
        processes = tuple(self._process(number, process) for number, process in enumerate(self.source.processes))
        return replace(self.source, variables=variables, processes=processes, properties=())

    def _process(self, number: int, process: Process) -> Process:
        registers = Registers(process.registers)
        steps = tuple(self._step(number, n, step, registers) for n, step in enumerate(process.transitions))
        return replace(process, transitions=steps, registers=registers.all())

    def _step(self, process: int, number: int, step: Transition, registers: Registers) -> Transition:
        event = event_of(step)
        if event is None or (event.kind is not Kind.FENCE and event.variable not in self.columns.variables):
            return step
        watch = _Watch(self, process, number, event, registers)
        before = tuple(watch.before())
        after = watch.after()
        ops = (*step.ops[: event.first], *before, *step.ops[event.first : event.last + 1], *after)
        return replace(step, ops=(*ops, *step.ops[event.last + 1 :]), locked=True)


class _Watch:
    """One event of thread `t`."""

    def __init__(self, monitor: _Monitor, process: int, step: int, event: Event, registers: Registers) -> None:
        self.monitor = monitor
        self.columns: Columns = monitor.columns
        self.views, self.leads = monitor.views, monitor.leads
        self.t = process
        self.threads = len(monitor.source.processes)
        self.event = event
        self.going = self.columns.going.get((process, step))
        self.x = event.variable
        self.variable: Variable = self.columns.variables.get(self.x, Variable(True))
        self.out = Emission(registers)
        self.old = event.old

    # What is asked before the event.

    def before(self) -> Iterator[Op]:
        if self.event.kind is Kind.FENCE:
            return
        attempted = {Access.PLAIN_WRITE} if self.event.kind is Kind.UPDATE else conflicting(self.event)
        asked = [*self._races(attempted, TRUE), *self._past()]
        if self.event.kind is Kind.WRITE and self.variable.gone:
            self.old = self.out.new()
            self.out.ops.append(Load(self.old, variable_address(self.x)))
        yield from self.out.ops
        self.out.ops = []
        yield from asked

    def _races(self, against: Collection[Access], where: Expr) -> Iterator[Op]:
        columns = [column for (access, by), column in self.variable.done.items() if access in against and by != self.t]
        if columns:
            known = conjunction(*(self.out.has(self.views, ("cur", self.t), c) for c in columns))
            yield Assert(known if where == TRUE else disjunction(negate(where), known), RACE)

    def _past(self) -> Iterator[Op]:
        variable = self.variable
        if variable.leads is None:
            return
        possible = self._may_see_the_past()
        if possible == FALSE:
            return
        wrong = conjunction(self.out.has(self.leads, ("to", self.t), variable.leads), possible)
        if self.event.is_sc:
            forbidden = self.out.has(self.leads, ("sc-to", self.t), variable.leads)
            wrong = conjunction(wrong, negate(forbidden))
        yield Assert(negate(wrong), PAST)

    def _may_see_the_past(self) -> Expr:
        """Whether RC11 lets the event come before the newest write."""
        parts: list[Expr] = []
        if self.event.writes:
            if self.variable.tight is None:
                return FALSE
            parts.append(negate(self._knows(self.variable.tight)))
        if self.event.reads:
            seen = self._sees_an_older_value()
            if seen == FALSE:
                return FALSE
            parts += [seen] if seen != TRUE else []
        return conjunction(*parts)

    def _sees_an_older_value(self) -> Expr:
        variable = self.variable
        if not variable.gone and variable.fresh is not None:
            return negate(self._knows(variable.fresh)) if self.event.kind is Kind.READ else TRUE
        if not variable.gone:
            return FALSE if self.event.kind is Kind.READ else TRUE
        assert self.going is not None
        conditions = [(TRUE if v is None else self.going.with_value(v), column) for v, column in variable.gone.items()]
        return disjunction(
            *(
                negate(self._knows(column)) if wanted == TRUE else conjunction(negate(self._knows(column)), wanted)
                for wanted, column in conditions
                if wanted != FALSE
            )
        )

    def _knows(self, column: int) -> Expr:
        return self.out.has(self.views, ("cur", self.t), column)

    # What it changes.

    def after(self) -> list[Op]:
        unless: Expr | None = None
        match self.event.kind:
            case Kind.FENCE:
                self._fence()
            case Kind.READ:
                self._note()
                if self.going is not None and self.going.returns != FALSE:
                    unless = Register(self.out.value(self.going.returned(self.old)))
                    self.out.keep()
                self._read()
            case Kind.WRITE:
                self._write()
            case Kind.UPDATE:
                self._update()
        self._forget_what_all_know()
        self.out.write_back(unless)
        return self.out.ops

    def _forget_what_all_know(self) -> None:
        """What every thread knows that looks at it makes no difference, until the variable is written again."""
        out, columns = self.out, self.columns
        own = [row for row in self.views.rows if row[0] in ("cur", "acq")]
        others = [row for row in self.views.rows if row[0] in ("msg", "rel")]
        known: list[Expr] = []
        for block, width in enumerate(self.views.blocks):
            everybody: Expr = Const((1 << width) - 1)
            for t in range(self.threads):
                unasked = ~columns.asked_by(t) & (1 << columns.width) - 1
                seen = Binary("|", out.row(self.views, ("cur", t))[block], Const(self.views.part(unasked, block)))
                everybody = Binary("&", everybody, seen)
            register = out.value(everybody)
            known.append(Register(register))
            out.add_everywhere(self.views, own, block, register)
            out.clear_everywhere(self.views, others, block, register)
        self._forget_leads(known)

    def _forget_leads(self, known: list[Expr]) -> None:
        for block in range(len(self.leads.blocks)):
            all_know: Expr = Const(0)
            for variable in self.columns.variables.values():
                if variable.leads is None or not self.leads.part(1 << variable.leads, block):
                    continue
                parts = [(Const(self.views.part(variable.known, b)), known[b]) for b in range(len(known))]
                tests = [Binary("==", Binary("&", seen, part), part) for part, seen in parts if part != Const(0)]
                bit = Const(self.leads.part(1 << variable.leads, block))
                all_know = Binary("|", all_know, Conditional(conjunction(*tests), bit, Const(0)))
            out = self.out
            out.clear_everywhere(self.leads, self.leads.rows, block, out.value(all_know))

    def _update(self) -> None:
        """It races with reads only where it writes: where the thread goes on with what it has read."""
        assert self.going is not None
        asked = list(self._races(conflicting(self.event), self.going.with_register(self.old)))
        self.out.ops += asked
        self._write()

    def _note(self) -> None:
        """Others have to learn of the access, for races."""
        own = [self.variable.done[key] for key in done_by(self.t, self.event) if key in self.variable.done]
        if own:
            mask = sum(1 << column for column in own)
            self.out.clear(self.views, mask)
            self._know(mask)

    def _know(self, mask: int) -> None:
        self.out.add_columns(self.views, ("cur", self.t), mask)
        if ("acq", self.t) in self.views.rows:
            self.out.add_columns(self.views, ("acq", self.t), mask)

    def _read(self) -> None:
        if not self.variable.is_tracked:
            return
        t, x, out = self.t, self.x, self.out
        out.add(self.leads, ("to", t), out.row(self.leads, ("last", x)))
        self._receive()
        self._know(self.variable.known)
        out.add(self.leads, ("any", x), out.row(self.leads, ("to", t)))
        if self.event.is_sc:
            out.add(self.leads, ("sc-to", t), out.row(self.leads, ("sc-last", x)))
            out.add(self.leads, ("sc-any", x), out.row(self.leads, ("sc-to", t)))

    def _receive(self) -> None:
        """What the newest write carries: known at once, or after an acquire fence."""
        if self.event.order is MemoryOrder.PLAIN:
            return
        carried = self.out.row(self.views, ("msg", self.x))
        if self.event.order.acquires:
            self.out.add(self.views, ("cur", self.t), carried)
        if ("acq", self.t) in self.views.rows:
            self.out.add(self.views, ("acq", self.t), carried)

    def _write(self) -> None:
        t, x, out, variable = self.t, self.x, self.out, self.variable
        if not variable.is_tracked:
            self._note()
            return
        is_update = self.event.kind is Kind.UPDATE
        is_sc = self.event.is_sc
        out.add(self.leads, ("to", t), out.row(self.leads, ("any", x)))
        if is_sc:
            out.add(self.leads, ("sc-to", t), out.row(self.leads, ("sc-any", x)))
        if is_update:
            self._receive()
        self._replace(keeps_tight=is_update)
        self._note()
        self._know(variable.known)
        self._publish(is_update=is_update)
        self._lead(is_sc=is_sc)

    def _replace(self, *, keeps_tight: bool) -> None:
        """Nobody knows the newest write any more, and the old one can be seen by all."""
        variable, out = self.variable, self.out
        lost = [c for c in (variable.fresh, None if keeps_tight else variable.tight) if c is not None]
        if lost:
            out.clear(self.views, sum(1 << column for column in lost))
        for value, column in variable.gone.items():
            was = Register(self.old)
            if value is None:
                is_it = conjunction(*(Binary("!=", was, Const(other)) for other in variable.listed))
            else:
                is_it = Binary("==", was, Const(value))
            out.clear(self.views, 1 << column, is_it)

    def _publish(self, *, is_update: bool) -> None:
        """What the new write carries; a read-modify-write carries on what it has read."""
        out, msg = self.out, ("msg", self.x)
        carried = out.row(self.views, msg) if is_update else None
        order = self.event.written
        source = ("cur" if order.releases else "rel", self.t)
        carries = order is not MemoryOrder.PLAIN and source in self.views.rows
        own = out.row(self.views, source) if carries else None
        if own is None:
            out.put(self.views, msg, carried)
        elif carried is None:
            out.put(self.views, msg, own)
        else:
            out.add(self.views, msg, own)

    def _lead(self, *, is_sc: bool) -> None:
        """The new write leads to its thread, and what led to the thread leads to it."""
        t, x, out, column = self.t, self.x, self.out, self.variable.leads
        if column is not None:
            out.clear(self.leads, 1 << column)
            out.add_columns(self.leads, ("to", t), 1 << column)
        for row in ("any", "last"):
            out.put(self.leads, (row, x), out.row(self.leads, ("to", t)))
        if not self.monitor.has_sc:
            return
        if is_sc and column is not None:
            out.add_columns(self.leads, ("sc-to", t), 1 << column)
        for row in ("sc-any", "sc-last"):
            out.put(self.leads, (row, x), out.row(self.leads, ("sc-to", t)) if is_sc else None)

    def _fence(self) -> None:
        """A seq_cst fence updates a variable of all such fences, acquiring and releasing."""
        t, out, order = self.t, self.out, self.event.order
        cur, acq = ("cur", t), ("acq", t)
        if order.acquires:
            out.put(self.views, cur, out.row(self.views, acq))
        if order is MemoryOrder.SEQ_CST:
            msg = ("msg", FENCES)
            out.add(self.views, cur, out.row(self.views, msg))
            out.put(self.views, msg, out.row(self.views, cur))
            out.add(self.leads, ("to", t), out.row(self.leads, ("any", FENCES)))
            for row in ("any", "last"):
                out.put(self.leads, (row, FENCES), out.row(self.leads, ("to", t)))
            out.put(self.views, acq, out.row(self.views, cur))
        if order.releases:
            out.put(self.views, ("rel", t), out.row(self.views, cur))
