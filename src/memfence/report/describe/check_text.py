"""The text report of a check: verdict, scope, the counterexample as a table, and why it is possible."""

from __future__ import annotations

from typing import assert_never

from memfence.execution.trace import Trace
from memfence.report.views.run_table import run_table
from memfence.report.views.shown_run import is_c
from memfence.report.views.table import wrap
from memfence.report.words.coverage import covered_facts
from memfence.report.words.findings import headline
from memfence.report.words.model_name import model_text
from memfence.report.words.next_command import more_models
from memfence.report.words.properties import criterion_name
from memfence.report.words.reason import reasons
from memfence.report.words.sentences import (
    OBSTACLES,
    advice_text,
    counted,
    detail_lines,
    limit_fact,
    limit_text,
    scope_text,
)
from memfence.tasks.answer import Tried, Verdict
from memfence.tasks.evidence import CounterexampleRun, FewThreads, Outside
from memfence.tasks.result import CheckResult, Stats

DEFAULT_WIDTH = 100


def render_text(result: CheckResult, *, width: int = DEFAULT_WIDTH, verbose: bool = False) -> str:
    """The whole report. Same result, same width: the same text, but for the time and memory that the search took."""
    lines = [verdict_line(result), *_facts(result, verbose)]
    if result.trace is not None:
        lines += ["", *_counterexample(result, result.trace, reasons(result), width)]
    details = detail_lines(result) if result.loop_start is None else ()  # the table of a lasso says itself what repeats
    for detail in details:
        lines += ["", *(wrap(detail, width) if is_c(result.program) else detail.splitlines())]
    more = more_models(result)
    lines += [] if more is None else [more]
    return "\n".join(lines) + "\n"


def verdict_line(result: CheckResult) -> str:
    """`file: VIOLATED under tso (safety): what`."""
    name = result.program.source.path if result.program.source.path != "<generated>" else result.program.name
    asked = criterion_name(result.criterion, result.properties)
    return f"{name}: {verdict_text(result)} under {model_text(result)} ({asked}): {headline(result)}"


def verdict_text(result: CheckResult) -> str:
    """`VIOLATED`, `HOLDS`, `NO VIOLATION up to buffer bound 2`, `UNKNOWN`."""
    match result.verdict:
        case Verdict.HOLDS:
            return "HOLDS"
        case Verdict.HOLDS_UP_TO:
            return f"NO VIOLATION{_bound(result)}"
        case Verdict.VIOLATED:
            return "VIOLATED"
        case Verdict.UNKNOWN:
            return "UNKNOWN"
        case _:
            assert_never(result.verdict)


def _bound(result: CheckResult) -> str:
    if isinstance(result.evidence, FewThreads):
        return f" up to {counted(result.evidence.threads, 'thread')}"
    return f" up to buffer bound {result.bound}" if result.bound is not None else ", bounded"


def is_shortest(result: CheckResult) -> bool:
    """Whether no run that shows the same is shorter, and this was proved."""
    return isinstance(result.evidence, CounterexampleRun) and result.evidence.is_shortest


def _facts(result: CheckResult, verbose: bool) -> list[str]:
    facts = [("scope", scope_text(result))]
    facts += [("note", note) for note in result.program.notes]
    facts += [*covered_facts(result.program, result.model, verbose), *limit_facts(result)]
    facts.append(("search", f"{result.engine}: {stats_text(result.stats)}"))
    if verbose:
        facts += [("tried", tried_text(one)) for one in result.answer.tried]
        facts += [(name.replace("_", " "), f"{count:,}") for name, count in result.stats.extra]
    return [f"  {name:<7} {text}" for name, text in facts]


def tried_text(one: Tried) -> str:
    """`explicit: unknown, 0.31 s, 100,000 states`."""
    why = f" ({OBSTACLES[one.evidence.obstacle]})" if isinstance(one.evidence, Outside) else ""
    return f"{one.engine}: {one.verdict}, {one.cost.seconds:.2f} s, {one.cost.states:,} states{why}"


def limit_facts(result: CheckResult) -> list[tuple[str, str]]:
    """The limit that was hit, and what to try."""
    limit, advice = limit_text(result), advice_text(result)
    facts = [] if limit is None else [("limit", limit_fact(limit))]
    return facts if advice is None else [*facts, ("try", advice.removeprefix("try "))]


def stats_text(stats: Stats) -> str:
    """`31 states, 44 transitions, 0.01 s, 12 MB`."""
    return f"{stats.states:,} states, {stats.transitions:,} transitions, {stats.seconds:.2f} s, {stats.peak_mb:.0f} MB"


def _counterexample(result: CheckResult, trace: Trace, sentences: tuple[str, ...], width: int) -> list[str]:
    count, loop_start = len(trace.steps), result.loop_start
    shortest = " (the shortest)" if is_shortest(result) else ""
    title = f"Counterexample of {count} step{'' if count == 1 else 's'}{shortest}, replayed under {trace.model}:"
    if not count:
        ever = "" if loop_start is None else ", where nothing can happen"
        return [f"Counterexample: the initial state itself{ever}."]
    why = wrap("Why: " + " ".join(sentences), width) if sentences else []
    return [title, "", run_table(trace, width, loop_start), *(["", *why] if why else [])]
