"""The HTML report of `memfence explore`: what was run, and the run behind the first finding."""

from __future__ import annotations

from memfence.certificates.result import NamedProofs
from memfence.execution.happens_before import explained_cycle
from memfence.questions.explore import ExploreResult
from memfence.report.describe.check import tone_of
from memfence.report.describe.explore_text import claim, finding_text, proof_lines, torn_note
from memfence.report.report import Page, TableView
from memfence.report.views.cycle_svg import cycle_sentences, cycle_svg
from memfence.report.views.run_view import run_view
from memfence.report.views.source_view import marks_of, source_view, sources_of
from memfence.report.words.reason import why_sentences
from memfence.report.words.sentences import limit_fact, stop_text

WORDS = {
    "holds": "HOLDS",
    "violated": "VIOLATED",
    "holds_up_to": "NO VIOLATION within the bounds",
    "unknown": "UNKNOWN",
}


def explore_page(result: ExploreResult, proofs: NamedProofs = ()) -> Page:
    """The page that `memfence explore --html` writes. Of several findings the last is shown: the TSO run, if any."""
    program, counts = result.program, result.counts
    shown = result.findings[-1] if result.findings else None
    run = None if shown is None else shown.trace or shown.schedule
    cycle = None if run is None else explained_cycle(run)
    sources = (program.source,) if run is None else sources_of(run)
    return Page(
        title=f"{program.name}: stateless exploration",
        subject=program.source.path,
        verdict=WORDS[result.verdict.value],
        tone=tone_of(result.verdict),
        headline=claim(result),
        facts=(*_facts(result), *((name.capitalize(), text) for name, text in proof_lines(proofs))),
        why=() if run is None else why_sentences(run),
        run=None if run is None else run_view(run, sources),
        sources=tuple(source_view(s, {} if run is None else marks_of(run, s)) for s in sources),
        cycle="" if cycle is None or run is None else cycle_svg(run, cycle),
        cycle_text=() if cycle is None or run is None else cycle_sentences(run, cycle),
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
