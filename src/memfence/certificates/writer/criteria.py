"""Criteria: every state of SC, or for state-robustness of the model itself, for the checker to look at one by one."""

from __future__ import annotations

import json

from memfence.certificates.checker.criteria import require_shared_memory, require_single_stores
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.columns import Columns
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.sections import ROWS, SECTION
from memfence.certificates.writer.chunks import Chunks, NoCertificate
from memfence.certificates.writer.rows import blocks_of
from memfence.engines.ladder import climb
from memfence.engines.native.explicit import explore
from memfence.models.spec import SC, ModelSpec
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Safety

SECTIONS = {"drf": "race-free", "persistent": "persistent"}
"""Criteria that are decided by looking at the states of SC, and the sections that prove them."""


def sc_chunks(kind: str, question: Question, limits: Limits) -> Chunks:
    """A section with every state of SC, for programs that the checker knows the criterion of."""
    try:
        (require_shared_memory if kind == "race-free" else require_single_stores)(question.program)
    except Refused as reason:
        raise NoCertificate(reason.detail) from None
    yield from _states(kind, question, SC, limits)


def state_robust_chunks(question: Question, limits: Limits) -> Chunks:
    """A section with every state of the model."""
    return _states("state-robust", question, question.model, limits)


def _states(kind: str, question: Question, asked: ModelSpec, limits: Limits) -> Chunks:
    for model in climb(asked):
        explored = explore(question.program, model, Safety(), limits=limits)
        if explored.stop is not Stop.NOTHING_LEFT or explored.refused == 0:
            break
    if explored.finding is not None:
        raise NoCertificate("a step of the program fails, and such programs are not covered")
    if explored.stop is not Stop.NOTHING_LEFT or explored.refused:
        raise NoCertificate("the search without reductions did not come to its end")
    capacity = explored.model.bound or 0
    try:
        columns = Columns(question.program, asked.buffering, capacity)
    except NotACertificate as too_wide:
        raise NoCertificate(str(too_wide)) from None
    yield SECTION, json.dumps({"kind": kind, "capacity": capacity}).encode()
    for block in blocks_of(explored, columns):
        yield ROWS, block
