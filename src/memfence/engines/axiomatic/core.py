"""What all models share: the code's events and values, who reads from whom, and the order of writes."""

from __future__ import annotations

from functools import cached_property

from memfence.axiomatic.code import Code
from memfence.axiomatic.execution import Place
from memfence.engines.axiomatic.clauses import Clauses
from memfence.engines.axiomatic.dependencies import Dependencies
from memfence.engines.axiomatic.events import Events
from memfence.engines.axiomatic.memory import Memory


class Core:
    """Every assignment that satisfies `clauses` is an execution of the code, if no model has a say."""

    def __init__(self, code: Code, clauses: Clauses | None = None) -> None:
        self.code = code
        self.clauses = clauses or Clauses()
        self.events = Events(code, self.clauses)
        self.memory = Memory(self.events)
        self.number_of: dict[Place, int] = {event.place: event.number for event in self.events.list}

    @cached_property
    def dependencies(self) -> Dependencies:
        return Dependencies(self.events)
