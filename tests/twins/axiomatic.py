"""SC, TSO and PSO as conditions on executions: a twin of `models/` that knows no states, no buffers and no search.

An execution of a loop-free program is a set of events, the reads and writes of memory, and four relations on them:
  po  program order                                rf  from a write to every read that sees its value
  co  the order in which writes reach a variable   fr  from a read to every write that overwrites what it saw
A model allows the execution (Alglave, Maranget and Tautschnig, "Herding cats", 2014) if these have no cycle:
  uniproc  po between events of one variable, rf, co, fr
  global   preserved po, rf between processes, co, fr
Preserved is what a store buffer keeps in order; `is_preserved` says it for each model. A read that sees the pending
store of its own process says nothing about memory, so rf within a process is not global.

C11's orders are read as x86 compilers do, with an `sfence` before a store that releases, which PSO alone heeds.

The tool's steps may have several ops. A locked step is one instant of the global order. A plain step reads at one
instant, and its writes come later, each at an instant of its own; under SC they come at once.

Runs that block or fail have no outcome. Programs with loops, bus locks or rendezvous are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise, permutations, product

from memfence.models.spec import ModelName
from memfence.models.steps import modified, set_at
from memfence.program.expressions import Address, EvaluationError, Expr, Register, check_index, evaluate
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Op, Process, Program, Rmw, Store
from memfence.program.orders import MemoryOrder
from twins.reference_search import Outcome

MODELS: tuple[ModelName, ...] = ("sc", "tso", "pso")
INITIAL = -1
"""The process that wrote the initial values."""


class Outside(Exception):
    """The program does something that this twin has no events for."""


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A read or a write, equal to itself only.

    `number` counts the events of a process in program order, `step` its steps.
    `fences`: how many full fences the process has passed; a locked step is behind one and before another.
    `store_fences`: the same, with `sfence` counted as well.
    """

    process: int
    number: int
    step: int
    is_write: bool
    variable: int
    value: int
    locked: bool = False
    fences: int = 0
    store_fences: int = 0


Relation = Iterable[tuple[Event, Event]]


# What each process may do by itself, whatever the others do: every read may return every value it could ever see.


@dataclass(frozen=True, slots=True)
class LocalRun:
    """A process on its way: its registers and what it has done so far."""

    registers: tuple[int, ...]
    events: tuple[Event, ...] = ()
    step: int = 0
    fences: int = 0
    store_fences: int = 0

    def value(self, expr: Expr) -> int:
        def leaf(node: object, _: int) -> int:
            if isinstance(node, Register):
                return self.registers[node.index]
            raise Outside(node)

        return evaluate(expr, leaf)

    def variable(self, address: Address) -> int:
        return address.base + check_index(address, self.value(address.index))

    def access(self, process: int, is_write: bool, variable: int, value: int, locked: bool) -> LocalRun:
        event = Event(
            process, len(self.events), self.step, is_write, variable, value, locked, self.fences, self.store_fences
        )
        return replace(self, events=(*self.events, event))

    def fenced(self, *, fully: bool = True) -> LocalRun:
        return replace(self, fences=self.fences + fully, store_fences=self.store_fences + 1)


