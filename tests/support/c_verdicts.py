"""The verdict about a C program under every memory model, each with what it says is wrong."""

from __future__ import annotations

from memfence import check, check_models
from memfence.axiomatic.code import Check
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.program.load_options import COptions, LoadOptions
from memfence.report.describe.models_text import reason_text
from memfence.report.words.findings import finding_text
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Counterexample
from memfence.tasks.result import CheckResult, ModelAnswer

WITH_STATES = ("sc", "tso", "pso")
OF_EVENTS = ("x86", "rc11", "armv8")
MODELS = (*WITH_STATES, *OF_EVENTS)


def c_program(text: str, path: str = "test.c", **options: object) -> Program:
    return load_text(SourceText(path, text), LoadOptions(c=COptions(**options)))  # type: ignore[arg-type]


def verdicts(program: Program, models: tuple[str, ...] = MODELS) -> dict[str, tuple[str, str]]:
    """For each model the word of its verdict, and what fails: nothing but for a violation."""
    found: dict[str, tuple[str, str]] = {}
    for model in WITH_STATES:
        if model in models:
            result = check(program, model=model, criterion="safety")
            found[model] = (result.verdict.value, _failure(result))
    of_events = [model for model in models if model in OF_EVENTS]
    for answer in check_models(program, of_events).answers if of_events else ():
        is_violated = answer.verdict is Verdict.VIOLATED
        found[answer.name] = (answer.verdict.value, _reason(answer) if is_violated else "")
    return found


def _failure(result: CheckResult) -> str:
    failure = None if result.trace is None else result.trace.failure
    return (finding_text(result) or "") if failure is None else failure.reason


def _reason(answer: ModelAnswer) -> str:
    if answer.check is not None:
        return _failure(answer.check)
    match answer.evidence:
        case Counterexample() as found if found.failed is not None:
            item = found.execution.code.item_at(found.failed)
            assert isinstance(item, Check)
            return item.error or "assertion violated"
    return reason_text(answer)


def words(program: Program, models: tuple[str, ...] = MODELS) -> dict[str, str]:
    """The verdicts alone."""
    return {model: verdict for model, (verdict, _) in verdicts(program, models).items()}


def everywhere(verdict: str, models: tuple[str, ...] = MODELS) -> dict[str, str]:
    return dict.fromkeys(models, verdict)
