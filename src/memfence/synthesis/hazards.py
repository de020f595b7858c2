"""What a lasso tells about atomic writes: hazard intervals, inconsistent accesses, and the clause that it teaches.

Barnat, Brim and Havel, section IV. A hazard interval of a variable begins with a write into a store buffer and ends
when that write reaches memory. An access of another process to the variable in between is inconsistent.

The clause of a run is exact: any list of atomic writes under which the run is no counterexample satisfies it. A list
that changes none of the writes the run depends on leaves it as it is, but for steps of two kinds that nobody can tell
apart: an atomic write, and a buffered one that is committed at once. Whether the formula can tell them apart is decided
on the run: by the truth of its predicates in the state in between.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.accesses import accesses
from memfence.models.fairness import Condition, Fairness, is_true
from memfence.models.replay import replay
from memfence.models.state import Commit, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, take
from memfence.passes.atomic_writes import EVERY_VARIABLE, AtomicWrite, WaitsFor, writes_of
from memfence.program.ir import Program
from memfence.questions.ltl.check import Claim
from memfence.questions.ltl.formula import is_stutter_invariant
from memfence.questions.ltl.witness import check_lasso
from memfence.records import Record
from memfence.tasks.evidence import Lasso


class Hazard(Record):
    """A write that waited in the buffer from step `issued` to step `committed` (of the run with its loop twice).

    `inconsistent`: the steps of other processes that accessed the variable meanwhile.
    """

    write: AtomicWrite
    issued: int
    committed: int
    inconsistent: tuple[int, ...]


class Clause(Record):
    """One of `atomic` must be atomic, or one of `plain` must not be."""

    atomic: frozenset[AtomicWrite]
    plain: frozenset[AtomicWrite]


def hazards(lasso: Lasso) -> tuple[Hazard, ...]:
    """Every hazard interval of the run, in the order of the commits; the loop is gone through twice."""
    trace, names = lasso.trace, array_names(lasso.trace.program)
    steps = [*enumerate(trace.steps)]
    steps += steps[lasso.loop_start :]
    waiting: dict[tuple[int, int], deque[tuple[int, AtomicWrite]]] = {}
    touched: list[set[tuple[int, str]]] = []
    found: list[Hazard] = []
    for now, (position, taken) in enumerate(steps):
        before = trace.state_before(position)
        touched.append(set())
        for access in accesses(trace.program, trace.memory_model, before, taken.step):
            variable = names[access.variable]
            if access.kind == "commit":
                issued, write = waiting[access.process, access.variable].popleft()
                others = range(issued + 1, now)
                meanwhile = tuple(m for m in others if any(p != access.process for p, v in touched[m] if v == variable))
                found.append(Hazard(write, issued, now, meanwhile))
                continue
            touched[-1].add((access.process, variable))
            if access.kind == "pending store":
                write = AtomicWrite(access.process, _transition_of(taken.step, access.process), variable)
                waiting.setdefault((access.process, access.variable), deque()).append((now, write))
    return tuple(found)


def array_names(program: Program) -> list[str]:
    """The name under which lists of atomic writes know each variable."""
    return [variable.name.split("[")[0] for variable in program.variables]


def _transition_of(step: Step, process: int) -> int:
    runs = (
        [step]
        if isinstance(step, ProcessStep)
        else [step.sender, step.receiver]
        if isinstance(step, Rendezvous)
        else []
    )
    return next(run.transition for run in runs if run.process == process)


def with_early_commits(lasso: Lasso, claim: Claim, conditions: tuple[Condition, ...]) -> Lasso:
    """The same counterexample with writes committed at once wherever that leaves it one: fewer writes then matter."""
    position = 0
    issues = _issues(lasso.trace)
    while position < len(lasso.trace.steps):
        issued = issues.get(position)
        if issued is not None and issued + 1 < position:
            inside = (issued < lasso.loop_start) == (position < lasso.loop_start)
            earlier = _moved(lasso, position, issued + 1, claim, conditions) if inside else None
            if earlier is not None:
                lasso, issues = earlier, _issues(earlier.trace)
        position += 1
    return lasso


def _issues(trace: Trace) -> dict[int, int]:
    """For each step that commits a write, the step that issued it; not for one of an earlier round."""
    waiting: dict[tuple[int, int], deque[int]] = {}
    found: dict[int, int] = {}
    for position, taken in enumerate(trace.steps):
        for access in accesses(trace.program, trace.memory_model, trace.state_before(position), taken.step):
            queue = waiting.setdefault((access.process, access.variable), deque())
            if access.kind == "pending store":
                queue.append(position)
            elif access.kind == "commit" and queue:
                found[position] = queue.popleft()
    return found


def _moved(lasso: Lasso, old: int, new: int, claim: Claim, conditions: tuple[Condition, ...]) -> Lasso | None:
    """The lasso with one step moved to an earlier place, if it still is a fair counterexample."""
    trace = lasso.trace
    steps = [taken.step for taken in trace.steps]
    steps.insert(new, steps.pop(old))
    try:
        moved = Lasso(Trace(trace.program, trace.memory_model, trace.start, steps), lasso.loop_start)
        again = replay(trace.program, trace.memory_model, moved.trace.end, steps[lasso.loop_start :])
        if again.stop is not None or again.end != moved.trace.end:
            return None
        check_lasso(moved, claim.atoms, conditions, formula=claim.formula, automaton=claim.automaton)
    except UnreplayableWitness:
        return None
    return moved


def clause_of(
    plain: Program,
    chosen: frozenset[AtomicWrite],
    lasso: Lasso,
    claim: Claim,
    *,
    fairness: Fairness,
    waits_for: WaitsFor,
) -> Clause:
    """What the run, possible with exactly the `chosen` writes of `plain` atomic, demands of any list."""
    blind = claim.formula is not None and is_stutter_invariant(claim.formula) and fairness is Fairness.NONE
    trace = lasso.trace
    known = frozenset(writes_of(plain))
    needed: set[AtomicWrite] = set()
    kept: set[AtomicWrite] = set()
    for position, taken in enumerate(trace.steps):
        before = trace.state_before(position)
        for run in _runs(taken.step):
            buffered, direct = _writes(known, chosen, run)
            harmless = blind and len(buffered) + len(direct) == 1 and isinstance(taken.step, ProcessStep)
            if buffered and not (harmless and _is_committed_at_once(lasso, position, claim, waits_for)):
                needed |= buffered
            if direct and not (harmless and _may_be_split(plain, trace.memory_model, before, taken.state, run, claim)):
                kept |= direct
    return Clause(frozenset(needed), frozenset(kept))


def _runs(step: Step) -> list[ProcessStep]:
    return (
        [step]
        if isinstance(step, ProcessStep)
        else [step.sender, step.receiver]
        if isinstance(step, Rendezvous)
        else []
    )


def _writes(
    known: frozenset[AtomicWrite], chosen: frozenset[AtomicWrite], run: ProcessStep
) -> tuple[set[AtomicWrite], set[AtomicWrite]]:
    """The writes of the transition: into the buffer, and atomic ones."""
    mine = {write for write in known if (write.process, write.transition) == (run.process, run.transition)}
    direct = {w for w in mine if w in chosen or replace(w, variable=EVERY_VARIABLE) in chosen}
    return mine - direct, direct


def _is_committed_at_once(lasso: Lasso, position: int, claim: Claim, waits_for: WaitsFor) -> bool:
    """Whether the write could as well be atomic: nothing was pending, its commit is next, and nobody can tell."""
    trace = lasso.trace
    taken, before = trace.steps[position], trace.state_before(position)
    assert isinstance(taken.step, ProcessStep)
    process = taken.step.process
    last = position + 1 in (lasso.loop_start, len(trace.steps))
    if last or not _is_drained(before, process, waits_for):
        return False
    following = trace.steps[position + 1]
    at_once = isinstance(following.step, Commit) and following.step.process == process
    return at_once and _looks_like_either(trace.program, claim, taken.state, before, following.state)


def _is_drained(state: State, process: int, waits_for: WaitsFor) -> bool:
    return not any(state.buffers[process]) if waits_for == "own" else state.is_plain


def _may_be_split(
    plain: Program, model: MemoryModel, before: State, after: State, run: ProcessStep, claim: Claim
) -> bool:
    """Whether the atomic write could as well be a buffered one that is committed at once, and nobody can tell."""
    between = take(plain, model, before, run)
    return isinstance(between, State) and _looks_like_either(plain, claim, between, before, after)


def _looks_like_either(program: Program, claim: Claim, between: State, before: State, after: State) -> bool:
    """Whether the predicates of the formula cannot tell the state in between from one of the two around it."""
    old, middle, new = ([is_true(program, s, atom) for atom in claim.atoms] for s in (before, between, after))
    return middle in (old, new)
