"""The report of `memfence explore`: what was run, and the run behind the first finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence.certificates.result import NamedProofs
from memfence.deadline import Deadline
from memfence.execution.schedule import Replayable
from memfence.execution.trace import Trace
from memfence.program.ir import Program
from memfence.questions.explore import ExploreResult
from memfence.report.describe.explore_text import (
    claim,
    explore_line,
    explore_object,
    explore_text,
    finding_text,
    no_answer_object,
    no_answer_text,
    proof_lines,
    replay_object,
    replay_text,
    torn_note,
)
from memfence.report.describe.found import PROBLEMS, finding_of, rule, tone_of, top_of
from memfence.report.page import Page, TableView
from memfence.report.report import Case, Finding, Report
from memfence.report.views.run_page import with_run
from memfence.report.words.essential_places import essential_places
from memfence.report.words.reason import why_sentences
from memfence.report.words.sentences import limit_fact, stop_text
from memfence.source import SourceText
from memfence.tasks.answer import Verdict

WORDS = {
    "holds": "HOLDS",
    "violated": "VIOLATED",
    "holds_up_to": "NO VIOLATION within the bounds",
    "unknown": "UNKNOWN",
}


def explore_report(result: ExploreResult, proofs: NamedProofs = ()) -> Report:
    """With what became of the proofs, where they were asked for."""
    return Report(
        line=lambda: explore_line(result),
        text=lambda style: explore_text(result, proofs, width=style.width, quiet=style.quiet),
        data=lambda: explore_object(result, proofs),
        page=lambda: explore_page(result, proofs),
        findings=lambda: _findings(result),
        case=lambda: _case(result.program, result.verdict, result.counts.seconds),
        sources=lambda: [result.program.source],
        brief=lambda: str(result.verdict),
    )


def _case(program: Program, verdict: Verdict, seconds: float = 0.0) -> Case:
    path, problem = program.source.path, PROBLEMS[verdict]
    return Case(group="memfence.explore", name=path, kind=verdict.value, problem=problem, seconds=seconds)


def _findings(result: ExploreResult) -> Iterator[Finding]:
    """Each with its run; without any, one that says what was proved or left open."""
    for found in result.findings:
        yield _of_run(found.trace or found.schedule, found.kind, f"{found.kind.capitalize()}: {finding_text(found)}")
    if not result.findings:
        yield finding_of("explore", PROBLEMS[result.verdict], explore_line(result), top_of(result.program.source))


def _of_run(trace: Trace, kind: str, what: str) -> Finding:
    first, *others = essential_places(trace) or [(top_of(trace.program.source), "")]
    return Finding(
        rule=rule("explore"),
        kind="fail",
        level="error",
        message=" ".join([f"{what}.", *why_sentences(trace)]),
        at=first[0],
        related=tuple(others),
        run=trace,
        facts={"kind": kind},
    )


def replay_report(replayed: Sequence[Replayable]) -> Report:
    """Schedules that were run again; a walk among them claims nothing."""
    wrong = [found for found in replayed if found.kind != "walk"]
    program = replayed[0].trace.program
    return Report(
        line=lambda: replay_text(tuple(replayed), width=100, quiet=True).partition("\n")[0],
        text=lambda style: replay_text(tuple(replayed), width=style.width, quiet=style.quiet),
        data=lambda: replay_object(tuple(replayed)),
        page=lambda: _replay_page(replayed),
        findings=lambda: (_of_run(found.trace, found.kind, f"{found.kind.capitalize()}, replayed") for found in wrong),
        case=lambda: _case(program, Verdict.VIOLATED if wrong else Verdict.UNKNOWN),
        sources=lambda: [program.source],
    )


def no_answer_report(file: str, deadline: Deadline) -> Report:
    """The time was up before a run that was found could be replayed: no verdict without that."""
    line = no_answer_text(file, deadline, quiet=True).rstrip("\n")
    at = top_of(SourceText(file, ""))
    return Report(
        line=lambda: line,
        text=lambda style: no_answer_text(file, deadline, quiet=style.quiet),
        data=lambda: no_answer_object(file, deadline),
        page=lambda: Page(file, file, "UNKNOWN", "open", line, ()),
        findings=lambda: [finding_of("explore", "error", line, at)],
        case=lambda: Case(group="memfence.explore", name=file, kind="unknown", problem="error"),
        sources=lambda: [at.source],
    )


def _replay_page(replayed: Sequence[Replayable]) -> Page:
    trace = replayed[-1].trace
    is_walk = replayed[-1].kind == "walk"
    page = Page(
        title=f"{trace.program.name}: a schedule that was run again",
        subject=trace.program.source.path,
        verdict="REPLAYED" if is_walk else "VIOLATED",
        tone="open" if is_walk else "bad",
        headline=f"{replayed[-1].kind} under {trace.model}",
        facts=(),
        why=why_sentences(trace),
    )
    return with_run(page, trace.program.source, trace)


def explore_page(result: ExploreResult, proofs: NamedProofs = ()) -> Page:
    """The page that `memfence explore --html` writes. Of several findings the last is shown: the TSO run, if any."""
    program, counts = result.program, result.counts
    shown = result.findings[-1] if result.findings else None
    run = None if shown is None else shown.trace or shown.schedule
    page = Page(
        title=f"{program.name}: stateless exploration",
        subject=program.source.path,
        verdict=WORDS[result.verdict.value],
        tone=tone_of(result.verdict),
        headline=claim(result),
        facts=(*_facts(result), *((name.capitalize(), text) for name, text in proof_lines(proofs))),
        why=() if run is None else why_sentences(run),
        tables=_tables(result),
        details=tuple(f"{finding.kind.capitalize()}: {finding_text(finding)}." for finding in result.findings),
        statistics=(
            ("interleavings", f"{counts.interleavings:,}"),
            ("borderline", f"{counts.borderline:,}"),
            ("failing", f"{counts.failed:,}"),
            ("steps", f"{counts.steps:,}"),
            ("seconds", f"{counts.seconds:.2f}"),
        ),
    )
    return with_run(page, program.source, run)


def _facts(result: ExploreResult) -> tuple[tuple[str, str], ...]:
    facts = [("Executions", "one of each equivalence class" if result.reduced else "all, without reduction")]
    if result.bound is not None:
        facts.append(("Preemptions", f"at most {result.bound}"))
    if result.depth is not None:
        facts.append(("Depth", f"at most {result.depth} steps"))
    limit = stop_text(result.stop, result.limits)
    if limit is not None:
        facts.append(("Limit", limit_fact(limit)))
    facts += [("Note", note) for note in (*result.program.notes, torn_note(result)) if note is not None]
    return tuple(facts)


def _tables(result: ExploreResult) -> tuple[TableView, ...]:
    if len(result.iterations) < 2:
        return ()
    rows = tuple(
        (
            "any" if i.preemptions is None else str(i.preemptions),
            f"{i.counts.interleavings:,}",
            f"{i.counts.borderline:,}",
            f"{i.counts.failed:,}",
            f"{i.counts.seconds:.3f}",
        )
        for i in result.iterations
    )
    columns = ("preemptions", "interleavings", "borderline", "failing", "seconds")
    return (TableView("Bound by bound", columns, rows),)
