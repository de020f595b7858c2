"""The engine that asks a cluster: the explicit search, shared by its machines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, assert_never

from memfence.cluster.session import connected, phase_of
from memfence.engines.attacks import AttackEngine
from memfence.engines.cluster.attacks import SharedAttacks
from memfence.engines.cluster.cycle_search import CycleSearch, SharedCycles
from memfence.engines.cluster.rounds import Chain, Settings
from memfence.engines.cluster.search import Shared, SharedSearch
from memfence.engines.iterative_deepening import deepening
from memfence.engines.native.cycle_partition import CyclePartition
from memfence.engines.native.emptiness import find_accepted_run, lasso_of
from memfence.engines.native.emptiness import plan_of as cycle_plan_of
from memfence.engines.native.explicit import FINDINGS, plan_of, trace_of
from memfence.engines.native.partition import NativeStep, Partition
from memfence.engines.native.races import plan_of as race_plan_of
from memfence.engines.native.sc_states import sc_run
from memfence.execution.trace import Trace
from memfence.models.fairness import fairness_among
from memfence.models.spec import SC, ModelSpec
from memfence.passes.shared_memory_form import other_communication
from memfence.tasks.answer import Answer, FinalState, Verdict, outside
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Bound, CounterexampleRun, Evidence, Exhausted, Lasso, Limit, NoAttack, Races
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import GoodExecutions, Keeps, NoAcceptedRun, Safety, Task

Connect = Callable[[str], AbstractContextManager[Any]]


class ClusterEngine:
    """What the explicit and the Büchi engine and those for attacks and races decide, on the cluster of the task."""

    name = "cluster"

    def __init__(self, settings: Settings | None = None, connect: Connect = connected) -> None:
        self.settings = settings or Settings()
        self._connect = connect

    def obstacle(self, task: Task) -> Obstacle | None:
        if task.limits.cluster is None:
            return Obstacle.NO_CLUSTER
        match task.goal:
            case Safety():
                return None
            case NoAcceptedRun():
                return None if task.spec.is_bounded or not task.spec.has_buffers else Obstacle.NO_BOUND
            case Keeps(criterion) if criterion.is_about_races:
                return Obstacle.OTHER_COMMUNICATION if other_communication(task.program) is not None else None
            case Keeps():
                return AttackEngine().obstacle(task)
            case GoodExecutions():
                return Obstacle.OTHER_GOAL
            case _:
                assert_never(task.goal)

    def answer(self, task: Task) -> Answer:
        assert task.limits.cluster is not None
        if self._connect is connected:
            task.limits.announce(phase_of(task.limits.cluster))
        with self._connect(task.limits.cluster) as ray:
            match task.goal:
                case Safety():
                    return self._safety(ray, task)
                case NoAcceptedRun():
                    return self._cycles(ray, task)
                case Keeps(criterion) if criterion.is_about_races:
                    return self._races(ray, task)
                case Keeps():
                    return SharedAttacks(ray, self.settings).answer(task, self.name)
                case GoodExecutions():
                    return outside(self.name, Obstacle.OTHER_GOAL)
                case _:
                    assert_never(task.goal)

    def _safety(self, ray: Any, task: Task) -> Answer:
        cost = Cost()
        for model in deepening(task.spec):
            search = SafetySearch(task, model)
            shared = SharedSearch(ray, search.plan, search.here, task.limits, self.settings).run()
            cost += shared.cost
            if shared.stop is not Stop.NOTHING_LEFT or shared.refused == 0:
                break
        return search.answer(shared, cost)

    def _races(self, ray: Any, task: Task) -> Answer:
        search = SharedRaces(task)
        shared = SharedSearch(ray, search.plan, search.here, task.limits, self.settings).run()
        return search.answer(shared)

    def _cycles(self, ray: Any, task: Task) -> Answer:
        search = LassoSearch(task, self.settings)
        shared = CycleSearch(
            ray,
            search.plan,
            search.here,
            task.limits,
            self.settings,
            all_marks=search.all_marks,
            nearby=search.nearby,
        ).run()
        return search.answer(shared)


class SafetySearch:
    """A search of this machine's: what the others are to do, and what their states mean."""

    def __init__(self, task: Task, model: ModelSpec) -> None:
        assert isinstance(task.goal, Safety)
        self._program = task.program
        self._model = model
        self.plan = plan_of(task.program, model, task.goal, task.reductions)
        self.here = Partition(self.plan, 0, 1, 1, 0)

    def answer(self, shared: Shared, cost: Cost) -> Answer:
        verdict, evidence = self._judged(shared, cost)
        finals = tuple(
            FinalState(final.values, final.count, partial(self._trace, chain)) for final, chain in shared.finals
        )
        return Answer(verdict, evidence, ClusterEngine.name, cost, shared.counts, finals)

    def _judged(self, shared: Shared, cost: Cost) -> tuple[Verdict, Evidence]:
        if shared.finding is not None:
            found, chain = shared.finding
            more = () if found.step is None else (found.step,)
            return Verdict.VIOLATED, CounterexampleRun(self._trace(chain, more), FINDINGS[found.kind])
        if shared.stop is not Stop.NOTHING_LEFT:
            return Verdict.UNKNOWN, Limit(shared.stop, cost.states)
        if shared.refused:
            return Verdict.HOLDS_UP_TO, Bound(self._model)
        return Verdict.HOLDS, Exhausted(self._model.unbounded, self._model.bound)

    def _trace(self, chain: Chain, more: tuple[NativeStep, ...] = ()) -> Trace:
        start, path, _ = self.here.path(chain, more)
        return trace_of(self._program, self._model, self.here.encoded, self.plan.reduced, start, path)


