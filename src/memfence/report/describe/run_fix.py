"""The report of `memfence fix --run`: fences from executions of the compiled program."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.report.describe.found import finding_of, tone_of_problem, top_of
from memfence.report.describe.run import read_source
from memfence.report.describe.run_text import unknown_text
from memfence.report.describe.run_text import verdict_line as run_line
from memfence.report.formats.json import Object
from memfence.report.page import Page
from memfence.report.report import Case, Finding, Patch, Problem, Report
from memfence.report.views.source_view import source_view
from memfence.report.views.table import wrap
from memfence.report.words.sentences import counted
from memfence.synthesis.patch import PatchedFile
from memfence.synthesis.run_fences import RunFix, RunFixVerdict


def run_fix_report(fix: RunFix) -> Report:
    """Which fences, and why fewer are not enough."""
    problem: Problem = {RunFixVerdict.ALREADY_HOLDS: None, RunFixVerdict.UNKNOWN: "error"}.get(fix.verdict, "failure")
    return Report(
        line=lambda: _line(fix),
        text=lambda style: run_fix_text(fix, width=style.width, quiet=style.quiet),
        data=lambda: run_fix_object(fix),
        page=lambda: _page(fix, problem),
        findings=lambda: _findings(fix, problem),
        case=lambda: Case(
            group="memfence.run.fences",
            name=fix.path,
            kind=fix.verdict.value,
            problem=problem,
            seconds=fix.last.counts.seconds,
        ),
        sources=lambda: [read_source(fix.path)],
    )


def _findings(fix: RunFix, problem: Problem) -> Iterator[Finding]:
    """One per fence that is missing, each with the whole patch; else one that says why there is none."""
    source = read_source(fix.path)
    if fix.verdict is not RunFixVerdict.FIXED or fix.patched is None:
        yield finding_of("fences", problem, _line(fix), top_of(source))
        return
    what = f"Write {counted(len(fix.fences), 'fence')}, which is enough"
    patch = Patch(what, (PatchedFile(source, fix.patched),))
    for line in fix.fences:
        message = f"mfence needed after line {line}: without it an execution is borderline"
        start = source.start_of_line(line)
        yield finding_of("fences", problem, message, source.span(start, start), patch=patch)


def _page(fix: RunFix, problem: Problem) -> Page:
    source = read_source(fix.path)
    return Page(
        title=f"{fix.path}: fences from executions",
        subject=fix.path,
        verdict=fix.verdict.value.replace("_", " ").upper(),
        tone="good" if fix.verdict is RunFixVerdict.FIXED else tone_of_problem(problem),
        headline=_line(fix),
        facts=(("Runs", f"the program was compiled and explored {counted(fix.runs, 'time')}"),),
        sources=(source_view(source, {}, fix.patched),),
    )


def run_fix_text(fix: RunFix, *, width: int, quiet: bool = False) -> str:
    """The verdict, why fewer fences are not enough, and the patch."""
    lines = wrap(_line(fix), width)
    if quiet:
        return _line(fix) + "\n"
    lines += [f"  runs    the program was compiled and explored {counted(fix.runs, 'time')}"]
    for clause in fix.clauses if fix.verdict is RunFixVerdict.FIXED else ():
        places = " or ".join(f"line {line}" for line in clause)
        text = f"a fence behind {places}: with all others an execution is still borderline"
        lines += [
            f"  {'needed' if number == 0 else '':<7} {line}" for number, line in enumerate(wrap(text, width - 10))
        ]
    return "\n".join(lines) + "\n" + (f"\n{fix.diff}" if fix.diff else "")


def _line(fix: RunFix) -> str:
    match fix.verdict:
        case RunFixVerdict.FIXED:
            return f"{fix.path}: FIXED (run): {counted(len(fix.fences), 'fence')}, and no execution is borderline"
        case RunFixVerdict.ALREADY_HOLDS:
            return f"{fix.path}: NOTHING TO FIX (run): no execution is borderline"
        case RunFixVerdict.IMPOSSIBLE:
            return f"{fix.path}: IMPOSSIBLE (run): the program fails without store buffers; see {run_line(fix.first)}"
        case RunFixVerdict.UNKNOWN:
            return f"{fix.path}: UNKNOWN (run): {_obstacle(fix)}"


def _obstacle(fix: RunFix) -> str:
    if fix.last.counts.borderline:
        return "no place was found for another fence"
    return unknown_text(fix.last) if fix.last.counts.out_of_time else run_line(fix.last)


def run_fix_object(fix: RunFix) -> Object:
    """`memfence fix --run --json`."""
    return {
        "file": fix.path,
        "verdict": fix.verdict.value,
        "fences": [{"line": line, "kind": "mfence"} for line in fix.fences],
        "clauses": [list(clause) for clause in fix.clauses],
        "diff": fix.diff,
        "patched": fix.patched,
        "runs": fix.runs,
        "executions": fix.last.counts.executions,
    }
