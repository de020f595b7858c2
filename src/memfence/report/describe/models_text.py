"""A check under several models: one table, the executions behind it, one JSON object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from memfence.digraph import is_acyclic
from memfence.program.ir import Process
from memfence.report.describe.check_data import check_object, diagnostic_object, reading_object
from memfence.report.describe.check_text import render_text
from memfence.report.formats.json import Object
from memfence.report.views.execution_view import ExecutionView, failed_text, place_text
from memfence.report.views.table import Column, render_table, wrap
from memfence.report.words.findings import headline
from memfence.report.words.sentences import UNFIT, evidence_text
from memfence.report.words.vacuity import models_warnings
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import ByDependencies, Complete, Counterexample, Limit, MayWait, OnlySc, OutOfReach
from memfence.tasks.limits import Stop, peak_megabytes
from memfence.tasks.result import ModelAnswer, ModelsResult

COLUMNS = (Column("model", 6), Column("verdict", 10), Column("loops", 8), Column("why", 20))
EVENTS = (
    Column("#", 2, align_right=True),
    Column("thread", 6),
    Column("place", 8),
    Column("event", 14),
    Column("reads", 8),
)
VOLATILE = "; volatile accesses count as relaxed, though ISO C calls races of them undefined"
STOPS = {Stop.TIMEOUT: "the time was up", Stop.MEMORY: "the memory was used up", Stop.CANCELLED: "it was interrupted"}


def render_models(result: ModelsResult, *, width: int, quiet: bool = False, verbose: bool = False) -> str:
    """The table, then one execution for each model that has one to show; `verbose`: every statistic, too."""
    rows = [cells_of(answer) for answer in result.answers]
    table = render_table(COLUMNS, rows, width) or "\n".join("  ".join(cells).rstrip() for cells in rows)
    lines = [f"{result.program.source.path}", table]
    if not quiet:
        lines += [f"note: {note}" for note in notes(result)]
        for answer in result.answers:
            lines += shown_lines(answer, width, verbose=verbose)
    if verbose:
        lines.append(f"search: {result.seconds:.2f} s, {peak_megabytes():.0f} MB")
    return "\n".join(lines) + "\n"


def notes(result: ModelsResult) -> list[str]:
    """What the verdicts do not cover."""
    reading = result.program.reading
    return [*result.program.notes, *((reading.text,) if reading is not None and reading.text else ())]


def verdict_text(answer: ModelAnswer) -> str:
    """`VIOLATED`, `HOLDS`, `NO VIOLATION`, `UNKNOWN`."""
    names = {Verdict.HOLDS: "HOLDS", Verdict.VIOLATED: "VIOLATED", Verdict.UNKNOWN: "UNKNOWN"}
    return names.get(answer.verdict, "NO VIOLATION")


def c11_line(answer: ModelAnswer) -> str:
    """What C11 says beside a verdict about x86, in one line."""
    why = "" if answer.verdict is Verdict.HOLDS else f": {reason_text(answer)}"
    volatile = VOLATILE if "volatile" in answer.program.source.text else ""
    return f"C11 (rc11) says: {verdict_text(answer)}{why}{volatile}"


def bound_text(answer: ModelAnswer) -> str:
    """How far loops were followed; nothing where an execution is shown that goes wrong."""
    if answer.verdict is Verdict.VIOLATED:
        return ""
    if isinstance(answer.evidence, OnlySc):
        return "any number"
    if answer.unrolled is None:
        return "any number" if answer.check is not None and answer.verdict is Verdict.HOLDS else ""
    if isinstance(answer.evidence, Complete) or not any(map(_has_loops, answer.program.processes)):
        return "all"
    return f"up to {answer.unrolled}"


def _has_loops(process: Process) -> bool:
    following: dict[int, list[int]] = {}
    for step in process.transitions:
        following.setdefault(step.source, []).append(step.target)
    return not is_acyclic(len(process.locations), lambda place: following.get(place, ()))


def reason_text(answer: ModelAnswer) -> str:
    """Why the verdict is what it is, in one sentence."""
    if answer.check is not None:
        return headline(answer.check)
    evidence = answer.evidence
    match evidence:
        case Counterexample():
            only = f" (with {variants_text(answer.variants)})" if answer.variants else ""
            return failed_text(evidence) + only
        case ByDependencies(without):
            return f"fails only if the compiler removes dependencies: {failed_text(without)}"
        case MayWait(span):
            return f"nothing fails, but a thread may wait for ever ({place_text(span)}) where it has a choice"
        case OutOfReach(why, span):
            place = place_text(span)
            return UNFIT[why] + (f" ({place})" if place else "")
        case Limit(stop):
            return STOPS.get(stop, "the search was stopped")
        case _:
            return evidence_text(evidence, answer.program)


def variants_text(variants: Sequence[str]) -> str:
    """The choices of compilers, such as `ldar, llsc`; `llsc` where the other choice does not matter."""
    chosen = [variant.split(", ") for variant in variants]
    ways = [tuple(dict.fromkeys(one)) for one in zip(*chosen, strict=True)]
    if set(product(*ways)) != {tuple(one) for one in chosen}:
        return "; ".join(variants)
    return ", ".join(way[0] for way in ways if len(way) == 1)


def cells_of(answer: ModelAnswer) -> tuple[str, ...]:
    return answer.name, verdict_text(answer), bound_text(answer), reason_text(answer)


def shown_lines(answer: ModelAnswer, width: int, *, verbose: bool = False) -> list[str]:
    """The run or the execution that the answer shows, below an empty line; nothing where it shows none."""
    if answer.check is not None:
        has_more = answer.check.trace is not None or verbose
        return ["", *render_text(answer.check, width=width, verbose=verbose).splitlines()] if has_more else []
    if answer.shown is None:
        return []
    without = ", without dependencies" if isinstance(answer.evidence, ByDependencies) else ""
    return ["", f"{answer.name}{without}: {failed_text(answer.shown)}", *_execution(answer.shown, width)]


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


def models_object(result: ModelsResult) -> Object:
    """`memfence check --model LIST --json`, before it becomes text."""
    return {
        "file": result.program.source.path,
        "model": ",".join(answer.name for answer in result.answers),
        "criterion": result.criterion.value,
        "verdict": result.verdict.value,
        "notes": notes(result),
        **reading_object(result.program),
        "warnings": [diagnostic_object(warning) for warning in models_warnings(result)],
        "models": [answer_object(answer) for answer in result.answers],
        "stats": {"seconds": round(result.seconds, 6)},
    }


def answer_object(answer: ModelAnswer) -> Object:
    """One model of such an object."""
    return {
        "model": answer.name,
        "verdict": answer.verdict.value,
        "unrolled": answer.unrolled,
        "variants": list(answer.variants),
        "reason": reason_text(answer),
        "execution": _execution_object(answer.shown) if answer.shown is not None else None,
        "check": check_object(answer.check) if answer.check is not None else None,
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
