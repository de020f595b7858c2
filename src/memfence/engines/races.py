"""Freedom of data races and of triangular races, decided from SC exploration alone."""

from __future__ import annotations

from memfence.engines.native.races import explore_races
from memfence.passes.shared_memory_form import other_communication
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import CounterexampleRun, Limit, NoAttack, Races
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Keeps, Task


class RaceEngine:
    """Both kinds of race, for programs whose processes share memory only. A race is shown as the SC run up to it."""

    name = "sc races"

    def obstacle(self, task: Task) -> Obstacle | None:
        if not isinstance(task.goal, Keeps) or not task.goal.criterion.is_about_races:
            return Obstacle.OTHER_GOAL
        return Obstacle.OTHER_COMMUNICATION if other_communication(task.program) is not None else None

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Keeps)
        triangular = task.goal.criterion is Criterion.TRF
        found = explore_races(task.program, triangular=triangular, limits=task.limits, reductions=task.reductions)
        if found.race is not None:
            race = found.race
            shown = Races(race.process, race.other, race.variable, race.unfenced)
            return Answer(Verdict.VIOLATED, CounterexampleRun(found.trace(), shown), self.name, found.cost)
        if found.complete:
            return Answer(Verdict.HOLDS, NoAttack(), self.name, found.cost)
        return Answer(Verdict.UNKNOWN, Limit(found.stop, found.cost.states, under_sc=True), self.name, found.cost)
