"""The report of `memfence fix` for temporal properties: which writes must be atomic, why each, and their list."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.passes.atomic_list import print_atomic_writes
from memfence.passes.atomic_writes import AtomicWrite
from memfence.program.ir import Program
from memfence.program.text.steps import step_text
from memfence.report.describe.check import what_was_asked
from memfence.report.describe.check_data import trace_list
from memfence.report.describe.check_text import DEFAULT_WIDTH
from memfence.report.describe.fix import fix_case
from memfence.report.describe.found import finding_of, tone_of_problem, top_of
from memfence.report.formats.json import Object
from memfence.report.page import Page, TableView
from memfence.report.report import Finding, Problem, Report
from memfence.report.views.run_table import run_table
from memfence.report.views.run_view import run_view
from memfence.report.views.source_view import marks_of, source_view, sources_of
from memfence.report.views.table import wrap
from memfence.report.words.coverage import assumptions
from memfence.report.words.fix_sentences import (
    asked_criterion,
    common_facts,
    common_object,
    fix_property,
    fix_scope,
    fix_verdict_line,
    stats_object,
)
from memfence.source import NOWHERE, Span
from memfence.synthesis.atomic_writes import AtomicFix, ChosenWrite
from memfence.synthesis.result import FixVerdict
from memfence.tasks.evidence import Lasso


def atomic_report(result: AtomicFix) -> Report:
    """Which writes must be atomic."""
    return Report(
        line=lambda: fix_verdict_line(result),
        text=lambda style: atomic_text(result, width=style.width, quiet=style.quiet, verbose=style.verbose),
        data=lambda: atomic_object(result),
        page=lambda: _page(result),
        findings=lambda: _findings(result),
        case=lambda: fix_case(
            result, f"memfence.{result.model}.liveness.fences", fix_property(result), result.stats.seconds
        ),
        sources=lambda: [result.program.source],
        brief=lambda: f"{result.verdict} under {result.model} ({result.criterion}), {result.program.source.path}",
    )


def _findings(result: AtomicFix) -> Iterator[Finding]:
    """One per write that is to be atomic; a single one where none is, or where none helps."""
    fixed = result.verdict is FixVerdict.FIXED
    problem: Problem = "failure" if fixed else _problem(result)
    facts = {**what_was_asked(result, asked_criterion(result), fix_scope(result)), "minimum": result.is_minimum}
    places: list[tuple[str, Span, Lasso | None]] = [
        (
            f"{_write_text(result.program, chosen.write)} must be atomic under {result.model}",
            _at(result, chosen),
            chosen.run,
        )
        for chosen in result.chosen
        if fixed
    ]
    for message, at, lasso in places or [(fix_verdict_line(result), top_of(result.program.source), result.lasso)]:
        run = None if lasso is None else lasso.trace
        yield finding_of("fences", problem, message, at, run=run, facts=facts)


def _problem(result: AtomicFix) -> Problem:
    return fix_case(result, "", "").problem


def _at(result: AtomicFix, chosen: ChosenWrite) -> Span:
    return result.program.processes[chosen.write.process].transitions[chosen.write.transition].span


def _page(result: AtomicFix) -> Page:
    program, lasso = result.program, result.lasso or next((c.run for c in result.chosen if c.run is not None), None)
    trace = None if lasso is None else lasso.trace
    sources = (program.source,) if trace is None else sources_of(trace)
    rows = tuple((_write_text(program, chosen.write), str(chosen.cost)) for chosen in result.chosen)
    return Page(
        title=f"{program.name}: atomic writes",
        subject=program.source.path,
        verdict=result.verdict.value.replace("_", " ").upper(),
        tone="good" if result.verdict is FixVerdict.FIXED else tone_of_problem(_problem(result)),
        headline=fix_property(result),
        facts=tuple((name.capitalize(), text) for name, text in _facts(result)),
        run=None if trace is None else run_view(trace, sources),
        run_title="This run is possible whatever is atomic" if result.lasso else "A run without the first of them",
        sources=tuple(source_view(one, {} if trace is None else marks_of(trace, one)) for one in sources),
        tables=(TableView("Atomic writes", ("write", "cost"), rows),) if rows else (),
        assumptions=assumptions(program, result.model),
    )


def atomic_text(result: AtomicFix, *, width: int = DEFAULT_WIDTH, quiet: bool = False, verbose: bool = False) -> str:
    """The whole report; with `quiet` its first line, with `verbose` a run for every write."""
    lines = [fix_verdict_line(result)]
    if quiet:
        return f"{lines[0]}\n"
    lines += [f"  {name:<8}{text}" for name, text in _facts(result)]
    if result.chosen:
        lines += ["", *print_atomic_writes(result.program, [c.write for c in result.chosen]).splitlines()]
    for chosen in result.chosen if verbose else ():
        lines += _run(result.program, chosen, width)
    if result.lasso is not None:
        lasso = result.lasso
        lines += ["", f"This run is possible whatever is atomic (replayed under {lasso.trace.model}):", ""]
        lines.append(run_table(lasso.trace, width, lasso.loop_start))
    return "\n".join(lines) + "\n"


def _facts(result: AtomicFix) -> list[tuple[str, str]]:
    facts = [("proof" if result.verdict is FixVerdict.FIXED else "scope", fix_scope(result))]
    if result.verdict is FixVerdict.FIXED:
        facts.append(("minimum", _minimum(result)))
        whose = "its own process" if result.waits_for == "own" else "every process"
        facts.append(("atomic", f"such a write waits until no store of {whose} is pending"))
    facts += common_facts(result)
    stats = result.stats
    searched = f"{stats.sites} writes, {stats.clauses} clauses, {stats.checks} checks, {stats.states:,} states"
    facts.append(("search", f"{searched}, {stats.seconds:.2f} s"))
    return facts


def _minimum(result: AtomicFix) -> str:
    if not result.is_minimum:
        return f"none of them can be dropped; the paper's loop chose {result.found_first} (try --minimise count)"
    return "proved: no cheaper list is enough" if result.minimise == "cost" else "proved: fewer are not enough"


def _run(program: Program, chosen: ChosenWrite, width: int) -> list[str]:
    if chosen.run is None:
        return []
    trace = chosen.run.trace
    title = f"Without {_write_text(program, chosen.write)} (replayed under {trace.model}):"
    return ["", *wrap(title, width), "", run_table(trace, width, chosen.run.loop_start)]


def _write_text(program: Program, write: AtomicWrite) -> str:
    process = program.processes[write.process]
    shown = step_text(program, write.process, process.transitions[write.transition])
    return f"`{write.variable}` of {process.name}: {shown}"


def atomic_object(result: AtomicFix) -> Object:
    """`memfence fix --json` for temporal properties, before it becomes text."""
    return {
        **common_object(result),
        "fences": [_write_object(result.program, chosen) for chosen in result.chosen],
        "count": len(result.chosen),
        "instances": len(result.chosen),
        "cost": sum(chosen.cost for chosen in result.chosen),
        "sets": None,
        "waits_for": result.waits_for,
        "writes": result.writes,
        "found_first": result.found_first,
        "list": print_atomic_writes(result.program, result.atomic),
        "trace": None if result.lasso is None else trace_list(result.lasso.trace),
        "loop_start": None if result.lasso is None else result.lasso.loop_start + 1,
        "stats": stats_object(result),
    }


def _write_object(program: Program, chosen: ChosenWrite) -> Object:
    write = chosen.write
    process = program.processes[write.process]
    transition = process.transitions[write.transition]
    is_somewhere = transition.span.source is not NOWHERE.source
    return {
        "kind": "atomic",
        "file": transition.span.source.path if is_somewhere else None,
        "line": transition.span.line if is_somewhere else None,
        "process": process.name,
        "processes": [process.name],
        "location": process.locations[transition.source].name,
        "after": step_text(program, write.process, transition),
        "transition": write.transition,
        "variable": write.variable,
        "cost": chosen.cost,
        "trace": None if chosen.run is None else trace_list(chosen.run.trace),
        "loop_start": None if chosen.run is None else chosen.run.loop_start + 1,
    }