@dataclass(slots=True)
class Unfolding:
    """The local runs of each process; `readable[x]` are the values that some run may find in variable x."""

    program: Program
    memory: tuple[int, ...]
    readable: list[set[int]] = field(init=False)
    runs: list[list[LocalRun]] = field(init=False)

    def __post_init__(self) -> None:
        """Unfold until no run writes a value that was not thought of."""
        self.readable = [{value} for value in self.memory]
        known = -1
        while known != sum(map(len, self.readable)):
            known = sum(map(len, self.readable))
            self.runs = [list(self.runs_of(p)) for p in range(len(self.program.processes))]

    def runs_of(self, p: int) -> Iterator[LocalRun]:
        process = self.program.processes[p]
        for registers in product(*((0,) if r.transient else r.init for r in process.registers)):
            yield from self.runs_from(p, process, process.initial, LocalRun(registers), frozenset())

    def runs_from(self, p: int, process: Process, here: int, run: LocalRun, way: frozenset[int]) -> Iterator[LocalRun]:
        if here in way:
            raise Outside("a loop")
        leaving = [transition for _, transition in process.leaving(here)]
        if not leaving:
            yield run
        for transition in leaving:
            if transition.sync is not None:
                raise Outside(transition.sync)
            locked = transition.locked or any(map(is_locked, transition.ops))
            before = run.fenced() if locked else run
            for after in self.after_ops(p, transition.ops, before, locked):
                kept = (0 if r.transient else v for r, v in zip(process.registers, after.registers, strict=True))
                moved = replace(after, registers=tuple(kept), step=run.step + 1)
                moved = moved.fenced() if locked else moved
                yield from self.runs_from(p, process, transition.target, moved, way | {here})

    def after_ops(self, p: int, ops: tuple[Op, ...], run: LocalRun, locked: bool) -> Iterator[LocalRun]:
        """The runs after all of `ops`; none where one blocks or fails."""
        if not ops:
            yield run
            return
        try:
            following = list(self.after_op(p, ops[0], run, locked))
        except EvaluationError:
            return
        for after in following:
            yield from self.after_ops(p, ops[1:], after, locked)

    def after_op(self, p: int, op: Op, run: LocalRun, locked: bool) -> Iterator[LocalRun]:
        match op:
            case Load(register=register, when=when) if when is not None and not run.value(when):
                yield self.assigned(run, p, register, 0)
            case Load(register=register, address=address):
                for value, read in self.reads(run, p, run.variable(address), locked):
                    yield self.assigned(read, p, register, value)
            case Store(when=when) if when is not None and not run.value(when):
                yield run
            case Store(address=address, value=value, order=order, direct=False):
                before = run.fenced(fully=False) if order.releases else run
                yield self.written(before, p, run.variable(address), run.value(value), locked)
            case Rmw(register=register, address=address, kind=kind, operand=operand, expected=expected):
                for old, read in self.reads(run, p, run.variable(address), locked):
                    with suppress(EvaluationError):  # for this old value only
                        after = read if register is None else self.assigned(read, p, register, old)
                        if expected is None or old == run.value(expected):
                            new = modified(kind, old, run.value(operand))
                            after = self.written(after, p, run.variable(address), new, locked)
                        yield after
            case Assign(register=register, value=value):
                yield self.assigned(run, p, register, run.value(value))
            case Assume(condition=condition) | Assert(condition=condition):
                if run.value(condition):
                    yield run
            case Fence("mfence") | Fence("thread_fence", MemoryOrder.SEQ_CST):
                if locked or not any(event.is_write and event.step == run.step for event in run.events):
                    yield run.fenced()  # behind a store of its own step, it would wait for ever
            case Fence("sfence"):
                yield run.fenced(fully=False)
            case Fence("thread_fence", order):
                yield run.fenced(fully=False) if order.releases else run
            case _:
                raise Outside(op)

    def reads(self, run: LocalRun, p: int, variable: int, locked: bool) -> Iterator[tuple[int, LocalRun]]:
        for value in sorted(self.readable[variable]):
            yield value, run.access(p, False, variable, value, locked)

    def written(self, run: LocalRun, p: int, variable: int, value: int, locked: bool) -> LocalRun:
        stored = self.program.variables[variable].domain.fit(value)
        self.readable[variable].add(stored)  # now, for the run may block before it ends
        return run.access(p, True, variable, stored, locked)

    def assigned(self, run: LocalRun, p: int, register: int, value: int) -> LocalRun:
        fitting = self.program.processes[p].registers[register].domain.fit(value)
        return replace(run, registers=set_at(run.registers, register, fitting))


def is_locked(op: Op) -> bool:
    """Whether the op makes its step a locked one: a read-modify-write, or C11's strongest store."""
    return isinstance(op, Rmw) or (isinstance(op, Store) and op.order is MemoryOrder.SEQ_CST)


# Executions: who reads from whom, and in which order writes reach memory.


@dataclass(frozen=True, slots=True)
class Execution:
    """`rf` gives each read its write; `co` is the order of writes to each variable, the initial one first."""

    runs: tuple[LocalRun, ...]
    rf: dict[Event, Event]
    co: tuple[tuple[Event, ...], ...]

    @property
    def outcome(self) -> Outcome:
        return tuple(run.registers for run in self.runs), tuple(writes[-1].value for writes in self.co)

    def communication(self, *, between_processes: bool) -> Iterator[tuple[Event, Event]]:
        """rf (without that within a process, if wished), co and fr, each only as far as the others imply the rest."""
        for read, write in self.rf.items():
            if not between_processes or read.process != write.process:
                yield write, read
            writes = self.co[read.variable]
            yield from ((read, after) for after in writes[writes.index(write) + 1 :][:1])
        for writes in self.co:
            yield from pairwise(writes)

    def program_order(self, keeps: Callable[[Event, Event], bool]) -> Iterator[tuple[Event, Event]]:
        for run in self.runs:
            for earlier in run.events:
                yield from ((earlier, e) for e in run.events if e.number != earlier.number and keeps(earlier, e))


