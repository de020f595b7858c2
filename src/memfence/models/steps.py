"""What one transition does, op by op, under any memory model.

A memory model says only how a load finds its value, where a store goes, when buffers are empty, what may commit and how
it reads memory orders (the methods of `MemoryModel`). The rest of the semantics, the same for all of them, is here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar, assert_never

from memfence.models.buffering import Buffering
from memfence.models.readings import Reading, StoreReading, is_locked
from memfence.models.state import (
    Buffer,
    Commit,
    DropSeparator,
    Failure,
    ProcessStep,
    Rendezvous,
    State,
    Step,
    initial_states,
)
from memfence.program import expressions, ir
from memfence.program.orders import MemoryOrder

T = TypeVar("T")


class MemoryModel(Reading, Protocol):
    """How memory behaves. `None` as an answer means: this cannot happen now."""

    @property
    def name(self) -> str: ...

    @property
    def buffering(self) -> Buffering: ...

    def empty_buffers(self, program: ir.Program) -> tuple[tuple[Buffer, ...], ...]: ...

    def load(self, program: ir.Program, state: State, process: int, variable: int) -> int | None:
        """The value in the process's own buffer, or None: the load goes to memory."""

    def store(self, program: ir.Program, state: State, process: int, variable: int, value: int) -> State | None: ...

    def separate(self, program: ir.Program, state: State, process: int) -> State | None:
        """The state after an `sfence` of the process."""

    def background(self, program: ir.Program, state: State, process: int) -> Iterator[tuple[Step, State]]:
        """What the memory system may do for the process by itself: commits, and the removal of separators."""


def starts(program: ir.Program, model: MemoryModel) -> tuple[State, ...]:
    """The initial states of `program` under `model`."""
    return initial_states(program, model.empty_buffers(program))


def successors(program: ir.Program, model: MemoryModel, state: State) -> Iterator[tuple[Step, State | Failure]]:
    """Every step that is possible in `state`, with where it leads."""
    for p, process in enumerate(program.processes):
        if state.lock_owner in (None, p):
            yield from model.background(program, state, p)
        for number, transition in process.leaving(state.locations[p]):
            if transition.sync is None:
                step: Step = ProcessStep(p, number)
                after = take(program, model, state, step)
                if after is not None:
                    yield step, after
            elif transition.sync.sends:
                yield from _meetings(program, model, state, ProcessStep(p, number), transition.sync)


def _meetings(
    program: ir.Program, model: MemoryModel, state: State, sender: ProcessStep, sync: ir.Sync
) -> Iterator[tuple[Step, State | Failure]]:
    for q, other in enumerate(program.processes):
        for number, transition in other.leaving(state.locations[q]):
            partner = transition.sync
            if q != sender.process and partner and partner.channel == sync.channel and not partner.sends:
                step = Rendezvous(sender, ProcessStep(q, number))
                after = take(program, model, state, step)
                if after is not None:
                    yield step, after


def take(program: ir.Program, model: MemoryModel, state: State, step: Step) -> State | Failure | None:
    """The state after `step`, the failure it causes, or None where it is not possible."""
    match step:
        case Commit(process) | DropSeparator(process):
            if state.lock_owner not in (None, process):
                return None
            return dict(model.background(program, state, process)).get(step)
        case ProcessStep(process, number):
            transition = program.processes[process].transitions[number]
            if state.locations[process] != transition.source or transition.sync is not None:
                return None
            jobs = [(process, op) for op in transition.ops]
            return _run(program, model, state, [(process, transition)], jobs, [])
        case Rendezvous(ProcessStep(p, m), ProcessStep(q, n)):
            sending, receiving = program.processes[p].transitions[m], program.processes[q].transitions[n]
            s, r = sending.sync, receiving.sync
            if s is None or r is None or (s.channel, s.sends, r.sends, p == q) != (r.channel, True, False, False):
                return None
            if (state.locations[p], state.locations[q]) != (sending.source, receiving.source):
                return None
            jobs = [(p, op) for op in sending.ops[: s.guard_ops]]
            jobs += [(q, op) for op in receiving.ops[: r.guard_ops]]
            split = len(jobs)
            jobs += [(q, op) for op in receiving.ops[r.guard_ops :]]
            jobs += [(p, op) for op in sending.ops[s.guard_ops :]]
            passed = [(split, p, q, e, register) for e, register in zip(s.values, r.registers, strict=True)]
            return _run(program, model, state, [(p, sending), (q, receiving)], jobs, passed)
        case _:
            assert_never(step)


