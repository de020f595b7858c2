"""The reports of `memfence fix`: where the fences go, what each keeps in order, the diff, and the runs behind them."""

from __future__ import annotations

from memfence.execution.occurrences import Occurrence, pending_at_end
from memfence.execution.overtaking import Overtaken
from memfence.execution.trace import Trace
from memfence.program.ir import Program
from memfence.report.describe.check_data import trace_list
from memfence.report.describe.check_text import DEFAULT_WIDTH
from memfence.report.formats.json import Object
from memfence.report.views.run_table import run_table
from memfence.report.views.shown_run import ending_lines, value_text
from memfence.report.views.table import Column, render_table, wrap
from memfence.report.words.coverage import covered_facts, warning_lines
from memfence.report.words.fix_sentences import (
    common_facts,
    common_object,
    counted_fences,
    fix_scope,
    fix_verdict_line,
    stats_object,
)
from memfence.report.words.reason import why_sentences
from memfence.report.words.sentences import counted
from memfence.source import NOWHERE, Span
from memfence.synthesis.result import FenceSet, FixResult, FixVerdict, PlacedFence

MOST_LISTED = 20
"""Minimal sets that the text report prints."""


def fix_text(result: FixResult, *, width: int = DEFAULT_WIDTH, quiet: bool = False, verbose: bool = False) -> str:
    """The whole report; with `quiet` its first line only."""
    lines = [fix_verdict_line(result)]
    if quiet:
        return f"{lines[0]}\n"
    lines += [f"  {name:<8}{text}" for name, text in _facts(result, verbose)]
    if result.chosen.fences:
        lines += ["", *_fence_table(result.chosen, width)]
    if result.diff:
        lines += ["", result.diff.rstrip("\n")]
    lines += _sets(result, width)
    lines += _runs(result, width)
    if result.trace is not None:
        sentences = why_sentences(result.trace)
        is_claim = result.verdict is FixVerdict.IMPOSSIBLE
        title = "This run is possible whatever is fenced" if is_claim else "This run is to be stopped"
        lines += ["", *_run(title, result.trace, width, sentences)]
    warned = warning_lines(result.program, result.races, width)
    lines += ["", *warned] if warned else []
    return "\n".join(lines) + "\n"


def _facts(result: FixResult, verbose: bool) -> list[tuple[str, str]]:
    facts = [("proof" if result.verdict is FixVerdict.FIXED else "scope", fix_scope(result))]
    if result.verdict is FixVerdict.FIXED:
        facts.append(("minimum", minimum_text(result)))
    if result.in_one_step is not None:
        other = f"{counted_fences(result.in_one_step)}, cost {result.in_one_step.cost}: {_short(result.in_one_step)}"
        facts.append(("instead", f"{other} (without going by tso first, which costs {result.chosen.cost})"))
    if result.verdict is FixVerdict.UNKNOWN and result.chosen.fences:
        facts.append(("maybe", f"{counted_fences(result.chosen)}, not proved to be enough"))
    facts += [*common_facts(result), *covered_facts(result.program, result.model, verbose)]
    stats = result.stats
    parts = [counted(stats.sites, "place"), counted(stats.clauses, "clause"), counted(stats.checks, "check")]
    facts.append(("search", f"{', '.join(parts)}, {stats.states:,} states, {stats.seconds:.2f} s"))
    if verbose:
        facts.append(("memory", f"{stats.peak_mb:.0f} MB"))
    return facts


def minimum_text(result: FixResult) -> str:
    """How few, and what is known about fewer."""
    chosen = result.chosen
    if not result.is_minimum:
        return "no fence can be dropped; fewer may be enough elsewhere (try --minimise count)"
    if result.minimise == "cost":
        return f"cost {chosen.cost}: no cheaper set is enough"
    if chosen.count == 1:
        return "proved: without it the program fails"
    fewer = "one alone" if chosen.count == 2 else f"any {chosen.count - 1} places of the text"
    return f"proved: {fewer} would not be enough"


def _fence_table(chosen: FenceSet, width: int) -> list[str]:
    columns = [Column("place", 16), Column("write", 6), Column("which keeps in order", 24)]
    rows = [[_place(fence), written(fence), kept_in_order(fence)] for fence in chosen.fences]
    table = render_table(columns, rows, width)
    if table is not None:
        return table.split("\n")
    return [line for row in rows for line in wrap(": ".join(row), width)]


def where(fence: PlacedFence) -> str:
    """``after `wants[me] = true` (peterson.pml:14)``."""
    place = "" if fence.at.source is NOWHERE.source else f" ({fence.at.place})"
    return f"{_side(fence)} `{fence.text}`{place}" if fence.text else place.strip(" ()")


def written(fence: PlacedFence) -> str:
    """What is written: `mfence`, `locked`, `seq_cst`."""
    return "seq_cst" if fence.style == "store" else fence.kind


def _noun(fence: PlacedFence) -> str:
    if fence.style == "store":
        return "seq_cst order"
    return "locked write" if fence.kind == "locked" else fence.kind


def _side(fence: PlacedFence) -> str:
    if fence.kind == "locked" or fence.style == "store":
        return "of"
    return "before" if fence.is_before else "after"


