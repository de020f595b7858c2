"""Criteria that compare with SC: freedom of data races, persistence, state-robustness, and what persistence implies.

Each section holds a set of states that no step leaves, as an invariant does, and each state is looked at by itself.
`docs/theory/certificates.md` has the theorems 4 to 7. A step that fails has made its reads, and nothing of its process
follows; state-robustness is covered only where no step fails, and persistence only where processes talk by loads and
stores, at most one plain store a step. A way through a region in which the bus is held is one event, as a step is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import combinations

from memfence.certificates.checker.abridged import Ends, ends_of
from memfence.certificates.checker.events import SC, TSO, events_of, is_locked_event
from memfence.certificates.checker.invariant import check_closed, check_states
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.models.accesses import Access, accesses
from memfence.models.state import Failure, ProcessStep, State
from memfence.models.steps import MemoryModel, set_at, starts, successors, take
from memfence.program.expressions import FOREIGN, BufferEmpty, Shared, walk
from memfence.program.facts.effects import has_torn_steps, op_expressions
from memfence.program.ir import Fence, Lock, Program, Store, Unlock


def check_state_robust(program: Program, model: MemoryModel, states: Collection[State]) -> None:
    """Theorem 4: every state of the set that has empty buffers is one that SC reaches."""
    check_closed(ends_of(program, model, WHOLE), states)
    reached = reached_under_sc(program)
    for state in {without_buffers(state) for state in states if state.is_plain}:
        if state not in reached:
            raise Refused(Condition.STRAY, state=state)


def reached_under_sc(program: Program) -> set[State]:
    """Every state that SC reaches: a lower bound cannot be certified by a set."""
    waiting = list(starts(program, SC))
    reached = set(waiting)
    while waiting:
        for _, after in successors(program, SC, waiting.pop()):
            if isinstance(after, State) and after not in reached:
                reached.add(after)
                waiting.append(after)
    return reached


def check_race_free(program: Program, states: Collection[State], left_out: Abridgement = WHOLE) -> None:
    """Theorem 5: in no state are two processes about to access one variable, one writing, not both in locked events."""
    require_shared_memory(program, regions=True)
    check_closed(ends_of(program, SC, left_out), states, may_fail=True)
    for state in states:
        about = [event for p, _ in enumerate(program.processes) for event in events_of(program, state, p, waiting=True)]
        for mine in about:
            for theirs in about:
                met = mine.written & (theirs.read | theirs.written)
                if mine.first.process != theirs.first.process and met and not (mine.locked and theirs.locked):
                    raise Refused(Condition.RACE, program.variables[min(met)].name, state=state)


def made_by(program: Program, model: MemoryModel, state: State, step: ProcessStep) -> tuple[Access, ...]:
    """What a possible step accesses. If it fails, it has made its reads, but for those of its own stores."""
    made = accesses(program, model, state, step)
    if not isinstance(take(program, model, state, step), Failure):
        return made
    stored = [[one.variable for one in made[:k] if "store" in one.kind] for k, _ in enumerate(made)]
    return tuple(a for a, own in zip(made, stored, strict=True) if a.kind == "load" and a.variable not in own)


def check_persistent(program: Program, states: Collection[State], left_out: Abridgement = WHOLE) -> None:
    """Theorem 6: no process overtakes its own store with a read that another process can change."""
    _check_no_overtaking(ends_of(program, SC, left_out), states, may_fail=True)


def _check_no_overtaking(ends: Ends, states: Collection[State], *, may_fail: bool) -> None:
    program = ends.program
    require_single_stores(program)
    check_closed(ends, states, may_fail=may_fail)
    for state in states:
        changed = set(_changeable(program, state))
        for process, step, variable in _overtaking(program, state) if changed else ():
            if any(variable == other and process != who for who, other in changed):
                raise Refused(Condition.ATTACK, program.variables[variable].name, state=state, step=step)


def _changeable(program: Program, state: State) -> Iterator[tuple[int, int]]:
    """Who can give which variable another value at once; nobody, while the bus is held."""
    for p, _ in enumerate(program.processes):
        for event in events_of(program, state, p):
            if isinstance(event.after, State):
                yield from ((p, v) for v in event.written if state.memory[v] != event.after.memory[v])


def _overtaking(program: Program, state: State) -> Iterator[tuple[int, ProcessStep, int]]:
    """A process makes a store that stays pending, as do all that follow, and walks on: what it reads in memory."""
    first = replace(state, buffers=TSO.empty_buffers(program))
    for p, process in enumerate(program.processes):
        waiting, seen = [first], {first}
        while waiting:
            here = waiting.pop()
            for number, transition in process.leaving(here.locations[p]):
                step = ProcessStep(p, number)
                after = None if is_locked_event(transition) else take(program, TSO, here, step)
                pending = here if isinstance(after, Failure) else after
                if pending is None or pending.buffers[p] == first.buffers[p]:
                    continue
                made = made_by(program, TSO, here, step)
                yield from ((p, step, access.variable) for access in made if access.kind == "load")
                if isinstance(after, State) and (there := with_newest_stores(after, p)) not in seen:
                    seen.add(there)
                    waiting.append(there)


def with_newest_stores(state: State, process: int) -> State:
    """Under TSO, of pending stores the newest one to each variable: that is all that the process sees of them."""
    newest = dict(entry for entry in state.buffers[process][0] if entry is not None)
    return replace(state, buffers=set_at(state.buffers, process, (tuple(sorted(newest.items())),)))


def check_implied(question: Question, states: Collection[State], left_out: Abridgement = WHOLE) -> None:
    """Theorem 7: persistent, and the question is about what pending stores do not change: then SC has the answer."""
    require_no_look_at_buffers(question)
    require_shared_memory(question.program)
    ends = ends_of(question.program, SC, left_out, question.looks_at, deadlock=question.deadlock)
    _check_no_overtaking(ends, states, may_fail=False)
    check_states(question, SC, states)


def require_no_look_at_buffers(question: Question) -> None:
    """Theorem 7 is about what pending stores do not change."""
    bad = () if question.bad is None else tuple(walk(question.bad))
    if question.finals or any(isinstance(node, Shared | BufferEmpty) for node in bad):
        raise Refused(Condition.KIND, "the claim looks at memory or at buffers")


def without_buffers(state: State) -> State:
    return replace(state, buffers=tuple(() for _ in state.buffers))


def require_single_stores(program: Program) -> None:
    """Theorems 6 and 9 are about plain steps with one store at most. No fence stands beside it: TSO never gets past one
    behind it, where SC goes on; and behind one before it, the store is pending."""
    require_shared_memory(program, regions=True)
    plain = (t for process in program.processes for t in process.transitions if not t.locked)
    if has_torn_steps(program) or any({Store, Fence} <= {type(op) for op in t.ops} for t in plain):
        raise Refused(Condition.KIND, "a step has several stores, or a store and a fence")


def require_shared_memory(program: Program, *, regions: bool = False) -> None:
    """The criteria about accesses know nothing but processes that share memory. `regions`: the bus may be held over
    several steps, if none stores once it has released the bus: that store would be pending."""
    for process in program.processes:
        for transition in process.transitions:
            leaves = [node for op in transition.ops for expr in op_expressions(op) for node in walk(expr)]
            talks = transition.sync is not None or any(isinstance(node, (Shared, *FOREIGN)) for node in leaves)
            if talks or any(isinstance(op, Store) and op.direct for op in transition.ops):
                raise Refused(Condition.KIND, "processes talk by other means than loads and stores")
            late = any(isinstance(a, Unlock) and isinstance(b, Store) for a, b in combinations(transition.ops, 2))
            if late or (not regions and any(isinstance(op, Lock | Unlock) for op in transition.ops)):
                raise Refused(Condition.KIND, "a process holds the bus over several steps")
        if any(location.committed for location in process.locations):
            raise Refused(Condition.KIND, "a committed location makes others wait")
