"""The engine that decides robustness against RC11 by a search of SC states."""

from __future__ import annotations

from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.engines.native.explicit import Explored, explore
from memfence.engines.rc11.monitored import PAST, RACE, monitored
from memfence.engines.rc11.single_events import with_single_events
from memfence.models.catalogue import knows, model_of
from memfence.models.spec import SC, Axioms
from memfence.models.state import ProcessStep
from memfence.program.ir import Program
from memfence.tasks.answer import Answer, Verdict, outside
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Evidence, Limit, OnlySc, OutOfReach, SeesThePast
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Keeps, Safety, Task


class MonitorEngine:
    """Robustness against a model of C's orders: HOLDS, or UNKNOWN with the place where a past may be seen.

    HOLDS is about any number of rounds of loops, and says that nothing races as well. What the monitor reports need not
    be an execution, so nothing is VIOLATED here.
    """

    name = "rc11 monitor"

    def obstacle(self, task: Task) -> Obstacle | None:
        if task.goal != Keeps(Criterion.ROBUST) or not isinstance(task.model, Axioms):
            return Obstacle.OTHER_GOAL
        model = model_of(task.model.name)
        is_known = model is not None and model.robust and knows(model.name, task.program.language)
        return None if is_known else Obstacle.OTHER_GOAL

    def answer(self, task: Task) -> Answer:
        if (obstacle := self.obstacle(task)) is not None:
            return outside(self.name, obstacle)
        assert isinstance(task.model, Axioms)
        try:
            program = watched(task.program)
        except NotUnrolled as refused:
            return Answer(Verdict.UNKNOWN, OutOfReach(refused.why, refused.span), self.name, Cost())
        found = explore(program, SC, Safety(), limits=task.limits, reductions=task.reductions)
        verdict, evidence = _judged(task.model.name, found)
        return Answer(verdict, evidence, self.name, found.cost)


def watched(program: Program) -> Program:
    """What is searched: `program` with the monitor. NotUnrolled where it has what no execution of events can show."""
    return monitored(with_single_events(synchronised(program), single_variables=True))


def _judged(model: str, found: Explored) -> tuple[Verdict, Evidence]:
    if found.finding is None:
        if found.stop is Stop.NOTHING_LEFT:
            return Verdict.HOLDS, OnlySc(model)
        return Verdict.UNKNOWN, Limit(found.stop, found.cost.states, under_sc=True)
    trace = found.trace()
    last = trace.steps[-1].step
    assert isinstance(last, ProcessStep)
    place = found.program.processes[last.process].transitions[last.transition].span
    assert trace.failure is not None
    if trace.failure.reason in (PAST, RACE):
        return Verdict.UNKNOWN, SeesThePast(last.process, place, is_race=trace.failure.reason == RACE)
    return Verdict.UNKNOWN, Limit(Stop.FOUND, found.cost.states, under_sc=True, found=True)