def _run(
    program: ir.Program,
    model: MemoryModel,
    state: State,
    moves: Sequence[tuple[int, ir.Transition]],
    jobs: Sequence[tuple[int, ir.Op]],
    passed: Sequence[tuple[int, int, int, expressions.Expr, int]],
) -> State | Failure | None:
    """Do all `jobs` in order; before job number `split`, hand over the `passed` values of a rendezvous."""
    if not _may_move(program, state, [p for p, _ in moves]):
        return None
    locked = {p for p, transition in moves if is_locked(model, transition)}
    if any(any(state.buffers[p]) or state.lock_owner not in (None, p) for p in locked):
        return None
    current = state
    try:
        for position in range(len(jobs) + 1):
            values = [(q, r, evaluate_in(program, current, p, e)) for at, p, q, e, r in passed if at == position]
            for q, register, value in values:
                current = set_register(program, current, q, register, value)
            if position < len(jobs):
                process, op = jobs[position]
                after = apply(program, model, current, process, op, process in locked)
                if after is None:
                    return None
                current = after
    except _AssertionFailed as failed:
        return Failure(str(failed), True)
    except expressions.EvaluationError as error:
        return Failure(str(error), False)
    for p, transition in moves:
        scratch = program.processes[p].registers
        kept = tuple(0 if r.transient else v for r, v in zip(scratch, current.registers[p], strict=True))
        current = replace(
            current,
            locations=set_at(current.locations, p, transition.target),
            registers=set_at(current.registers, p, kept),
        )
    return current


def _may_move(program: ir.Program, state: State, movers: Sequence[int]) -> bool:
    """DVE's committed locations: while some process stands at one, only such processes move."""
    committed = [p for p, location in enumerate(state.locations) if program.processes[p].locations[location].committed]
    return not committed or all(p in committed for p in movers)


class _AssertionFailed(expressions.EvaluationError):
    pass


def apply(program: ir.Program, model: MemoryModel, state: State, process: int, op: ir.Op, locked: bool) -> State | None:
    """The state after one op of `process`, or None where it blocks. A `locked` op works on memory directly."""

    def value_of(expr: expressions.Expr) -> int:
        return evaluate_in(program, state, process, expr)

    def variable_at(address: expressions.Address) -> int:
        return address.base + expressions.check_index(address, value_of(address.index))

    match op:
        case ir.Load(register, _, when) if when is not None and not value_of(when):
            return set_register(program, state, process, register, 0)
        case ir.Load(register, address, _):
            variable = variable_at(address)
            own = None if locked else model.load(program, state, process, variable)
            if own is None and state.lock_owner not in (None, process):
                return None  # another process holds the bus: memory cannot be read
            return set_register(program, state, process, register, state.memory[variable] if own is None else own)
        case ir.Store(when=when) if when is not None and not value_of(when):
            return state
        case ir.Store(_, _, False, order) if not locked and model.reading_of_store(order) is StoreReading.SEPARATED:
            separated = model.separate(program, state, process)
            plain = replace(op, order=MemoryOrder.PLAIN)
            return None if separated is None else apply(program, model, separated, process, plain, locked)
        case ir.Store(address, expr, direct):
            variable = variable_at(address)
            value = program.variables[variable].domain.fit(value_of(expr))
            if direct and state.lock_owner not in (None, process):
                return None
            if locked or direct:
                return replace(state, memory=set_at(state.memory, variable, value))
            return model.store(program, state, process, variable, value)
        case ir.Rmw(address=address):
            assert locked, "a step with a read-modify-write is locked"
            return _modify(program, state, process, op, variable_at(address))
        case ir.Assign(register, expr):
            return set_register(program, state, process, register, value_of(expr))
        case ir.Assume(condition):
            return state if value_of(condition) else None
        case ir.Assert(condition, error):
            if error and not value_of(condition):
                raise expressions.EvaluationError(error)
            if not value_of(condition):
                raise _AssertionFailed("assertion violated")
            return state
        case ir.Fence():
            return _fence(program, model, state, process, op)
        case ir.Lock():
            return replace(state, lock_owner=process) if state.lock_owner is None else None
        case ir.Unlock():
            if state.lock_owner != process or any(state.buffers[process]):
                return None
            return replace(state, lock_owner=None)
        case _:
            assert_never(op)


