"""A check under several models: one table, the executions behind it, one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import assert_never

from memfence.axiomatic.unrolling.refusal import Unfit
from memfence.questions.portable_result import (
    ByDependencies,
    ByRuns,
    Complete,
    Counterexample,
    Cut,
    MayWait,
    ModelAnswer,
    OutOfReach,
    PortableResult,
    Stopped,
)
from memfence.report.describe.check_data import check_object, diagnostic_object, reading_object
from memfence.report.describe.check_text import render_text
from memfence.report.formats.json import Object
from memfence.report.views.execution_view import ExecutionView, failed_text, place_text
from memfence.report.views.table import Column, render_table, wrap
from memfence.report.words.doubts import portable_warnings
from memfence.report.words.findings import headline
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Stop, peak_megabytes

COLUMNS = (Column("model", 6), Column("verdict", 10), Column("loops", 8), Column("why", 20))
EVENTS = (
    Column("#", 2, align_right=True),
    Column("thread", 6),
    Column("place", 8),
    Column("event", 14),
    Column("reads", 8),
)
UNFIT: dict[Unfit, str] = {
    Unfit.CHANNEL: "processes meet at a channel",
    Unfit.BUS_LOCK: "the bus is locked over several steps",
    Unfit.DIRECT_STORE: "a store goes past the store buffer",
    Unfit.LOOKS_AT_OTHERS: "a process looks at the state of another",
    Unfit.COMMITTED_LOCATION: "there are committed locations",
    Unfit.RUNS_GO_ON_AFTER_ERRORS: "runs go on after errors",
    Unfit.ANY_NUMBER: "there is any number of threads",
    Unfit.STORE_BEFORE_GUARD: "one step stores, then reads what it waits for",
    Unfit.LOCKED_STEP: "one atomic step accesses several variables (condition variables, read-write locks)",
    Unfit.SPLIT_ACCESS: "an atomic access is of 16 bytes, or to memory of which other threads store parts",
    Unfit.OTHER_LANGUAGE: "programs in this language mean nothing under this model",
    Unfit.PROPERTY_OF_STATES: "a property of states or of infinite runs is asked for",
}

STOPS = {Stop.TIMEOUT: "the time was up", Stop.MEMORY: "the memory was used up", Stop.CANCELLED: "it was interrupted"}


def render_portable(result: PortableResult, *, width: int, quiet: bool = False, verbose: bool = False) -> str:
    """The table, then one execution for each model that has one to show; `verbose`: every statistic, too."""
    rows = [cells_of(answer) for answer in result.answers]
    table = render_table(COLUMNS, rows, width) or "\n".join("  ".join(cells).rstrip() for cells in rows)
    lines = [f"{result.program.source.path}", table]
    if not quiet:
        lines += [f"note: {note}" for note in notes(result)]
        for answer in result.answers:
            lines += _shown(answer, width, verbose)
    if verbose:
        lines.append(f"search: {result.seconds:.2f} s, {peak_megabytes():.0f} MB")
    return "\n".join(lines) + "\n"


def notes(result: PortableResult) -> list[str]:
    """What the verdicts do not cover."""
    reading = result.program.reading
    return [*result.program.notes, *((reading.text,) if reading is not None and reading.text else ())]


def verdict_text(answer: ModelAnswer) -> str:
    """`VIOLATED`, `HOLDS`, `NO VIOLATION`, `UNKNOWN`."""
    names = {Verdict.HOLDS: "HOLDS", Verdict.VIOLATED: "VIOLATED", Verdict.UNKNOWN: "UNKNOWN"}
    return names.get(answer.verdict, "NO VIOLATION")


def bound_text(answer: ModelAnswer) -> str:
    """How far loops were followed."""
    if answer.unrolled is None:
        return "any number" if isinstance(answer.evidence, ByRuns) and answer.verdict is Verdict.HOLDS else ""
    if isinstance(answer.evidence, Complete):
        return "all"
    return f"up to {answer.unrolled}"


def reason_text(answer: ModelAnswer) -> str:
    """Why the verdict is what it is, in one sentence."""
    evidence = answer.evidence
    match evidence:
        case Counterexample():
            only = f" (with {variants_text(answer.variants)})" if answer.variants else ""
            return failed_text(evidence) + only
        case Complete():
            return "no execution fails"
        case Cut():
            return f"no execution fails in which loops go round at most {answer.unrolled} times; --unroll looks further"
        case ByDependencies(without):
            return f"fails only if the compiler removes dependencies: {failed_text(without)}"
        case MayWait(span):
            return f"nothing fails, but a thread may wait for ever ({place_text(span)}) where it has a choice"
        case OutOfReach(why, span):
            place = place_text(span)
            return UNFIT[why] + (f" ({place})" if place else "")
        case Stopped(stop):
            return STOPS.get(stop, "the search was stopped")
        case ByRuns(found):
            return headline(found)
        case _:
            assert_never(evidence)


def variants_text(variants: Sequence[str]) -> str:
    """The choices of compilers, such as `ldar, llsc`; `llsc` where the other choice does not matter."""
    chosen = [variant.split(", ") for variant in variants]
    ways = [tuple(dict.fromkeys(one)) for one in zip(*chosen, strict=True)]
    if set(product(*ways)) != {tuple(one) for one in chosen}:
        return "; ".join(variants)
    return ", ".join(way[0] for way in ways if len(way) == 1)


def cells_of(answer: ModelAnswer) -> tuple[str, ...]:
    return answer.name, verdict_text(answer), bound_text(answer), reason_text(answer)


def _shown(answer: ModelAnswer, width: int, verbose: bool) -> list[str]:
    match answer.evidence:
        case Counterexample() as found:
            return ["", f"{answer.name}: {failed_text(found)}", *_execution(found, width)]
        case ByDependencies(without):
            return ["", f"{answer.name}, without dependencies: {failed_text(without)}", *_execution(without, width)]
        case ByRuns(result) if result.trace is not None or verbose:
            return ["", *render_text(result, width=width, verbose=verbose).splitlines()]
    return []


def _execution(found: Counterexample, width: int) -> list[str]:
    view = ExecutionView(found.execution)
    rows = [(str(row.number), row.thread, row.place, row.action, row.source) for row in view.rows()]
    table = (render_table(EVENTS, rows, width) if rows else "") or "\n".join("  ".join(row) for row in rows)
    return [*table.splitlines(), *(line for text in explanations(found) for line in wrap(text, width))]


def explanations(found: Counterexample) -> Iterator[str]:
    """Which stronger models forbid the execution, and by what."""
    view = ExecutionView(found.execution)
    for forbidding in found.forbidden_by:
        axiom = forbidding.finding.axiom.name
        yield f"{forbidding.model} forbids this ({axiom}): {view.cycle(forbidding)}"
    if not found.forbidden_by:
        yield "Every model allows this, also sequential consistency."


def portable_object(result: PortableResult) -> Object:
    """`memfence check --model LIST --json`, before it becomes text."""
    return {
        "file": result.program.source.path,
        "model": ",".join(answer.name for answer in result.answers),
        "criterion": Criterion.SAFETY.value,
        "verdict": result.verdict.value,
        "notes": notes(result),
        **reading_object(result.program),
        "warnings": [diagnostic_object(warning) for warning in portable_warnings(result)],
        "models": [answer_object(answer) for answer in result.answers],
        "stats": {"seconds": round(result.seconds, 6)},
    }


def answer_object(answer: ModelAnswer) -> Object:
    """One model of such an object."""
    evidence = answer.evidence
    shown = evidence.without if isinstance(evidence, ByDependencies) else evidence
    return {
        "model": answer.name,
        "verdict": answer.verdict.value,
        "unrolled": answer.unrolled,
        "variants": list(answer.variants),
        "reason": reason_text(answer),
        "execution": _execution_object(shown) if isinstance(shown, Counterexample) else None,
        "check": check_object(evidence.result) if isinstance(evidence, ByRuns) else None,
    }


def _execution_object(found: Counterexample) -> Object:
    view = ExecutionView(found.execution)
    return {
        "variant": found.model.variant,
        "events": [
            {"number": r.number, "thread": r.thread, "place": r.place, "action": r.action, "reads": r.source}
            for r in view.rows()
        ],
        "edges": [{"from": e.first, "to": e.second, "relation": e.relation} for e in view.edges()],
        "forbidden_by": list(explanations(found)) if found.forbidden_by else [],
    }
