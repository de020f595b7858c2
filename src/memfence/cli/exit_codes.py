"""What scripts may rely on: the exit codes, and which verdict has which."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfence.tasks.result import Verdict


class Exit(IntEnum):
    """2 comes from the parser of the command line."""

    HOLDS = 0
    VIOLATED = 1
    USAGE = 2
    BAD_INPUT = 3
    UNKNOWN = 4
    INTERNAL = 70


def exit_of(verdict: Verdict) -> Exit:
    """Only a proof is 0: a bounded result is not."""
    codes = {"holds": Exit.HOLDS, "violated": Exit.VIOLATED, "holds_up_to": Exit.UNKNOWN, "unknown": Exit.UNKNOWN}
    return codes[verdict.value]
