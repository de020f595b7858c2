"""The engine that asks a cluster: the explicit search, shared by its machines."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from memfence.cluster.session import connected
from memfence.engines.cluster.search import Chain, Settings, Shared, SharedSearch
from memfence.engines.ladder import climb
from memfence.engines.native.explicit import FINDINGS, plan_of, trace_of
from memfence.engines.native.partition import NativeStep, Partition
from memfence.execution.trace import Trace
from memfence.models.spec import ModelSpec
from memfence.tasks.answer import Answer, FinalState, Verdict
from memfence.tasks.evidence import Bound, Evidence, Exhausted, Limit, Run
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

Connect = Callable[[str], AbstractContextManager[Any]]


class ClusterEngine:
    """Safety under any model, as the explicit engine decides it, on the cluster that the task names."""

    name = "cluster"

    def __init__(self, settings: Settings | None = None, connect: Connect = connected) -> None:
        self.settings = settings or Settings()
        self._connect = connect

    def obstacle(self, task: Task) -> Obstacle | None:
        if task.limits.cluster is None:
            return Obstacle.NO_CLUSTER
        return None if isinstance(task.goal, Safety) else Obstacle.OTHER_GOAL

    def answer(self, task: Task) -> Answer:
        assert task.limits.cluster is not None
        cost = Cost()
        with self._connect(task.limits.cluster) as ray:
            for model in climb(task.model):
                search = SafetySearch(task, model)
                shared = SharedSearch(ray, search.plan, search.here, task.limits, self.settings).run()
                cost += shared.cost
                if shared.stop is not Stop.NOTHING_LEFT or shared.refused == 0:
                    break
        return search.answer(shared, cost)


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
        return Answer(verdict, evidence, ClusterEngine.name, cost, (("lost", shared.lost),), finals)

    def _judged(self, shared: Shared, cost: Cost) -> tuple[Verdict, Evidence]:
        if shared.finding is not None:
            found, chain = shared.finding
            more = () if found.step is None else (found.step,)
            return Verdict.VIOLATED, Run(self._trace(chain, more), FINDINGS[found.kind])
        if shared.stop is not Stop.NOTHING_LEFT:
            return Verdict.UNKNOWN, Limit(shared.stop, cost.states)
        if shared.refused:
            return Verdict.HOLDS_UP_TO, Bound(self._model)
        return Verdict.HOLDS, Exhausted(self._model.unbounded, self._model.bound)

    def _trace(self, chain: Chain, more: tuple[NativeStep, ...] = ()) -> Trace:
        start, path, _ = self.here.path(chain, more)
        return trace_of(self._program, self._model, self.here.encoded, self.plan.reduced, start, path)
