"""The report of fence synthesis: the patched text, what each fence keeps in order, and a run that needs it."""

from __future__ import annotations

from typing import Any

from memfence.certificates.result import Certified
from memfence.execution.happens_before import explained_cycle
from memfence.report.describe.check import what_was_asked
from memfence.report.describe.fix_text import (
    fence_reasons,
    fix_object,
    fix_text,
    kept_in_order,
    minimum_text,
    where,
    written,
)
from memfence.report.describe.found import rule, top_of
from memfence.report.describe.verify import proof_facts
from memfence.report.page import Page, TableView, Tone
from memfence.report.report import Case, Finding, Kind, Level, Patch, Problem, Report
from memfence.report.views.cycle_svg import cycle_sentences, cycle_svg
from memfence.report.views.run_tables import run_as_table
from memfence.report.views.run_view import run_view
from memfence.report.views.source_view import marks_of, source_view, sources_of
from memfence.report.words.coverage import assumptions, coverage_fact, race_warnings, warning_text
from memfence.report.words.fix_sentences import (
    common_facts,
    counted_fences,
    fix_headline,
    fix_property,
    fix_scope,
    fix_verdict_line,
)
from memfence.report.words.model_name import model_text, model_title
from memfence.report.words.reason import why_sentences
from memfence.synthesis.orders.result import OrderFix
from memfence.synthesis.result import FenceSet, Fix, FixResult, FixVerdict, PlacedFence

MOST_SETS = 50


def fix_report(result: FixResult, proof: Certified | None = None) -> Report:
    """With what became of the `proof` that the patched text works, where one was asked for."""
    return Report(
        line=lambda: fix_verdict_line(result),
        text=lambda style: fix_text(result, width=style.width, quiet=style.quiet, verbose=style.verbose),
        data=lambda: fix_object(result),
        page=lambda: fix_page(result, proof),
        findings=lambda: _findings(result),
        case=lambda: fix_case(result, f"memfence.{result.model}.{result.criterion}.fences", fix_property(result)),
        sources=lambda: [result.program.source],
        brief=lambda: f"{result.verdict} under {result.model} ({result.criterion}), {result.program.source.path}",
    )


def fix_case(result: Fix | OrderFix, group: str, asked: str) -> Case:
    """What is missing is a failure."""
    problems: dict[FixVerdict, Problem] = {FixVerdict.ALREADY_HOLDS: None, FixVerdict.UNKNOWN: "error"}
    seconds = result.seconds if isinstance(result, OrderFix) else result.stats.seconds
    return Case(
        group=group,
        name=f"{result.program.source.path}: {asked}",
        kind=result.verdict.value,
        problem=problems.get(result.verdict, "failure"),
        seconds=seconds,
    )


def _findings(result: FixResult) -> list[Finding]:
    """One per fence that is missing; a single one where no fence is, or where none helps."""
    if result.verdict is FixVerdict.FIXED:
        return [_missing(result, fence) for fence in result.chosen.fences]
    kinds: dict[FixVerdict, tuple[Kind, Level, str]] = {
        FixVerdict.ALREADY_HOLDS: ("pass", "none", "no fence is missing"),
        FixVerdict.IMPOSSIBLE: ("fail", "error", "no fence can make the program work"),
    }
    kind, level, text = kinds.get(result.verdict, ("open", "none", f"unknown: {fix_scope(result)}"))
    message = f"{result.program.source.path} under {result.model} ({result.criterion}): {text}"
    return [
        Finding(
            rule=rule("fences"),
            kind=kind,
            level=level,
            message=message,
            at=top_of(result.program.source),
            run=result.trace,
            facts=_facts_of_fences(result),
        )
    ]


def _missing(result: FixResult, fence: PlacedFence) -> Finding:
    side, count = "before" if fence.is_before else "after", result.chosen.count
    what = f"Write {count} fence{'' if count == 1 else 's'}, which is enough"
    return Finding(
        rule=rule("fences"),
        kind="fail",
        level="error",
        message=f"{fence.kind} needed {side} `{fence.text}` under {result.model} ({result.criterion})",
        at=fence.at,
        run=fence.run,
        patch=Patch(what, result.files) if result.files else None,
        facts=_facts_of_fences(result),
    )


def _facts_of_fences(result: FixResult) -> dict[str, Any]:
    return {**what_was_asked(result, fix_scope(result)), "minimum": result.is_minimum}


def fix_page(result: FixResult, proof: Certified | None = None) -> Page:
    """The page that `memfence fix --html` writes. The run is one that the first fence stops, or that none does."""
    program = result.program
    verdict, tone = _verdict(result)
    stopped = next((fence for fence in result.chosen.fences if fence.run is not None and fence.run.steps), None)
    run = result.trace if stopped is None else stopped.run
    cycle = None if run is None else explained_cycle(run)
    shown = (program.source,) if run is None else sources_of(run)
    sources = (*shown, *(one.source for one in result.files if one.source not in shown))
    texts = {one.source.path: one.text for one in result.files}
    views = tuple(source_view(s, {} if run is None else marks_of(run, s), texts.get(s.path)) for s in sources)
    why = () if run is None else why_sentences(run)
    if stopped is not None:
        why = (f"Without the {stopped.kind} {where(stopped)}, the run below is possible.", *why)
    return Page(
        title=f"{program.name}: {verdict.lower()} under {model_text(result)}",
        subject=program.source.path,
        verdict=verdict,
        tone=tone,
        headline=fix_headline(result),
        facts=(*_facts(result), *proof_facts(proof)),
        why=why,
        run=None if run is None else run_view(run, sources),
        run_title="The run" if stopped is None else f"A run without the {stopped.kind}",
        sources=views,
        cycle="" if cycle is None or run is None else cycle_svg(run, cycle),
        cycle_text=() if cycle is None or run is None else cycle_sentences(run, cycle),
        tables=(*_tables(result), *_other_runs(result)),
        warnings=tuple(warning_text(warning) for warning in race_warnings(program, result.races)),
        assumptions=assumptions(program, result.model),
        statistics=_statistics(result),
    )


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
