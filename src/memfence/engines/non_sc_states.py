"""State-robustness: does the relaxed model reach a state with empty buffers that SC does not reach?

Growing buffer bounds, as for safety: the first bound at which no store had to wait is a proof for unbounded buffers.
The symbolic twin takes buffers of any length as automata.
"""

from __future__ import annotations

from memfence.engines.iterative_deepening import HIGHEST, deepening
from memfence.engines.native.state_robustness import (
    ScStates,
    explore_non_sc_states,
    explore_sc_states,
    explore_unbounded,
    unbounded_obstacle,
)
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import (
    Bound,
    Closure,
    CounterexampleRun,
    Evidence,
    Exhausted,
    Fixpoint,
    Limit,
    NonScState,
    Route,
    ScItself,
)
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle, unless_unbounded
from memfence.tasks.task import Keeps, Task


def _is_asked(task: Task) -> bool:
    return isinstance(task.goal, Keeps) and task.goal.criterion is Criterion.STATE_ROBUST


class NonScStateEngine:
    """State-robustness by explicit search, for any model."""

    name = "explicit non-SC states"

    def obstacle(self, task: Task) -> Obstacle | None:
        return None if _is_asked(task) else Obstacle.OTHER_GOAL

    def answer(self, task: Task) -> Answer:
        if not task.spec.has_buffers:
            return Answer(Verdict.HOLDS, ScItself(), "explicit", Cost())
        sc = explore_sc_states(task.program, task.spec, task.limits, reductions=task.reductions)
        if sc.stop is not Stop.NOTHING_LEFT:
            return Answer(Verdict.UNKNOWN, Limit(sc.stop, sc.cost.states), "explicit", sc.cost)
        verdict, evidence, cost = _searched(task, sc)
        return Answer(verdict, evidence, "explicit", cost)


def _searched(task: Task, sc: ScStates) -> tuple[Verdict, Evidence, Cost]:
    cost = sc.cost
    for model in deepening(task.spec):
        found = explore_non_sc_states(sc, model, task.limits)
        cost += found.cost
        if found.found:
            return Verdict.VIOLATED, CounterexampleRun(found.trace(), NonScState()), cost
        if found.complete:
            return Verdict.HOLDS, Exhausted(model.unbounded, model.bound), cost
        if found.stop is not Stop.NOTHING_LEFT:
            return Verdict.UNKNOWN, Limit(found.stop, cost.states), cost
    return Verdict.HOLDS_UP_TO, Bound(model), cost


class UnboundedNonScStateEngine:
    """State-robustness for buffers of any length, where the symbolic search comes to an end."""

    name = "symbolic non-SC states"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not _is_asked(task):
            return Obstacle.OTHER_GOAL
        return unless_unbounded(task.spec) or unbounded_obstacle(task.program)

    def answer(self, task: Task) -> Answer:
        whole = task.within(most_states=0, timeout_seconds=None)  # the limits are for what need not end
        sc = explore_sc_states(task.program, task.spec, whole.limits, reductions=task.reductions)
        if sc.stop is not Stop.NOTHING_LEFT:
            return Answer(Verdict.UNKNOWN, Limit(sc.stop, sc.cost.states), "symbolic", sc.cost)
        found = explore_unbounded(sc, task.limits)
        cost = sc.cost + found.cost
        if not found.complete:
            return Answer(Verdict.UNKNOWN, Limit(found.stop, cost.states), "symbolic", cost)
        if found.all_under_sc:
            return Answer(Verdict.HOLDS, Fixpoint(Closure.AUTOMATA), "symbolic", cost)
        verdict, evidence, cost = _run_to_non_sc_state(whole, sc, cost)
        return Answer(verdict, evidence, "explicit", cost)


def _run_to_non_sc_state(task: Task, sc: ScStates, cost: Cost) -> tuple[Verdict, Evidence, Cost]:
    """Such a state exists: some bound is large enough."""
    stop = Stop.STATES
    for model in deepening(task.spec, HIGHEST):
        found = explore_non_sc_states(sc, model, task.limits)
        cost += found.cost
        if found.found:
            return Verdict.VIOLATED, CounterexampleRun(found.trace(), NonScState(), Route.UNBOUNDED), cost
        stop = found.stop
        if stop is not Stop.NOTHING_LEFT:
            break
    return Verdict.UNKNOWN, Limit(stop, cost.states, found=True), cost
