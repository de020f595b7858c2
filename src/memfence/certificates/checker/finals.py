"""Final states: exactly those outcomes that are listed are possible, each shown by a run.

Theorem 2 of `docs/theory/certificates.md`: a run that replays shows that its outcome is possible; an invariant shows
that no other is.
"""

from __future__ import annotations

from collections.abc import Collection

from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import read_object
from memfence.certificates.format.runs import steps_from_lists
from memfence.models.replay import replay
from memfence.models.state import State
from memfence.models.steps import evaluate_in, is_final
from memfence.program.expressions import EvaluationError, Expr
from memfence.program.ir import Final
from memfence.records import Record

Values = tuple[int, ...]


class Outcomes(Record):
    """What final states look like: the values of the condition and of what it observes, each with a run."""

    final: Final
    values: frozenset[Values]


def read_outcomes(question: Question, content: bytes) -> Outcomes:
    """The outcomes that runs show. Refused where a run does not replay."""
    final = question.finals[0]
    listed = read_object(content).get("runs")
    if not isinstance(listed, list):
        raise NotACertificate("the outcomes are not a list")
    return Outcomes(final, frozenset(_shown(question, final, one) for one in listed))


def _shown(question: Question, final: Final, found: object) -> Values:
    """The outcome that a run shows."""
    match found:
        case {"start": int(start), "steps": steps} if start >= 0:
            try:
                run = replay(question.program, question.model.definition, start, steps_from_lists(steps))
            except IndexError:
                raise Refused(Condition.WITNESS, "there is no such initial state") from None
            if run.stop is not None:
                raise Refused(Condition.WITNESS, run.stop.reason, state=run.end)
            if run.failure is not None or not is_final(question.program, run.end):
                raise Refused(Condition.WITNESS, "the run does not end in a final state", state=run.end)
            return outcome_of(question, final, run.end)
        case _:
            raise NotACertificate("a run of the outcomes cannot be read")


def outcome_of(question: Question, final: Final, state: State) -> Values:
    """The values in a final state; 0 for what cannot be evaluated."""
    return tuple(_value(question, state, expr) for expr in (final.expr, *(expr for _, expr in final.observed)))


def _value(question: Question, state: State, expr: Expr) -> int:
    try:
        return evaluate_in(question.program, state, 0, expr)
    except EvaluationError:
        return 0


def check_outcomes(question: Question, outcomes: Outcomes, states: Collection[State]) -> None:
    """No final state of the set has another outcome."""
    for state in states:
        if is_final(question.program, state) and outcome_of(question, outcomes.final, state) not in outcomes.values:
            raise Refused(Condition.FINAL, "its outcome is not listed", state=state)
