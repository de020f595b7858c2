"""A run without what it does not need: fewer steps, then fewer switches between processes, as long as it still shows
what it shows.

Every candidate is replayed by the reference model, so that what comes out is a run for sure. Whether it shows the same
is for the caller to say. The search is greedy and stops when its budget is used up: what it returns is never longer
than what it was given, and need not be a shortest one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from memfence.deadline import Deadline
from memfence.execution.occurrences import runs_of
from memfence.execution.trace import Trace
from memfence.models.state import Commit, DropSeparator, Failure, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import successors, take

Shows = Callable[[Trace], bool]
"""Whether a run still shows what is to be shown."""


def pruned(trace: Trace, shows: Shows, *, seconds: float) -> Trace:
    """A run that `shows` the same, where no stretch of steps of one process can be left out, if time suffices."""
    return _Pruning(trace, shows, seconds).work()


class _Pruning:
    def __init__(self, trace: Trace, shows: Shows, seconds: float) -> None:
        self.best, self.shows = trace, shows
        self.deadline = Deadline(seconds)

    def work(self) -> Trace:
        while self.drop_something():
            pass
        while self.join_something():
            pass
        return self.best

    def steps(self) -> list[Step]:
        return [taken.step for taken in self.best.steps]

    def drop_something(self) -> bool:
        """Leave out the longest stretch of one process that can be left out."""
        steps = self.steps()
        for process in range(len(self.best.program.processes)):
            mine = [at for at, step in enumerate(steps) if any(run.process == process for run in runs_of(step))]
            for length in range(len(mine), 0, -1):
                for first in range(len(mine) - length, -1, -1):
                    if self.deadline.passed:
                        return False
                    if self.accept(without(self.best, mine[first : first + length])):
                        return True
        return self.drop_a_commit(steps)

    def drop_a_commit(self, steps: Sequence[Step]) -> bool:
        commits = [at for at, step in enumerate(steps) if isinstance(step, Commit | DropSeparator)]
        return any(not self.deadline.passed and self.accept(without(self.best, [at])) for at in reversed(commits))

    def join_something(self) -> bool:
        """Move a step next to an earlier one of its process, where that saves a switch."""
        steps = self.steps()
        for at in range(1, len(steps)):
            for to in range(at - 1, 0, -1):
                if self.deadline.passed:
                    return False
                moved = [*steps[:to], steps[at], *steps[to:at], *steps[at + 1 :]]
                if _owner(steps[to - 1]) == _owner(steps[at]) and switches(moved) < switches(steps):
                    if self.accept(moved):
                        return True
                    break
        return False

    def accept(self, steps: Sequence[Step] | None) -> bool:
        if steps is None or (len(steps), switches(steps)) >= (len(self.best.steps), switches(self.steps())):
            return False
        found = replayed(self.best, steps)
        if found is None or not self.shows(found):
            return False
        self.best = found
        return True


def without(trace: Trace, dropped: Sequence[int]) -> list[Step] | None:
    """The other steps of the run; commits for which nothing is pending any more go, too. None if they are no run."""
    program, model, state = trace.program, trace.memory_model, trace.start
    gone, kept = set(dropped), list[Step]()
    for at, step in enumerate(taken.step for taken in trace.steps):
        if at in gone:
            continue
        after = take(program, model, state, step)
        if after is None:
            if isinstance(step, Commit | DropSeparator):
                continue
            return None
        kept.append(step)
        if isinstance(after, Failure):
            return kept if at + 1 == len(trace.steps) else None
        assert isinstance(after, State)
        state = after
    return kept


def replayed(trace: Trace, steps: Sequence[Step]) -> Trace | None:
    """The run of these steps; None where it is none."""
    program, model, state = trace.program, trace.memory_model, trace.start
    for number, step in enumerate(steps):
        after = take(program, model, state, step)
        if after is None or (isinstance(after, Failure) and number + 1 < len(steps)):
            return None
        state = after if isinstance(after, State) else state
    return Trace(program, model, trace.start, steps)


def drained(trace: Trace) -> Trace:
    """The run, gone on until nothing is pending."""
    program, model, state = trace.program, trace.memory_model, trace.end
    steps = [taken.step for taken in trace.steps]
    while True:
        ways = (way for way in successors(program, model, state) if isinstance(way[0], Commit | DropSeparator))
        step, after = next(ways, (None, None))
        if step is None or not isinstance(after, State):
            return Trace(program, model, trace.start, steps)
        steps.append(step)
        state = after


def switches(steps: Sequence[Step]) -> int:
    """How often another process goes on."""
    owners = [_owner(step) for step in steps]
    return sum(one != other for one, other in pairwise(owners))


def _owner(step: Step) -> int:
    match step:
        case ProcessStep(process) | Commit(process) | DropSeparator(process):
            return process
        case Rendezvous(sender):
            return sender.process