def _place(fence: PlacedFence) -> str:
    lines = [] if fence.at.source is NOWHERE.source else [fence.at.place]
    return "\n".join([*lines, f"{_side(fence)} {fence.text}"] if fence.text else lines)


def kept_in_order(fence: PlacedFence) -> str:
    """The store, and the access that overtakes it without the fence."""
    pair = fence.overtaken
    if fence.run is None:
        return ""
    if pair is None:
        return "nothing (see the run below)" if pending_at_end(fence.run) else "(see the run below)"
    owner = fence.run.program.processes[pair.store.access.process].name
    return f"{owner}: {_event(fence.run.program, pair.store)} before {_later(fence.run.program, pair)}"


def fence_reasons(fence: PlacedFence) -> tuple[str, ...]:
    """Why the run without the fence is possible; where nothing is overtaken, what the fence does then."""
    run = fence.run
    if run is None:
        return ()
    pending = pending_at_end(run)
    if fence.overtaken is not None or not pending:
        return why_sentences(run)
    store = pending[0]
    owner, what = run.program.processes[store.access.process].name, _event(run.program, store)
    visible = f"The {_noun(fence)} only makes a pending store visible: `{owner}` waits until {what} is in memory."
    return (*why_sentences(run), visible, "If only the end matters, --final may need no fence.")


def _later(program: Program, pair: Overtaken) -> str:
    if pair.issued is not None:
        return _event(program, pair.issued)
    return f"the load of {program.variables[pair.by.access.variable].name}{_line(program, pair.by.span)}"


def _event(program: Program, event: Occurrence) -> str:
    variable = program.variables[event.access.variable]
    value = value_text(program, event.access.variable, event.access.value)
    return f"{variable.name} = {value}{_line(program, event.span)}"


def _line(program: Program, span: Span) -> str:
    if span.source is NOWHERE.source:
        return ""
    return f" (line {span.line})" if span.source.path == program.source.path else f" ({span.place})"


def _short(chosen: FenceSet) -> str:
    return ", ".join(f"{fence.kind} {where(fence)}" for fence in chosen.fences)


def _sets(result: FixResult, width: int) -> list[str]:
    if not result.sets:
        return []
    several = "is 1 minimal set" if len(result.sets) == 1 else f"are {len(result.sets)} minimal sets"
    more = "" if result.are_all else " and perhaps others"
    lines = ["", f"There {several}{more}; no fence in them can be dropped or made weaker:"]
    for number, chosen in enumerate(result.sets[:MOST_LISTED], 1):
        lines += wrap(f"{number:>3}. cost {chosen.cost}: {_short(chosen)}", width)
    if len(result.sets) > MOST_LISTED:
        lines.append(f"     ... and {len(result.sets) - MOST_LISTED} more (--json lists all)")
    return lines


def _runs(result: FixResult, width: int) -> list[str]:
    lines: list[str] = []
    for fence in result.chosen.fences:
        run = fence.run
        if run is None or not run.steps:
            continue
        title = f"Without the {_noun(fence)} {where(fence)}, this run is possible"
        lines += ["", *_run(title, run, width, fence_reasons(fence))]
    return lines


def _run(title: str, run: Trace, width: int, sentences: tuple[str, ...]) -> list[str]:
    why = ["", *wrap("Why: " + " ".join(sentences), width)] if sentences else []
    return [
        *wrap(f"{title} (replayed under {run.model}):", width),
        "",
        run_table(run, width),
        *why,
        *ending_lines(run, width),
    ]


def fix_object(result: FixResult) -> Object:
    """`memfence fix --json`, before it becomes text."""
    return {
        **common_object(result),
        **_set_object(result.chosen, with_runs=True),
        "sets": None if result.sets is None else [_set_object(chosen) for chosen in result.sets],
        "sets_complete": None if result.sets is None else result.are_all,
        "in_one_step": None if result.in_one_step is None else _set_object(result.in_one_step),
        "diff": result.diff,
        "patched": result.patched,
        "files": [{"file": one.source.path, "patched": one.text} for one in result.files],
        "trace": _trace(result.trace),
        "stats": stats_object(result),
    }


def _set_object(chosen: FenceSet, *, with_runs: bool = False) -> Object:
    return {
        "fences": [_fence_object(fence, with_runs) for fence in chosen.fences],
        "count": chosen.count,
        "instances": chosen.instances,
        "cost": chosen.cost,
    }


def _fence_object(fence: PlacedFence, with_run: bool) -> Object:
    is_placed = fence.at.source is not NOWHERE.source
    found: Object = {
        "kind": fence.kind,
        "style": fence.style,
        "file": fence.at.source.path if is_placed else None,
        "line": fence.at.line if is_placed else None,
        "process": fence.point.template,
        "processes": list(fence.processes),
        "location": fence.location,
        "after": None if fence.is_before else fence.text,
        "before": fence.text if fence.is_before else None,
        "cost": fence.cost,
        "loop_level": fence.level,
    }
    if with_run:
        found["trace"] = _trace(fence.run)
        found["why"] = list(fence_reasons(fence))
    return found


def _trace(trace: Trace | None) -> list[Object] | None:
    return None if trace is None else trace_list(trace)