def _modify(program: ir.Program, state: State, process: int, op: ir.Rmw, variable: int) -> State | None:
    """Write, then hand over the old value; operands are evaluated in the state before."""
    if state.lock_owner not in (None, process):
        return None
    old, after = state.memory[variable], state
    if op.expected is None or old == evaluate_in(program, state, process, op.expected):
        new = modified(op.kind, old, evaluate_in(program, state, process, op.operand))
        fitting = program.variables[variable].domain.fit(new)
        after = replace(state, memory=set_at(state.memory, variable, fitting))
    return after if op.register is None else set_register(program, after, process, op.register, old)


def _fence(program: ir.Program, model: MemoryModel, state: State, process: int, fence: ir.Fence) -> State | None:
    kind = model.reading_of_fence(fence.order) if fence.kind == "thread_fence" else fence.kind
    match kind:
        case "mfence" | "locked":
            return None if any(state.buffers[process]) else state
        case "sfence":
            return model.separate(program, state, process)
        case None:
            return state
        case "dmb.sy" | "dmb.ld" | "dmb.st" | "isb":
            raise ValueError(f"{kind} means nothing to a model with store buffers")
        case _:
            assert_never(kind)


def modified(kind: ir.RmwKind, old: int, operand: int) -> int:
    """What a read-modify-write puts in the place of `old`, before it is made to fit."""
    match kind:
        case "exchange" | "compare_exchange":
            return operand
        case "add":
            return expressions.within_128_bits(old + operand)
        case "sub":
            return expressions.within_128_bits(old - operand)
        case "and":
            return old & operand
        case "or":
            return old | operand
        case "xor":
            return old ^ operand
        case "nand":
            return ~(old & operand)
        case "max":
            return max(old, operand)
        case "min":
            return min(old, operand)
        case _:
            assert_never(kind)


def evaluate_in(program: ir.Program, state: State, process: int, expr: expressions.Expr) -> int:
    """The value of `expr` for `process` (for properties, any process will do)."""

    def leaf(
        node: expressions.Register
        | expressions.Shared
        | expressions.RegisterOf
        | expressions.At
        | expressions.BufferEmpty,
        index: int,
    ) -> int:
        match node:
            case expressions.Register(number):
                return state.registers[process][number]
            case expressions.RegisterOf(owner, number):
                return state.registers[owner][number]
            case expressions.Shared(address):
                return state.memory[address.base + index]
            case expressions.At(owner, locations):
                return int(state.locations[owner] in locations)
            case expressions.BufferEmpty(owner):
                return int(not any(state.buffers[owner]))
            case _:
                assert_never(node)

    return expressions.evaluate(expr, leaf)


def error_state(program: ir.Program, model: MemoryModel) -> State | None:
    """The state in which every run-time error ends, where the language lets runs go on from there (DVE)."""
    if program.error_locations is None:
        return None
    registers = tuple(tuple(0 for _ in p.registers) for p in program.processes)
    memory = tuple(0 for _ in program.variables)
    return State(program.error_locations, registers, memory, model.empty_buffers(program))


def is_final(program: ir.Program, state: State) -> bool:
    """Whether every process stands at a location without transitions and every buffer is empty."""
    halted = (not any(p.leaving(at)) for p, at in zip(program.processes, state.locations, strict=True))
    return state.is_plain and all(halted)


def set_register(program: ir.Program, state: State, process: int, register: int, value: int) -> State:
    """`state` with one register changed; EvaluationError if the value does not fit."""
    fitting = program.processes[process].registers[register].domain.fit(value)
    return replace(
        state, registers=set_at(state.registers, process, set_at(state.registers[process], register, fitting))
    )


def set_at(values: tuple[T, ...], position: int, value: T) -> tuple[T, ...]:
    """`values` with one of them replaced."""
    return (*values[:position], value, *values[position + 1 :])
