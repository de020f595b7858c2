"""How a compiled program is read: which of its ends are failures, and what they are called. The table decides
(`memfence.failures`)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from memfence.failures import (
    ABORT,
    ERROR,
    EXCEPTION,
    EXIT,
    LIBRARY_EXCEPTION,
    PURE_VIRTUAL,
    RETURN_FROM_MAIN,
    SIGNAL,
    TERMINATE,
    TRAP,
    UNREACHABLE,
    Allow,
    Reading,
    reading_of,
)

FUNCTIONS = frozenset("TtWwUiV")
"""Letters of `nm` for what is defined or called."""


def reading_of_program(program: Path, allowed: tuple[Allow, ...]) -> Reading:
    """How the executable is read, by the functions that it defines or calls."""
    done = subprocess.run(["nm", str(program)], capture_output=True, text=True, check=False)
    lines = [line.split() for line in done.stdout.splitlines()]
    names = [words[-1].split("@")[0] for words in lines if len(words) > 1 and words[-2] in FUNCTIONS]
    return reading_of(names, allowed)


def reading_options(reading: Reading) -> dict[str, str | int | float | bool]:
    """What the runtime is told of it: the ends that are normal."""
    return {
        "normal_abort": reading.is_normal(ABORT),
        "normal_exit": reading.is_normal(EXIT),
        "normal_signal": reading.is_normal(SIGNAL),
    }


def ending_text(kind: str, function: str | None, status: int, message: str) -> str:
    """What happens, in the words of the table; `message` where the runtime knows more."""
    match kind:
        case "abort":
            return ABORT.text()
        case "exit status":
            return RETURN_FROM_MAIN.text(status=status) if function is None else EXIT.text(function, status)
        case "signal":
            return SIGNAL.text(function or "", message)
        case "error":
            return ERROR.text()
        case "exception":
            return LIBRARY_EXCEPTION.text(message) if message else EXCEPTION.text()
        case "terminate":
            return TERMINATE.text() if function is None else PURE_VIRTUAL.text()
        case "trap":
            return TRAP.text()
        case "unreachable":
            return UNREACHABLE.text()
        case _:
            return message
