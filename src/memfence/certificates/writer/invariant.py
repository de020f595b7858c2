"""Invariants: the explicit search once more, with no reductions but those that the checker can follow."""

from __future__ import annotations

import json
from functools import partial

from memfence.certificates.checker.question import Question
from memfence.certificates.format.columns import Columns
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.runs import steps_as_lists
from memfence.certificates.format.sections import OBJECT, ROWS, SECTION
from memfence.certificates.writer.abridging import abridged
from memfence.certificates.writer.chunks import Chunks, NoCertificate
from memfence.certificates.writer.rows import blocks_of, capacity_of
from memfence.engines.iterative_deepening import deepening
from memfence.engines.native.explicit import Explored, explore
from memfence.execution.trace import Trace
from memfence.models.steps import starts
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Safety


def invariant_chunks(question: Question, limits: Limits, *, pending: int = 0, whole: bool = False) -> Chunks:
    """A section that proves what `question` asks of single states.

    `pending`: so many stores some run has at once. `whole`: nothing is left out of its states.
    """
    explored, left_out = abridged(question, question.model, partial(_explored, question, limits, pending), whole=whole)
    capacity = capacity_of(question.program, explored.model)
    try:
        columns = Columns(question.program, question.model.buffering, capacity)
    except NotACertificate as too_wide:
        raise NoCertificate(str(too_wide)) from None
    yield SECTION, json.dumps({"kind": "invariant", "capacity": capacity} | left_out.as_lists()).encode()
    if question.finals:
        runs = [_run(explored.trace_to(final.index)) for final in explored.final_states]
        yield OBJECT, json.dumps({"runs": runs}).encode()
    for block in blocks_of(explored, columns, left_out):
        yield ROWS, block


def _explored(question: Question, limits: Limits, pending: int, reductions: frozenset[str]) -> Explored:
    """A search that saw every state of the unbounded model, or of the bounded one that is asked about."""
    goal = safety_of(question)
    models = list(deepening(question.model))
    for model in [one for one in models if one.bound is None or one.bound >= pending] or models[-1:]:
        explored = explore(question.program, model, goal, limits=limits, reductions=reductions)
        if explored.stop is not Stop.NOTHING_LEFT or explored.refused == 0 or question.model.is_bounded:
            break
    if explored.finding is not None or explored.stop is not Stop.NOTHING_LEFT:
        raise NoCertificate("the search without reductions did not come to its end")
    if explored.refused and not question.model.is_bounded:
        raise NoCertificate("without reductions, no bound on the buffers is enough")
    return explored


def safety_of(question: Question) -> Safety:
    """The question as engines know it; deadlocks are left to the checker, for whom `end` labels count."""
    values = tuple(
        expr for final in question.finals for expr in (final.expr, *(observed for _, observed in final.observed))
    )
    return Safety(bad=question.bad, final_values=values)


def _run(trace: Trace) -> dict[str, object]:
    return {"start": _number_of_start(trace), "steps": steps_as_lists(taken.step for taken in trace.steps)}


def _number_of_start(trace: Trace) -> int:
    """Which of the initial states the run starts in."""
    return starts(trace.program, trace.memory_model).index(trace.start)
