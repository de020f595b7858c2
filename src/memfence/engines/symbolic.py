"""The symbolic engine: TSO and PSO with unbounded buffers, sets of buffer contents as automata. A proof, if it ends."""

from __future__ import annotations

from memfence.engines.bounded_witness import find_bounded_witness
from memfence.engines.native.symbolic import SymbolicResult, explore_symbolic, is_decided
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Closure, CounterexampleRun, Fixpoint, Limit, Route
from memfence.tasks.limits import Stop
from memfence.tasks.obstacle import Obstacle, unless_unbounded
from memfence.tasks.task import Safety, Task


class SymbolicEngine:
    """Safety with buffers of any length; a finding is made concrete."""

    name = "symbolic"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, Safety):
            return Obstacle.OTHER_GOAL
        if (obstacle := unless_unbounded(task.spec)) is not None:
            return obstacle
        if task.goal.final_values:
            return Obstacle.LISTS_FINAL_STATES
        return None if is_decided(task.program, task.goal) else Obstacle.LOOKS_AT_BUFFERS

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Safety)
        found = explore_symbolic(task.program, task.spec, task.goal, limits=task.limits, reductions=task.reductions)
        answer = Answer(Verdict.HOLDS, Fixpoint(Closure.AUTOMATA), self.name, found.cost, counts=_counts(found))
        if found.finding is None and found.complete:
            return answer
        verdict, evidence = Verdict.UNKNOWN, Limit(found.stop, found.cost.states)
        if found.finding is not None:
            trace = find_bounded_witness(task.within(most_states=0, timeout_seconds=None))
            if trace is not None:
                run = CounterexampleRun(trace, found.finding, Route.UNBOUNDED)
                return Answer(Verdict.VIOLATED, run, self.name, found.cost, counts=_counts(found))
            evidence = Limit(Stop.TIMEOUT, found.cost.states, found=True)
        return Answer(verdict, evidence, self.name, found.cost, counts=_counts(found))


def _counts(found: SymbolicResult) -> tuple[tuple[str, int], ...]:
    statistics = found.statistics
    return (
        ("symbolic_states", statistics.stored),
        ("automata", statistics.automata),
        ("largest_automaton", statistics.largest_automaton),
        ("accelerations", statistics.accelerations),
    )
