"""Why an engine does not answer a task, as data: `report.words.sentences` says it in words."""

from __future__ import annotations

from enum import Enum, auto

from memfence.models.spec import ModelSpec


class Obstacle(Enum):
    """Each is a property of the task alone: no limit that is raised would change it."""

    OTHER_GOAL = auto()
    NO_BUFFERS = auto()
    ONLY_TSO = auto()
    STORES_KEEP_ORDER = auto()
    BOUND_GIVEN = auto()
    ANY_BOUND = auto()
    LISTS_FINAL_STATES = auto()
    LOOKS_AT_MEMORY = auto()
    LOOKS_AT_BUFFERS = auto()
    ASKS_FOR_DEADLOCK = auto()
    RUNS_GO_ON_AFTER_ERRORS = auto()
    COMMITTED_LOCATION = auto()
    CHANNEL = auto()
    LONG_LOCK_REGION = auto()
    DIRECT_STORE = auto()
    LOOKS_AT_OTHERS = auto()
    OTHER_COMMUNICATION = auto()
    NOT_BY_CONTROL_FLOW = auto()
    TWO_PROCESSES_ARE_ALL = auto()
    STEP_MAY_FAIL = auto()
    NO_BOUND = auto()
    FIXED_NUMBER = auto()
    ANY_NUMBER = auto()
    MANY_VALUES = auto()
    MANY_VARIABLES = auto()
    STORE_FENCE = auto()
    TOO_COARSE = auto()
    ONLY_MORE = auto()
    LOOPS = auto()
    STORE_BEFORE_GUARD = auto()
    NOT_ABOUT_ENDS = auto()
    NO_CLUSTER = auto()
    OWN_LIMIT = auto()


def unless_unbounded(model: ModelSpec) -> Obstacle | None:
    """What keeps an engine away that is about buffers of any length."""
    if not model.has_buffers:
        return Obstacle.NO_BUFFERS
    return Obstacle.ANY_BOUND if model.is_bounded else None