class SharedRaces:
    """A search for races: what the others are to do, and what their states mean."""

    def __init__(self, task: Task) -> None:
        assert isinstance(task.goal, Keeps)
        self._program = task.program
        triangular = task.goal.criterion is Criterion.TRF
        self.plan = race_plan_of(task.program, triangular=triangular, reductions=task.reductions)
        self.here = Partition(self.plan, 0, 1, 1, 0)

    def answer(self, shared: Shared) -> Answer:
        verdict, evidence = self._judged(shared)
        return Answer(verdict, evidence, ClusterEngine.name, shared.cost, shared.counts)

    def _judged(self, shared: Shared) -> tuple[Verdict, Evidence]:
        if shared.finding is not None:
            found, chain = shared.finding
            assert found.race is not None
            path = self.here.path(chain, ())
            run = Trace(self._program, SC.definition, *sc_run(self._program, self.here.encoded, *path))
            race = found.race
            return Verdict.VIOLATED, CounterexampleRun(
                run, Races(race.process, race.other, race.variable, race.unfenced)
            )
        if shared.stop is not Stop.NOTHING_LEFT:
            return Verdict.UNKNOWN, Limit(shared.stop, shared.cost.states, under_sc=True)
        return Verdict.HOLDS, NoAttack()


class LassoSearch:
    """A search for an accepted run: what the others are to do, and what their states mean."""

    def __init__(self, task: Task, settings: Settings) -> None:
        assert isinstance(task.goal, NoAcceptedRun)
        self._task = task
        self._goal = task.goal
        self._settings = settings
        self.all_marks = (1 << task.goal.marks + len(task.goal.conditions)) - 1
        self.plan = cycle_plan_of(task.program, task.spec, task.goal, task.reductions)
        self.here = CyclePartition(self.plan, 0, 1, 1, 0)

    def nearby(self) -> Lasso | None:
        """The lasso of a search on this machine alone, which gives up early."""
        if not self._settings.nearby_states:
            return None
        limits = self._task.limits.within(most_states=self._settings.nearby_states)
        task = self._task
        found = find_accepted_run(task.program, task.spec, self._goal, limits=limits, reductions=task.reductions)
        return found.lasso

    def answer(self, shared: SharedCycles) -> Answer:
        verdict, evidence = self._judged(shared)
        return Answer(verdict, evidence, ClusterEngine.name, shared.cost, (("lost", shared.lost),))

    def _judged(self, shared: SharedCycles) -> tuple[Verdict, Evidence]:
        model = self._task.spec
        fair = fairness_among(self._goal.conditions)
        if shared.stop is Stop.FOUND:
            return Verdict.VIOLATED, shared.nearby or self._lasso(shared)
        if shared.stop is not Stop.NOTHING_LEFT:
            return Verdict.UNKNOWN, Limit(shared.stop, shared.cost.states)
        if shared.refused:
            return Verdict.HOLDS_UP_TO, Bound(model, fair)
        return Verdict.HOLDS, Exhausted(model.unbounded, model.bound, fair)

    def _lasso(self, shared: SharedCycles) -> Lasso:
        found = shared.lasso
        assert found is not None
        prefix = self.here.steps(found.prefix, [0] * len(found.prefix))
        cycle = self.here.steps(found.cycle, found.marks)
        start = self.here.start_of(found.prefix[0])
        return lasso_of(self._task.program, self._task.spec, self.here.encoded, start, prefix, cycle)
