"""Engines that are asked at the same time: the first sure answer counts, and ends the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event

import pytest

from memfence.models.spec import TSO
from memfence.program.ir import Program
from memfence.strategy import side_by_side
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Limit
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety, Task

TASK = Task(Program("p", (), ()), TSO, Safety())
GENEROUS_SECONDS = 60.0


class Told:
    """An engine that gives an answer of this verdict; one that `waits` does so when it is told to end."""

    def __init__(self, name: str, verdict: Verdict, *, waits: bool = False, has_obstacle: bool = False) -> None:
        self.name, self.verdict, self.waits, self.has_obstacle = name, verdict, waits, has_obstacle
        self.was_asked = self.was_ended = False

    def obstacle(self, _: Task) -> Obstacle | None:
        return Obstacle.OTHER_GOAL if self.has_obstacle else None

    def answer(self, task: Task) -> Answer:
        self.was_asked, ended = True, Event()
        if self.waits and task.limits.cancel is not None:
            task.limits.cancel.when_cancelled(ended.set)
            self.was_ended = ended.wait(GENEROUS_SECONDS)
        return Answer(self.verdict, Limit(Stop.CANCELLED if self.was_ended else Stop.STATES, 0), self.name, Cost())


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Answer]:
    """Asks these engines, in their order."""

    def ask(*engines: Told, revise: Callable[[Answer], Answer] = lambda answer: answer) -> Answer:
        monkeypatch.setattr(side_by_side, "engine_named", {engine.name: engine for engine in engines}.__getitem__)
        return side_by_side.ask_side_by_side([(engine.name, TASK) for engine in engines], revise)

    return ask


@pytest.mark.parametrize("verdict", [Verdict.HOLDS, Verdict.VIOLATED])
def test_a_sure_answer_ends_the_other_engines(verdict: Verdict, ask: Callable[..., Answer]) -> None:
    slow, sure = Told("slow", Verdict.UNKNOWN, waits=True), Told("sure", verdict)
    assert ask(slow, sure).engine == "sure"
    assert slow.was_ended


def test_a_bounded_answer_is_better_than_none(ask: Callable[..., Answer]) -> None:
    found = ask(Told("first", Verdict.UNKNOWN), Told("bounded", Verdict.HOLDS_UP_TO), Told("last", Verdict.UNKNOWN))
    assert found.engine == "bounded"


def test_without_any_answer_the_first_engine_says_why(ask: Callable[..., Answer]) -> None:
    assert ask(Told("first", Verdict.UNKNOWN), Told("second", Verdict.UNKNOWN)).engine == "first"


def test_an_engine_with_an_obstacle_is_not_asked(ask: Callable[..., Answer]) -> None:
    unable = Told("unable", Verdict.HOLDS, has_obstacle=True)
    assert ask(unable, Told("able", Verdict.UNKNOWN)).engine == "able"
    assert not unable.was_asked


def test_an_answer_that_is_taken_back_does_not_count(ask: Callable[..., Answer]) -> None:
    def revise(answer: Answer) -> Answer:
        return replace(answer, verdict=Verdict.UNKNOWN) if answer.engine == "hasty" else answer

    assert ask(Told("hasty", Verdict.HOLDS), Told("sure", Verdict.VIOLATED), revise=revise).engine == "sure"
