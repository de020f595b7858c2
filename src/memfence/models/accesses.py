"""What a step does to memory, access by access: which loads went to memory, which stores into a buffer.

Follows `steps.apply` op by op, on a step that is known to be possible; used to explain runs, never to judge them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from memfence.models.readings import is_locked
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, apply, evaluate_in, modified, set_register
from memfence.program.expressions import Address, EvaluationError, Expr, check_index
from memfence.program.ir import Load, Op, Program, Rmw, Store
from memfence.records import Record

AccessKind = Literal["load", "own load", "store", "pending store", "commit"]


class Access(Record):
    """`load`, `store`, `commit` touch memory; an `own load` reads the process's buffer, a `pending store` fills it."""

    kind: AccessKind
    process: int
    variable: int
    value: int

    @property
    def touches_memory(self) -> bool:
        return self.kind in ("load", "store", "commit")

    @property
    def writes_memory(self) -> bool:
        return self.kind in ("store", "commit")


def accesses(program: Program, model: MemoryModel, state: State, step: Step) -> tuple[Access, ...]:
    """Every access of `step`, taken in `state`, in order; up to the failure where the step fails."""
    match step:
        case Commit(process, buffer):
            entry = state.buffers[process][buffer][0]
            assert entry is not None, "a separator is not committed"
            return (Access("commit", process, *entry),)
        case DropSeparator():
            return ()
        case ProcessStep() | Rendezvous():
            return tuple(_of_ops(program, model, state, step))


def _of_ops(program: Program, model: MemoryModel, state: State, step: ProcessStep | Rendezvous) -> Iterator[Access]:
    current: State | None = state
    for process, op, locked in _jobs(program, model, step):
        assert current is not None, "the step is possible"
        made: list[Access] = []
        try:
            if op is None:
                assert isinstance(step, Rendezvous)
                current = _hand_over(program, current, step)
                continue
            for access in _of_op(program, model, current, process, op, locked):
                made.append(access)
            current = apply(program, model, current, process, op, locked)
        except EvaluationError:
            yield from made if isinstance(op, Rmw) else ()  # which has read, whatever became of it then
            return
        yield from made


def _jobs(
    program: Program, model: MemoryModel, step: ProcessStep | Rendezvous
) -> Iterator[tuple[int, Op | None, bool]]:
    """The ops in the order of `steps.take`; None stands for the hand-over of a rendezvous's values."""
    if isinstance(step, ProcessStep):
        transition = program.processes[step.process].transitions[step.transition]
        locked = is_locked(model, transition)
        yield from ((step.process, op, locked) for op in transition.ops)
        return
    p, q = step.sender.process, step.receiver.process
    sending = program.processes[p].transitions[step.sender.transition]
    receiving = program.processes[q].transitions[step.receiver.transition]
    assert sending.sync is not None and receiving.sync is not None
    s, r = sending.sync.guard_ops, receiving.sync.guard_ops
    sends_locked, receives_locked = is_locked(model, sending), is_locked(model, receiving)
    yield from ((p, op, sends_locked) for op in sending.ops[:s])
    yield from ((q, op, receives_locked) for op in receiving.ops[:r])
    yield p, None, False
    yield from ((q, op, receives_locked) for op in receiving.ops[r:])
    yield from ((p, op, sends_locked) for op in sending.ops[s:])


def _hand_over(program: Program, state: State, step: Rendezvous) -> State:
    p, q = step.sender.process, step.receiver.process
    sync = program.processes[p].transitions[step.sender.transition].sync
    partner = program.processes[q].transitions[step.receiver.transition].sync
    assert sync is not None and partner is not None
    values = [evaluate_in(program, state, p, value) for value in sync.values]
    for register, value in zip(partner.registers, values, strict=True):
        state = set_register(program, state, q, register, value)
    return state


def _of_op(program: Program, model: MemoryModel, state: State, process: int, op: Op, locked: bool) -> Iterator[Access]:
    def value_of(expr: Expr) -> int:
        return evaluate_in(program, state, process, expr)

    def variable_at(address: Address) -> int:
        return address.base + check_index(address, value_of(address.index))

    match op:
        case Load(_, address, when) if when is None or value_of(when):
            variable = variable_at(address)
            own = None if locked else model.load(program, state, process, variable)
            if own is not None:
                yield Access("own load", process, variable, own)
            else:
                yield Access("load", process, variable, state.memory[variable])
        case Store(address, expr, direct, when=when) if when is None or value_of(when):
            variable = variable_at(address)
            value = program.variables[variable].domain.fit(value_of(expr))
            buffered = not locked and not direct and bool(state.buffers[process])
            yield Access("pending store" if buffered else "store", process, variable, value)
        case Rmw(_, address, kind, operand, expected):
            variable = variable_at(address)
            old = state.memory[variable]
            yield Access("load", process, variable, old)
            if expected is None or old == value_of(expected):
                new = program.variables[variable].domain.fit(modified(kind, old, value_of(operand)))
                yield Access("store", process, variable, new)
        case _:
            pass
