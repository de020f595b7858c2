"""What the checker says of the trace of a run, compared with the definitions of the criteria."""

from __future__ import annotations

from memfence.certificates.checker.question import question_of
from memfence.certificates.checker.sc_trace import has_sc_trace
from memfence.certificates.format.header import Claim
from memfence.execution.trace import Trace
from memfence.models.replay import replay
from memfence.models.spec import ModelName
from twins import criteria as twin


def check_trace_of_a_run(run: Trace, model: ModelName) -> None:
    """Both agree on whether an SC run has the same trace: of robustness, and of persistence.

    `run`: under `model`, with empty buffers at the end, of a program that has no endless runs.
    """
    question = question_of(Claim(model=model, criterion="robust"), run.program)
    replayed = replay(run.program, run.memory_model, run.start, [taken.step for taken in run.steps])
    history = twin.history_of(run)
    assert has_sc_trace(question, replayed, by_values=False) == twin.is_acyclic(history)
    allowed = {twin._order_trace(other) for other in twin.histories(run.program, "sc", model)}
    assert has_sc_trace(question, replayed, by_values=True) == (twin._order_trace(history) in allowed)
