"""Criteria that compare with SC: freedom of data races, persistence, state-robustness, and what persistence implies.

Each section holds a set of states that no step leaves, as an invariant does, and each state is looked at by itself.
`docs/theory/certificates.md` has the theorems 4 to 7. A step that fails has made its reads, and nothing of its process
follows; state-robustness is covered only where no step fails, and persistence only where processes talk by loads and
stores, at most one plain store a step, that waits for no other variable.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from memfence.certificates.checker.abridged import Ends, ends_of
from memfence.certificates.checker.invariant import check_closed
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.models.accesses import Access, accesses
from memfence.models.readings import is_locked
from memfence.models.sc import Sc
from memfence.models.state import Failure, Run, State
from memfence.models.steps import MemoryModel, set_at, starts, successors, take
from memfence.models.tso import Tso
from memfence.program.expressions import FOREIGN, BufferEmpty, Shared, walk
from memfence.program.facts.effects import has_guarded_writes, has_torn_steps, op_expressions
from memfence.program.ir import Lock, Program, Store, Transition, Unlock

SC, TSO = Sc(), Tso()


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
    """Theorem 5: in no state are two processes about to access one variable, one writing, not both in locked steps."""
    require_shared_memory(program)
    check_closed(ends_of(program, SC, left_out), states, may_fail=True)
    for state in states:
        about = list(_about_to(program, state))
        for mine, is_mine_locked in about:
            for theirs, is_theirs_locked in about:
                meets = mine.process != theirs.process and mine.variable == theirs.variable
                if meets and mine.writes_memory and not (is_mine_locked and is_theirs_locked):
                    raise Refused(Condition.RACE, program.variables[mine.variable].name, state=state)


def made_by(program: Program, model: MemoryModel, state: State, step: Run) -> tuple[Access, ...]:
    """What a possible step accesses. If it fails, it has made its reads, but for those of its own stores."""
    made = accesses(program, model, state, step)
    if not isinstance(take(program, model, state, step), Failure):
        return made
    stored = [[one.variable for one in made[:k] if "store" in one.kind] for k, _ in enumerate(made)]
    return tuple(a for a, own in zip(made, stored, strict=True) if a.kind == "load" and a.variable not in own)


def _about_to(program: Program, state: State) -> Iterator[tuple[Access, bool]]:
    """What processes would access next, and whether in a locked step. A step that waits reads what it waits for."""
    for p, process in enumerate(program.processes):
        for number, transition in process.leaving(state.locations[p]):
            step, locked = Run(p, number), is_locked(TSO, transition)
            if take(program, SC, state, step) is not None:
                yield from ((access, locked) for access in made_by(program, SC, state, step))
                continue
            for length in range(len(transition.ops) - 1, 0, -1):
                beginning = _with_step(program, step, replace(transition, ops=transition.ops[:length]))
                if take(beginning, SC, state, step) is not None:
                    made = accesses(beginning, SC, state, step)
                    own = {one.variable for one in made if one.writes_memory}  # what it stores, it reads itself
                    yield from ((access, locked) for access in made if access.variable not in own)
                    break


def _with_step(program: Program, step: Run, transition: Transition) -> Program:
    process = program.processes[step.process]
    changed = replace(process, transitions=set_at(process.transitions, step.transition, transition))
    return replace(program, processes=set_at(program.processes, step.process, changed))


def check_persistent(program: Program, states: Collection[State], left_out: Abridgement = WHOLE) -> None:
    """Theorem 6: no process overtakes its own store with a read that another process can change."""
    _check_no_overtaking(ends_of(program, SC, left_out), states, may_fail=True)


def _check_no_overtaking(ends: Ends, states: Collection[State], *, may_fail: bool) -> None:
    program = ends.program
    require_single_stores(program)
    check_closed(ends, states, may_fail=may_fail)
    for state in states:
        changed = set(_changeable(program, state))
        for process, step, variable in _overtaking(program, state):
            if any(variable == other and process != who for who, other in changed):
                raise Refused(Condition.ATTACK, program.variables[variable].name, state=state, step=step)


def _changeable(program: Program, state: State) -> Iterator[tuple[int, int]]:
    """Who can give which variable another value at once."""
    for step, after in successors(program, SC, state):
        if isinstance(step, Run) and isinstance(after, State):
            for variable, (old, new) in enumerate(zip(state.memory, after.memory, strict=True)):
                if old != new:
                    yield step.process, variable


def _overtaking(program: Program, state: State) -> Iterator[tuple[int, Run, int]]:
    """A process makes a store that stays pending, and walks on alone without another one: what it reads in memory."""
    first = replace(state, buffers=TSO.empty_buffers(program))
    for p, process in enumerate(program.processes):
        waiting, seen = [first], {first}
        while waiting:
            here = waiting.pop()
            for number, _ in process.leaving(here.locations[p]):
                step = Run(p, number)
                after = take(program, TSO, here, step)
                pending = here if isinstance(after, Failure) else after
                if pending is None or len(pending.buffers[p][0]) != 1:
                    continue
                made = made_by(program, TSO, here, step)
                yield from ((p, step, access.variable) for access in made if access.kind == "load")
                if isinstance(after, State) and after not in seen:
                    seen.add(after)
                    waiting.append(after)


def check_implied(question: Question, states: Collection[State], left_out: Abridgement = WHOLE) -> None:
    """Theorem 7: persistent, and the question is about what pending stores do not change: then SC has the answer."""
    require_no_look_at_buffers(question)
    ends = ends_of(question.program, SC, left_out, question.looks_at, deadlock=question.deadlock)
    _check_no_overtaking(ends, states, may_fail=False)
    for state in states:
        if question.is_bad(state):
            raise Refused(Condition.BAD, state=state)
        has_step = any(True for _ in successors(question.program, SC, state))
        if question.is_stuck(state, has_step=has_step):
            raise Refused(Condition.DEADLOCK, state=state)


def require_no_look_at_buffers(question: Question) -> None:
    """Theorem 7 is about what pending stores do not change."""
    bad = () if question.bad is None else tuple(walk(question.bad))
    if question.finals or any(isinstance(node, Shared | BufferEmpty) for node in bad):
        raise Refused(Condition.KIND, "the claim looks at memory or at buffers")


def without_buffers(state: State) -> State:
    return replace(state, buffers=tuple(() for _ in state.buffers))


def require_single_stores(program: Program) -> None:
    """Theorem 6 is about steps with one store at most, which depends on nothing but its own variable."""
    require_shared_memory(program)
    if has_torn_steps(program) or has_guarded_writes(program):
        raise Refused(Condition.KIND, "a step has several stores, or writes by what it reads elsewhere")


def require_shared_memory(program: Program) -> None:
    """The criteria about accesses know nothing but processes that share memory."""
    for process in program.processes:
        for transition in process.transitions:
            leaves = [node for op in transition.ops for expr in op_expressions(op) for node in walk(expr)]
            talks = transition.sync is not None or any(isinstance(node, FOREIGN) for node in leaves)
            ops = transition.ops
            holds = any(isinstance(op, (Lock, Unlock)) or (isinstance(op, Store) and op.direct) for op in ops)
            if talks or holds:
                raise Refused(Condition.KIND, "processes talk by other means than loads and stores")
        if any(location.committed for location in process.locations):
            raise Refused(Condition.KIND, "a committed location makes others wait")
