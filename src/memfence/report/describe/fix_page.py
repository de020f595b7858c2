"""The page of fence synthesis: the patched text, what each fence keeps in order, and a run that needs it."""

from __future__ import annotations

from memfence.certificates.result import Certified
from memfence.report.describe.fix_text import fence_reasons, kept_in_order, minimum_text, where, written
from memfence.report.describe.verify import proof_facts
from memfence.report.page import Page, TableView, Tone
from memfence.report.views.run_page import with_run
from memfence.report.views.run_tables import run_as_table
from memfence.report.words.coverage import assumptions, coverage_fact, race_warnings, warning_text
from memfence.report.words.fix_sentences import common_facts, counted_fences, fix_headline, fix_scope
from memfence.report.words.model_name import model_text, model_title
from memfence.report.words.reason import why_sentences
from memfence.synthesis.result import FenceSet, FixResult, FixVerdict

MOST_SETS = 50


def fix_page(result: FixResult, proof: Certified | None = None) -> Page:
    """The page that `memfence fix --html` writes. The run is one that the first fence stops, or that none does."""
    program = result.program
    verdict, tone = _verdict(result)
    stopped = next((fence for fence in result.chosen.fences if fence.run is not None and fence.run.steps), None)
    run = result.trace if stopped is None else stopped.run
    why = () if run is None else why_sentences(run)
    if stopped is not None:
        why = (f"Without the {stopped.kind} {where(stopped)}, the run below is possible.", *why)
    page = Page(
        title=f"{program.name}: {verdict.lower()} under {model_text(result)}",
        subject=program.source.path,
        verdict=verdict,
        tone=tone,
        headline=fix_headline(result),
        facts=(*_facts(result), *proof_facts(proof)),
        why=why,
        run_title="The run" if stopped is None else f"A run without the {stopped.kind}",
        tables=(*_tables(result), *_other_runs(result)),
        warnings=tuple(warning_text(warning) for warning in race_warnings(program, result.races)),
        assumptions=assumptions(program, result.model),
        statistics=_statistics(result),
    )
    return with_run(page, program.source, run, patched=result.files)


def _other_runs(result: FixResult) -> tuple[TableView, ...]:
    """One run a fence: the first is the one to step through, the others are tables."""
    stopped = [fence for fence in result.chosen.fences if fence.run is not None and fence.run.steps]
    return tuple(
        run_as_table(f"A run without the {one.kind} {where(one)}", one.run, " ".join(fence_reasons(one)))
        for one in stopped[1:]
        if one.run is not None
    )


def _verdict(result: FixResult) -> tuple[str, Tone]:
    match result.verdict:
        case FixVerdict.FIXED:
            return f"FIXED with {counted_fences(result.chosen)}", "good"
        case FixVerdict.ALREADY_HOLDS:
            return "HOLDS without a new fence", "good"
        case FixVerdict.IMPOSSIBLE:
            return "NOT FIXABLE by fences", "bad"
        case FixVerdict.UNKNOWN:
            return "UNKNOWN", "open"


def _facts(result: FixResult) -> tuple[tuple[str, str], ...]:
    facts = [("Memory model", model_title(result)), ("Criterion", result.criterion.value)]
    facts.append(("Proof" if result.verdict is FixVerdict.FIXED else "Scope", fix_scope(result)))
    if result.verdict is FixVerdict.FIXED:
        facts.append(("Minimum", minimum_text(result)))
    facts += [(name.capitalize(), text) for name, text in common_facts(result)]
    facts += coverage_fact(result.program, result.model)
    return tuple(facts)


def _tables(result: FixResult) -> tuple[TableView, ...]:
    tables: list[TableView] = []
    if result.chosen.fences:
        columns = ("write", "where", "in", "which keeps in order")
        rows = tuple(
            (f"`{written(fence)}`", where(fence), ", ".join(fence.processes), kept_in_order(fence))
            for fence in result.chosen.fences
        )
        tables.append(TableView("Fences", columns, rows))
    if result.sets:
        sets = tuple((str(chosen.cost), str(chosen.count), _listed(chosen)) for chosen in result.sets[:MOST_SETS])
        left = len(result.sets) - MOST_SETS
        note = f"and {left} more" if left > 0 else "" if result.are_all else "and perhaps others: a limit was hit"
        tables.append(TableView("Every minimal set", ("cost", "edits", "fences"), sets, note))
    return tuple(tables)


def _listed(chosen: FenceSet) -> str:
    return "; ".join(f"{fence.kind} {where(fence)}" for fence in chosen.fences)


def _statistics(result: FixResult) -> tuple[tuple[str, str], ...]:
    stats = result.stats
    return (
        ("places", str(stats.sites)),
        ("runs to stop", str(stats.clauses)),
        ("checks", str(stats.checks)),
        ("states", f"{stats.states:,}"),
        ("seconds", f"{stats.seconds:.2f}"),
        ("peak memory", f"{stats.peak_mb:.0f} MB"),
    )