def executions(program: Program, memory: tuple[int, ...]) -> Iterator[Execution]:
    """Every way to put local runs together, from one initial memory, in which each variable by itself behaves."""
    first = [Event(INITIAL, x, 0, True, x, value) for x, value in enumerate(memory)]
    for runs in product(*Unfolding(program, memory).runs):
        events = [*first, *(event for run in runs for event in run.events)]
        reads = [event for event in events if not event.is_write]
        writes = [[e for e in events if e.is_write and e.variable == x] for x in range(len(memory))]
        sources = [[w for w in writes[read.variable] if w.value == read.value] for read in reads]
        if not all(sources):
            continue
        for co in product(*(list(orders(those)) for those in writes)):
            for chosen in product(*sources):
                execution = Execution(runs, dict(zip(reads, chosen, strict=True)), co)
                if has_coherent_variables(execution):
                    yield execution


def orders(writes: list[Event]) -> Iterator[tuple[Event, ...]]:
    """The initial write first, and writes of one process as it wrote them."""
    for order in permutations(writes[1:]):
        if not any(a.process == b.process and a.number > b.number for n, b in enumerate(order) for a in order[:n]):
            yield (writes[0], *order)


def has_coherent_variables(execution: Execution) -> bool:
    """uniproc: without buffers, every variable by itself is sequentially consistent."""
    order = execution.program_order(lambda a, b: a.number < b.number and a.variable == b.variable)
    return is_acyclic([*order, *execution.communication(between_processes=False)], lambda event: event)


# The models.


def is_preserved(model: ModelName, first: Event, second: Event) -> bool:
    """Whether the two events of one process happen in this order, whatever the others do."""
    if model != "sc" and not first.locked and first.step == second.step and first.is_write != second.is_write:
        return second.is_write  # a plain step reads at once; its writes wait in the buffer
    if first.number > second.number:
        return False
    if model == "sc" or first.fences < second.fences:
        return True
    if first.is_write and not second.is_write:
        return False
    if model == "pso" and first.is_write and first.variable != second.variable:
        return first.store_fences < second.store_fences
    return True


def instant(model: ModelName, event: Event) -> Hashable:
    """Events with the same instant happen together."""
    if model == "sc" or event.locked:
        return event.process, event.step
    return event if event.is_write else (event.process, event.step)


def is_allowed(model: ModelName, execution: Execution) -> bool:
    order = execution.program_order(lambda a, b: is_preserved(model, a, b))
    relation = [*order, *execution.communication(between_processes=True)]
    return is_acyclic(relation, lambda event: instant(model, event))


def outcomes(program: Program) -> dict[ModelName, set[Outcome]]:
    """Registers and memory after every execution that the model allows, for each model."""
    found: dict[ModelName, set[Outcome]] = {model: set() for model in MODELS}
    lasting = [[n for n, r in enumerate(process.registers) if not r.transient] for process in program.processes]
    for memory in product(*(variable.init for variable in program.variables)):
        for execution in executions(program, memory):
            registers, last = execution.outcome
            kept = tuple(tuple(r[n] for n in numbers) for r, numbers in zip(registers, lasting, strict=True))
            for model in MODELS:
                if (kept, last) not in found[model] and is_allowed(model, execution):
                    found[model].add((kept, last))
    return found


def is_robust(program: Program, model: ModelName) -> bool:
    """Whether SC allows every execution that the model allows: the definition of trace-robustness."""
    memories = product(*(variable.init for variable in program.variables))
    found = (execution for memory in memories for execution in executions(program, memory))
    return not any(is_allowed(model, execution) and not is_allowed("sc", execution) for execution in found)


def is_acyclic(relation: Relation, node_of: Callable[[Event], Hashable]) -> bool:
    """Take away what has nothing before it, until nothing is left or everything waits for something."""
    before: dict[Hashable, set[Hashable]] = {}
    for first, second in relation:
        a, b = node_of(first), node_of(second)
        if a != b:
            before.setdefault(a, set())
            before.setdefault(b, set()).add(a)
    while free := {node for node, waits in before.items() if not waits}:
        before = {node: waits - free for node, waits in before.items() if node not in free}
    return not before
