"""The reports of `memfence why`: which fences of a program are needed, and the run that appears without each."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.execution.trace import Trace
from memfence.program.ir import Program
from memfence.report.describe.check_data import check_object
from memfence.report.describe.check_text import DEFAULT_WIDTH, verdict_line
from memfence.report.formats.json import Object
from memfence.report.views.run_table import run_table
from memfence.report.views.shown_run import ending_lines, is_c, shortened
from memfence.report.views.table import Column, render_table, wrap
from memfence.report.words.coverage import assumptions, covered_facts
from memfence.report.words.model_name import model_object
from memfence.report.words.next_command import command
from memfence.report.words.properties import property_line
from memfence.report.words.reason import why_sentences
from memfence.report.words.sentences import scope_text
from memfence.source import NOWHERE
from memfence.synthesis.necessity import Need, Reason, WhyResult
from memfence.synthesis.orderings import ExistingFence
from memfence.tasks.answer import Verdict


def necessity_text(results: Sequence[WhyResult], *, width: int = DEFAULT_WIDTH, quiet: bool = False) -> str:
    """One section a criterion; with `quiet` without the runs."""
    return "\n".join("\n".join(_section(result, width, quiet)) + "\n" for result in results)


def _section(result: WhyResult, width: int, quiet: bool) -> list[str]:
    covered = covered_facts(result.program, result.model, verbose=False)
    lines = [verdict_line(result.with_all), *(f"  {name:<7} {text}" for name, text in covered)]
    if not result.reasons:
        return [*lines, f"  there is no {_everything(result.program)} in it"]
    if result.with_all.verdict is Verdict.VIOLATED:
        return [*lines, *wrap(fails_anyway(result), width)]
    columns = [Column("place", 12), Column(title_of(result.program), 6), Column("needed?", 24)]
    rows = [[place_text(r.fence, result), what_text(r.fence, result), answer_text(r)] for r in result.reasons]
    table = render_table(columns, rows, width)
    lines += [table] if table is not None else [line for row in rows for line in wrap(": ".join(row), width)]
    if len(result.droppable) > 0 and sum(reason.need is Need.REDUNDANT for reason in result.reasons) > 1:
        places = ", ".join(place_text(fence, result) for fence in result.droppable)
        lines += wrap(f"Of the redundant ones, these can go together (proved): {places}", width)
        if not result.is_largest:
            lines += wrap("There may be a larger set of them: too many were left to try.", width)
    if quiet:
        return lines
    for reason in result.reasons:
        trace = reason.result.trace
        if reason.need is Need.NEEDED and trace is not None:
            lines += ["", *_run(reason.fence, place_text(reason.fence, result), trace, width)]
    return lines


def fails_anyway(result: WhyResult) -> str:
    """What to do where the program fails as it is: nothing can be said about what it needs."""
    asked = (result.program, "--model", result.model)
    again = f"`{command('check', *asked)}` shows the run, and `{command('fix', *asked)}` what is missing"
    return f"The program fails as it is, so that this does not tell which {_parts(result.program)} it needs: {again}."


def _parts(program: Program) -> str:
    return "fences and orders" if is_c(program) else "fences"


def _everything(program: Program) -> str:
    return "fence, seq_cst access or read-modify-write" if is_c(program) else "fence"


def title_of(program: Program) -> str:
    """The head of the column that says what orders accesses."""
    return "what" if is_c(program) else "fence"


def what_text(fence: ExistingFence, result: WhyResult) -> str:
    """`mfence`; in C the statement, and what it is on the hardware."""
    if not is_c(result.program):
        return fence.kind
    text = shortened(" ".join(fence.at.text.split())) if fence.at.source is not NOWHERE.source else ""
    return "\n".join(part for part in (text, KINDS[fence.kind]) if part)


KINDS: dict[str, str] = {
    "mfence": "mfence",
    "sfence": "sfence",
    "thread_fence": "fence",
    "store": "seq_cst store",
    "load": "seq_cst load",
    "rmw": "locked operation",
}
NEEDED: dict[str, str] = {
    "store": "NEEDED: as a release store it lets a run appear",
    "rmw": "NEEDED: without its lock a run appears",
}
REDUNDANT: dict[str, str] = {
    "store": "could be a release store (proved for what is asked)",
    "load": "could be weaker: a load is a mov, whatever its order",
    "rmw": "what is asked holds without its lock (proved); whether threads spin for ever is not asked",
}


def answer_text(reason: Reason) -> str:
    """Whether it is needed, and why."""
    kind = reason.fence.kind
    match reason.need:
        case Need.NEEDED:
            return NEEDED.get(kind, "NEEDED: without it a run appears")
        case Need.REDUNDANT if kind in REDUNDANT:
            return f"REDUNDANT: {REDUNDANT[kind]}"
        case Need.REDUNDANT:
            return f"REDUNDANT: {scope_text(reason.result)}"
        case Need.VIOLATED_ANYWAY:
            return "not asked: the program fails as it is"
        case Need.UNKNOWN:
            return f"UNKNOWN: {scope_text(reason.result)}"


def _run(fence: ExistingFence, place: str, trace: Trace, width: int) -> list[str]:
    how = weakened_text(fence, place, "Without")
    title = f"{how}, this run is possible (replayed under {trace.model}):"
    sentences = why_sentences(trace)
    why = ["", *wrap("Why: " + " ".join(sentences), width)] if sentences else []
    return [*wrap(title, width), "", run_table(trace, width), *why, *ending_lines(trace, width)]


def weakened_text(fence: ExistingFence, place: str, without: str) -> str:
    """What was done to the program to see whether it is needed: `Without the mfence at FILE:14`."""
    if fence.kind == "store":
        return f"{without} seq_cst for the store at {place}"
    if fence.kind == "rmw":
        return f"{without} the lock of the operation at {place}"
    return f"{without} the {fence.kind.replace('thread_fence', 'fence')} at {place}"


def fence_place(fence: ExistingFence) -> str:
    """`peterson.pml:15`."""
    return "generated code" if fence.at.source is NOWHERE.source else fence.at.place


def place_text(fence: ExistingFence, result: WhyResult) -> str:
    """The place, and whose fence it is where several stand in one line, as in litmus tests."""
    place = fence_place(fence)
    if is_c(result.program):
        return f"line {fence.at.line}" if fence.at.source is result.program.source else place
    if sum(fence_place(reason.fence) == place for reason in result.reasons) == 1:
        return place
    names = dict.fromkeys(result.program.processes[p].name for p, _ in sorted(fence.executed))
    return f"{place} ({', '.join(names)})"


def necessity_object(results: Sequence[WhyResult]) -> Object:
    """`memfence why --json`, before it becomes text."""
    return {"criteria": [_criterion_object(result) for result in results]}


def _criterion_object(result: WhyResult) -> Object:
    return {
        "file": result.program.source.path,
        **model_object(result),
        "criterion": result.criterion.value,
        "property": property_line(result.with_all),
        "verdict": result.with_all.verdict.value,
        "assumptions": list(assumptions(result.program, result.model)),
        "fences": [
            {**_fence_object(r.fence), "need": r.need.value, "without": check_object(r.result)} for r in result.reasons
        ],
        "droppable_together": [_fence_object(fence) for fence in result.droppable],
        "droppable_largest": result.is_largest,
    }


def _fence_object(fence: ExistingFence) -> Object:
    is_placed = fence.at.source is not NOWHERE.source
    return {
        "kind": fence.kind,
        "text": " ".join(fence.at.text.split()) if is_placed else None,
        "file": fence.at.source.path if is_placed else None,
        "line": fence.at.line if is_placed else None,
    }
