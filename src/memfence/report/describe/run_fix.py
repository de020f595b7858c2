"""The report of `memfence fix --run`, as text and as the object of the JSON contract."""

from __future__ import annotations

from memfence.report.describe.run_text import unknown_text
from memfence.report.describe.run_text import verdict_line as run_line
from memfence.report.formats.json import Object
from memfence.report.views.table import wrap
from memfence.report.words.sentences import counted
from memfence.synthesis.run_fences import RunFix, RunFixVerdict


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
