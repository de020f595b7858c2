"""What the descriptions of all verbs share: rules, findings of verdicts and of diagnostics, cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memfence.diagnostics import Diagnostic
from memfence.report.report import Finding, Kind, Level, Problem, Rule
from memfence.source import SourceText, Span
from memfence.tasks.answer import Verdict

if TYPE_CHECKING:
    from memfence.report.page import Tone

SUMMARIES = {
    "safety": "Every reachable state and every assertion is as the program demands.",
    "persistent": "Every run has the program order and store order of some SC run.",
    "robust": "Every run has the happens-before trace of an SC run.",
    "povso": "Every run has the program order, and order of stores to each variable, of some SC run.",
    "po": "Every run has the program order of some SC run.",
    "state-robust": "Every state with empty buffers is reachable under SC.",
    "trf": "No triangular race.",
    "drf": "No data race.",
    "run": "Every execution of the program is correct, and none could go differently with store buffers.",
    "fences": "The fences that make the program work are written.",
    "orders": "The memory orders that make the program work are written.",
    "why": "Every fence is needed.",
    "mutate": "Every memory order, fence and locked operation is needed by the test.",
    "relax": "No order is stronger than it has to be.",
    "variants": "The variant works under every model.",
    "explore": "Every SC execution is correct, and none could go differently with store buffers.",
    "monitor": "No load of the recorded execution could have seen a stale value.",
    "simulate": "No step of the walk fails.",
    "certificate": "The certificate proves what it claims.",
    "reproduce": "The violation is not seen on this processor.",
    "conform": "Every outcome on this processor is one that TSO allows.",
    "cost": "The times of fences on this processor are steady.",
    "replay": "The saved execution is correct.",
}
PROBLEMS: dict[Verdict, Problem] = {
    Verdict.HOLDS: None,
    Verdict.VIOLATED: "failure",
    Verdict.HOLDS_UP_TO: "error",
    Verdict.UNKNOWN: "error",
}
"""Only a proof is green."""


def rule(name: str) -> Rule:
    """The rule of that name."""
    return Rule(f"memfence/{name}", SUMMARIES[name])


def finding_of(about: str, problem: Problem, message: str, at: Span | None, **more: Any) -> Finding:
    """The finding of a verdict, under the rule of this name; `more` are other fields of it."""
    kind, level = of_problem(problem)
    return Finding(rule=rule(about), kind=kind, level=level, message=message, at=at, **more)


def kind_and_level(verdict: Verdict) -> tuple[Kind, Level]:
    """What is neither proved nor refuted is open, never a pass."""
    return of_problem(PROBLEMS[verdict])


def of_problem(problem: Problem) -> tuple[Kind, Level]:
    """The same where a verb has verdicts of its own."""
    if problem is None:
        return "pass", "none"
    return ("fail", "error") if problem == "failure" else ("open", "none")


def top_of(source: SourceText) -> Span:
    """Where a finding is that is about all of the text."""
    return source.span(0, 0)


def of_diagnostic(diagnostic: Diagnostic, kind: Kind = "fail", level: Level | None = None) -> Finding:
    """What is wrong with an input, or what to look at."""
    from memfence.explanations import explanation

    code = diagnostic.code
    return Finding(
        rule=Rule(code.id, code.summary, explanation(code)),
        kind=kind,
        level=level or diagnostic.severity,
        message=f"{diagnostic.message} ({diagnostic.hint})" if diagnostic.hint else diagnostic.message,
        at=diagnostic.at.span,
        related=tuple((label.span, label.text or "related") for label in diagnostic.related),
    )


def of_warning(warning: Diagnostic) -> Finding:
    """A warning beside a verdict."""
    return of_diagnostic(warning, "review", "note")


def tone_of(verdict: Verdict) -> Tone:
    """The colour of a verdict: only HOLDS is green."""
    return tone_of_problem(PROBLEMS[verdict])


def tone_of_problem(problem: Problem) -> Tone:
    """Only what is proved is good."""
    return "good" if problem is None else "bad" if problem == "failure" else "open"
