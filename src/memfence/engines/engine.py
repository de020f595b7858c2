"""What an engine is: it says whether it can answer a task, and answers it."""

from __future__ import annotations

from typing import Protocol

from memfence.tasks.answer import Answer
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Task


class Engine(Protocol):
    """One way to answer tasks.

    `answer` promises: HOLDS only if every run was considered, VIOLATED only with a run that replayed, else UNKNOWN or
    HOLDS_UP_TO. Where `obstacle` is not None, `answer` says no more than that. All engines without an obstacle agree
    on every task that they decide; a test holds all registered engines to it.
    """

    @property
    def name(self) -> str: ...

    def obstacle(self, task: Task) -> Obstacle | None:
        """Why the engine does not answer this task; None if it tries."""

    def answer(self, task: Task) -> Answer:
        """The answer within the limits of the task."""
