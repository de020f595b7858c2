"""Which locations partial order reduction may expand alone, and why that loses nothing.

A location is *private* when every transition that leaves it does register work only, or stores into the process's own
buffer: such steps commute with everything the other processes and all buffers can do, nothing else can enable or
disable them, and the question at hand cannot see them. On every cycle of private locations one is left out, so that no
other process is put off for ever (the cycle proviso, decided here once instead of during the search).

Questions about infinite runs ask for more (docs/theory/ltl.md). A step that fails ends its process, and nothing is left
to go on with. And a process that has no reason to move may stop in front of a store for ever: taken alone, the store
would have to reach memory.
"""

from __future__ import annotations

from memfence.models.spec import ModelSpec
from memfence.program.expressions import At, RegisterOf, walk
from memfence.program.facts.effects import op_expressions, register_written
from memfence.program.facts.may_fail import may_fail, step_may_fail
from memfence.program.facts.observation import Observed
from memfence.program.ir import Assert, Assign, Assume, Fence, Op, Process, Program, Store, Transition
from memfence.program.traversal import distinct_ops

NOT_PRIVATE, PRIVATE, PRIVATE_WHEN_DRAINED = 0, 1, 2


def private_locations(
    program: Program, model: ModelSpec, observed: Observed, *, failing: bool = True, stores: bool = True
) -> tuple[tuple[int, ...], ...]:
    """For each process and location: NOT_PRIVATE, PRIVATE, or PRIVATE_WHEN_DRAINED (it waits for an mfence).

    `failing`, `stores`: whether steps that may fail, and those that fill a buffer, can be private.
    """
    if any(location.committed for p in program.processes for location in p.locations):
        return tuple(tuple(NOT_PRIVATE for _ in p.locations) for p in program.processes)
    found = []
    for p, process in enumerate(program.processes):
        excluded = {
            t.source
            for t in process.transitions
            if (not failing and _may_fail(program, process, t)) or (not stores and _fills_buffer(t))
        }
        found.append(_marked(process, p, model, observed, excluded))
    return tuple(found)


def _may_fail(program: Program, process: Process, transition: Transition) -> bool:
    return step_may_fail(program, process, transition) or any(may_fail(program, process, op) for op in transition.ops)


def _fills_buffer(transition: Transition) -> bool:
    return any(isinstance(op, Store) or (isinstance(op, Fence) and op.kind != "mfence") for op in transition.ops)


def _marked(process: Process, number: int, model: ModelSpec, observed: Observed, excluded: set[int]) -> tuple[int, ...]:
    leaving: list[list[Transition]] = [[] for _ in process.locations]
    for t in process.transitions:
        leaving[t.source].append(t)
    seen = {id(op) for op in distinct_ops(process) if _is_seen(op, number, observed)}
    kinds = [_kind(transitions, number, model, observed, seen) for transitions in leaving]
    return _break_cycles(process, [NOT_PRIVATE if at in excluded else kind for at, kind in enumerate(kinds)])


def _is_seen(op: Op, number: int, observed: Observed) -> bool:
    """Whether somebody looks at what the op sets, or the op at others."""
    return (number, register_written(op)) in observed.registers or _looks_at_others(op)


def _kind(leaving: list[Transition], number: int, model: ModelSpec, observed: Observed, seen: set[int]) -> int:
    """Of a location that these transitions leave; `seen`: by `id` of ops."""
    if not leaving or any((number, at) in observed.locations for t in leaving for at in (t.source, t.target)):
        return NOT_PRIVATE
    kinds = [_transition_kind(t, number, model, observed, seen) for t in leaving]
    return NOT_PRIVATE if NOT_PRIVATE in kinds else max(kinds)


def _transition_kind(t: Transition, number: int, model: ModelSpec, observed: Observed, seen: set[int]) -> int:
    if t.locked or t.sync is not None:
        return NOT_PRIVATE
    kind = PRIVATE
    for position, op in enumerate(t.ops):
        if id(op) in seen:
            return NOT_PRIVATE
        match op:
            case Assign() | Assume() | Assert():
                pass
            case Store(_, _, direct) if model.has_buffers and not direct and number not in observed.buffers:
                pass
            case Fence("sfence") if not model.reorders_stores or number not in observed.buffers:
                pass
            case Fence("mfence"):
                kind = PRIVATE_WHEN_DRAINED if model.has_buffers else PRIVATE
                if position > 0 and model.has_buffers:
                    return NOT_PRIVATE  # whether it is drained there depends on what came before it in the same step
            case _:
                return NOT_PRIVATE
    return kind


def _looks_at_others(op: Op) -> bool:
    return any(isinstance(leaf, (At, RegisterOf)) for e in op_expressions(op) for leaf in walk(e))


def _break_cycles(process: Process, kinds: list[int]) -> tuple[int, ...]:
    """Leave out the target of every back edge of a depth-first walk over private locations."""
    after: dict[int, list[int]] = {at: [] for at in range(len(process.locations))}
    for t in process.transitions:
        if kinds[t.source] != NOT_PRIVATE and kinds[t.target] != NOT_PRIVATE:
            after[t.source].append(t.target)
    left_out: set[int] = set()
    state: dict[int, int] = {}  # 1: on the stack, 2: done
    for root in after:
        if root in state:
            continue
        stack = [(root, iter(after[root]))]
        state[root] = 1
        while stack:
            here, ways = stack[-1]
            there = next(ways, None)
            if there is None:
                state[here] = 2
                stack.pop()
            elif state.get(there) == 1:
                left_out.add(there)
            elif there not in state:
                state[there] = 1
                stack.append((there, iter(after[there])))
    return tuple(NOT_PRIVATE if at in left_out else kind for at, kind in enumerate(kinds))
