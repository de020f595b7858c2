"""What scripts may rely on: the exit codes, and which verdict has which."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfence.report.report import Report
    from memfence.synthesis.necessity import Need
    from memfence.synthesis.result import FixVerdict
    from memfence.tasks.answer import Verdict


class Exit(IntEnum):
    """2 comes from the parser of the command line, too."""

    HOLDS = 0
    VIOLATED = 1
    USAGE = 2
    BAD_INPUT = 3
    UNKNOWN = 4
    INTERNAL = 70


class HandedOn(int):
    """The exit code of another program, a compiler or a server, that the user asked for by a verb of ours."""


MEANINGS: dict[Exit, str] = {
    Exit.HOLDS: "holds",
    Exit.VIOLATED: "violated",
    Exit.USAGE: "wrong usage",
    Exit.BAD_INPUT: "bad input",
    Exit.UNKNOWN: "unknown or only bounded",
    Exit.INTERNAL: "internal error",
}
"""The one table: the help, the README and the tests read it."""


FROM_BAD_TO_GOOD = (Exit.INTERNAL, Exit.USAGE, Exit.BAD_INPUT, Exit.VIOLATED, Exit.UNKNOWN, Exit.HOLDS)


def worst(codes: Iterable[Exit]) -> Exit:
    """The one of several that a script should see."""
    seen = set(codes)
    return next((code for code in FROM_BAD_TO_GOOD if code in seen), Exit.HOLDS)


def exit_of(verdict: Verdict, *, is_doubtful: bool = False) -> Exit:
    """Only a proof is 0: a bounded result is not, nor is one that `is_doubtful` where warnings count."""
    if is_doubtful and verdict.value == "holds":
        return Exit.VIOLATED
    codes = {"holds": Exit.HOLDS, "violated": Exit.VIOLATED, "holds_up_to": Exit.UNKNOWN, "unknown": Exit.UNKNOWN}
    return codes[verdict.value]


def exit_of_report(report: Report) -> Exit:
    """Of verbs with verdicts of their own: what CI is told, the exit code says as well."""
    return {None: Exit.HOLDS, "failure": Exit.VIOLATED, "error": Exit.UNKNOWN}[report.case().problem]


def exit_of_fix(verdict: FixVerdict, *, is_bounded: bool = False) -> Exit:
    """0 with a proof for what is written; 1 where nothing helps; 4 where the proof `is_bounded`."""
    codes = {"fixed": Exit.HOLDS, "already_holds": Exit.HOLDS, "impossible": Exit.VIOLATED, "unknown": Exit.UNKNOWN}
    code = codes[verdict.value]
    return Exit.UNKNOWN if is_bounded and code is Exit.HOLDS else code


def exit_of_why(needs: Iterable[Need]) -> Exit:
    """0 if every fence asked about is needed."""
    found = {need.value for need in needs}
    if "unknown" in found:
        return Exit.UNKNOWN
    return Exit.HOLDS if found <= {"needed"} else Exit.VIOLATED
