"""What has no place in unrolled code."""

from __future__ import annotations

from enum import Enum, auto

from memfence.source import NOWHERE, Span


class Unfit(Enum):
    """Why a program cannot be unrolled; `report` says it in words."""

    CHANNEL = auto()
    BUS_LOCK = auto()
    DIRECT_STORE = auto()
    LOOKS_AT_OTHERS = auto()
    COMMITTED_LOCATION = auto()
    RUNS_GO_ON_AFTER_ERRORS = auto()
    ANY_NUMBER = auto()
    STORE_BEFORE_GUARD = auto()
    LOCKED_STEP = auto()
    SPLIT_ACCESS = auto()
    PROPERTY_OF_STATES = auto()
    OTHER_LANGUAGE = auto()
    NO_GRAPHS = auto()
    WAITS_BESIDE_PLAIN = auto()
    LATE_USES = auto()


class NotUnrolled(Exception):
    """The program has something that no execution of events can show."""

    def __init__(self, why: Unfit, span: Span = NOWHERE) -> None:
        super().__init__(why.name)
        self.why = why
        self.span = span
