"""Properties in words: which one was decided, and which one a run violates. How it does so is said by `findings`."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.models.steps import evaluate_in, is_final
from memfence.program.ir import Final, Forbidden, Invariant, NoDeadlock, Program, Property, PropertyAutomaton
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import BadFinalState, BadState, CounterexampleRun, Deadlocked, StepFails
from memfence.tasks.result import CheckResult

CRITERIA: dict[Criterion, str] = {
    Criterion.PERSISTENT: "persistence: same program order and store order as some SC run",
    Criterion.ROBUST: "trace-robustness: every run has the happens-before trace of an SC run",
    Criterion.POVSO: "PoVso: same program order, and order of stores to each variable, as some SC run",
    Criterion.PO: "Po: same program order as some SC run",
    Criterion.STATE_ROBUST: "state-robustness: every state with empty buffers is reachable under SC",
    Criterion.TRF: "no triangular race",
    Criterion.DRF: "no data race",
}


def property_line(result: CheckResult) -> str:
    """What was checked; for a violation, the property that the run violates."""
    if result.criterion is not Criterion.SAFETY:
        return CRITERIA[result.criterion]
    violated = None if not isinstance(result.evidence, CounterexampleRun) else _violated(result, result.evidence)
    return violated or asked_text(result.program, result.properties)


def asked_text(program: Program, properties: tuple[Property, ...]) -> str:
    """All properties, and the assertions of the program."""
    texts = [property_text(p) for p in properties if not isinstance(p, Invariant) or p.text]
    is_temporal = any(is_about_infinite_runs(p) for p in properties)
    if program.has_assertions and not is_temporal:
        texts.append("assertions")
    return "; ".join(texts) if texts else "no run-time error"


def criterion_name(criterion: Criterion, properties: tuple[Property, ...]) -> str:
    """As `--criterion` calls it; what is asked of infinite runs is called liveness."""
    is_temporal = criterion is Criterion.SAFETY and any(map(is_about_infinite_runs, properties))
    return "liveness" if is_temporal else criterion.value


def formula_text(result: CheckResult) -> str | None:
    """What was asked of infinite runs; None where the question is about states or another criterion."""
    return "; ".join(property_text(p) for p in result.properties if is_about_infinite_runs(p)) or None


def is_about_infinite_runs(stated: Property) -> bool:
    from memfence.program.ir import Temporal

    return isinstance(stated, Temporal)


def _violated(result: CheckResult, run: CounterexampleRun) -> str | None:
    match run.finding:
        case StepFails():
            failure = run.trace.failure
            return "assertions" if failure is not None and failure.is_assertion else "no run-time error"
        case Deadlocked():
            return NoDeadlock().text
        case BadState() | BadFinalState():
            stated = violated_property(result, run.trace)
            return None if stated is None else property_text(stated)
    return None


def violated_property(result: CheckResult, trace: Trace) -> Property | None:
    """The property that the last state of the run violates."""
    stated: tuple[Property, ...] = result.properties
    if isinstance(result.evidence, CounterexampleRun) and isinstance(result.evidence.finding, BadFinalState):
        stated = tuple(one for one in stated if isinstance(one, Final))
        if len(stated) == 1:
            return stated[0]
    for one in stated:
        if isinstance(one, Forbidden | Invariant | Final) and _is_violated(result.program, one, trace):
            return one
    return None


def _is_violated(program: Program, stated: Forbidden | Invariant | Final, trace: Trace) -> bool:
    if isinstance(stated, Final) and not is_final(program, trace.end):
        return False
    truth = evaluate_in(program, trace.end, 0, stated.expr) != 0
    return truth == isinstance(stated, Forbidden)


def property_text(stated: Property) -> str:
    """The property as its author wrote it, with what it means in front."""
    match stated:
        case Forbidden(_, text):
            return f"never {text}"
        case Invariant(_, text):
            return f"always {text}"
        case Final("exists", _, text):
            return f"~{text}"
        case Final("forall", _, text, ()):
            return f"finally {text}"
        case PropertyAutomaton():
            return stated.name
        case _:
            return stated.text
