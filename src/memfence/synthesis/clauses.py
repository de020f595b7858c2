"""A run as a clause: at least one of these edits must be made, because the run goes through unchanged otherwise.

The edits of a clause are those that stop the run, its kill set. An `mfence` stops it where its process goes
on with stores pending; an `sfence`, where a store of its process commits before another one that was issued ahead of
the fence; a locked write, where stores were pending or its own did not reach memory at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import pairwise

from memfence.execution.overtaking import Overtaken, overtaken_pairs
from memfence.execution.trace import Trace
from memfence.frontends.frontend import EditKind
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, take
from memfence.program.ir import Program
from memfence.records import Record
from memfence.synthesis.sites import FenceEdit


class Clause(Record):
    """Numbers of edits, one of which is needed, and the run of the unchanged program that says so, made when asked for.

    The edits come in the order in which the run crosses them for the last time.
    """

    edits: tuple[int, ...]
    witness: Callable[[], Trace | None] = field(compare=False)

    def __contains__(self, edit: int) -> bool:
        return edit in self.edits

    def without(self, edits: Iterable[int]) -> Clause:
        dropped = frozenset(edits)
        return Clause(tuple(number for number in self.edits if number not in dropped), self.witness)


class EditsByPlace:
    """Which edits execute behind a transition, or lock it."""

    def __init__(self, edits: Iterable[FenceEdit]) -> None:
        self._found: dict[tuple[EditKind, int, int], list[int]] = {}
        for edit in edits:
            for p, t in edit.effect:
                self._found.setdefault((edit.kind, p, t), []).append(edit.number)

    def at(self, kind: EditKind, process: int, transition: int) -> Sequence[int]:
        return self._found.get((kind, process, transition), ())


def stopped_by(
    trace: Trace, places: EditsByPlace, *, watched: frozenset[int] = frozenset(), homes: Sequence[int] | None = None
) -> tuple[int, ...]:
    """Every edit that stops the run, in the order in which they would have done so last.

    `homes`: for each process of the run, the one whose edits it has; None: itself.
    `watched`: processes whose location matters at the end: where such a process ends with stores pending, a fence
    behind its last step would keep it from getting there. (Locations may matter together, so that single edits need
    not stop the run; they may belong to a set that does.)
    """
    last: dict[int, int] = {}
    pairs = [pair for pair in overtaken_pairs(trace) if pair.issued is not None]
    for process in range(len(trace.program.processes)):
        home = process if homes is None else homes[process]
        moves = _moves(trace, process)
        for (position, transition), (following, _) in pairwise([*moves, (len(trace.steps), -1)]):
            is_last = following == len(trace.steps)
            before_next = trace.end if is_last else trace.state_before(following)
            goes_on = not is_last or (home in watched and trace.failure is None)
            found = list[int]()
            if goes_on and has_pending(before_next, process):
                found += places.at("mfence", home, transition)
            if any(is_crossed(pair, process, position) for pair in pairs):
                found += places.at("sfence", home, transition)
            if not is_at_once(trace, position, process):
                found += places.at("locked", home, transition)
            last |= dict.fromkeys(found, position)
    return tuple(sorted(last, key=lambda number: (last[number], number)))


def has_pending(state: State, process: int) -> bool:
    """Whether a store of the process is in a buffer; separators alone leave by themselves."""
    return any(entry is not None for buffer in state.buffers[process] for entry in buffer)


def _moves(trace: Trace, process: int) -> list[tuple[int, int]]:
    """Position and transition of every step that the process takes."""
    found = []
    for position, taken in enumerate(trace.steps):
        for run in runs_of(taken.step):
            if run.process == process:
                found.append((position, run.transition))
    return found


def runs_of(step: Step) -> tuple[ProcessStep, ...]:
    match step:
        case ProcessStep():
            return (step,)
        case Rendezvous(sender, receiver):
            return (sender, receiver)
        case _:
            return ()


def is_crossed(pair: Overtaken, process: int, position: int) -> bool:
    """Whether a fence behind the step at `position` stands between the two accesses."""
    later = pair.by if pair.issued is None else pair.issued
    return pair.store.access.process == process and pair.store.position <= position < later.position


def is_at_once(trace: Trace, position: int, process: int) -> bool:
    """Whether nothing of the process was pending at the step, and what it stores commits right behind it."""
    if has_pending(trace.state_before(position), process):
        return False
    buffers = trace.steps[position].state.buffers[process]
    count = sum(entry is not None for buffer in buffers for entry in buffer)
    following = trace.steps[position + 1 : position + 1 + count]
    return len(following) == count and all(
        isinstance(taken.step, Commit) and taken.step.process == process for taken in following
    )


def without_edits(trace: Trace, program: Program) -> Trace:
    """A run of the program with edits as a run of `program` itself.

    Fences fall away, with their separators; a locked write becomes a write and its commit. So do steps and registers
    that a question has added behind those of the program (`passes.stuck_awaits`).
    """
    model = trace.memory_model
    registers = zip(trace.start.registers, program.processes, strict=True)
    start = replace(trace.start, registers=tuple(values[: len(p.registers)] for values, p in registers))
    state = start
    steps: list[Step] = []
    for step in (taken.step for taken in trace.steps):
        if any(run.transition >= len(program.processes[run.process].transitions) for run in runs_of(step)):
            continue  # a fence that was written into it, or a step that a question has added
        after = take(program, model, state, step)
        if after is None and isinstance(step, DropSeparator):
            continue
        steps.append(step)
        if not isinstance(after, State):
            break
        state = after
        for commit, later in _commits_of_locked(trace.program, program, model, state, step):
            steps.append(commit)
            state = later
    return Trace(program, model, start, steps)


def _commits_of_locked(
    edited: Program, program: Program, model: MemoryModel, state: State, step: Step
) -> Iterator[tuple[Step, State]]:
    for run in runs_of(step):
        mine = program.processes[run.process].transitions[run.transition]
        theirs = edited.processes[run.process].transitions[run.transition]
        if mine.locked == theirs.locked and mine.ops == theirs.ops:
            continue
        while any(state.buffers[run.process]):
            commit, state = next(iter(model.background(program, state, run.process)))
            yield commit, state
