"""Ctrl-C, SIGTERM, or a limit that was hit where there is no result to report: a plain UNKNOWN, as an object where
`--json` was given.

What was asked is taken from the command line as it was typed: an interrupt may come before it was understood.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memfence.cli.exit_codes import Exit
from memfence.cli.progress import close_progress

INTERRUPTED = "interrupted"
NOTHING_SAID: dict[str, list[str]] = {"assumptions": [], "warnings": []}


def report_interruption(arguments: Sequence[str] | None = None, *, limit: str = INTERRUPTED) -> Exit:
    """Say that no answer was found, and the `limit` that was hit; `arguments` are those of the command line."""
    close_progress()
    arguments = sys.argv[1:] if arguments is None else arguments
    if "--json" in arguments:
        sys.stdout.write(json.dumps(interrupted_object(arguments, limit), indent=2, ensure_ascii=False) + "\n")
    else:
        sys.stderr.write(f"UNKNOWN: {limit}\n")
    _forget_interrupt()
    return Exit.UNKNOWN


def _forget_interrupt() -> None:
    """Let our exit code stand. CPython remembers an interrupt that ended an `exec` of a text (dataclasses are made by
    one), and then dies by the signal in the end, whether it was answered or not; the next `exec` makes it forget."""
    exec("")


def interrupted_object(arguments: Sequence[str], limit: str = INTERRUPTED) -> dict[str, Any]:
    """The least that the schema of the command asks for."""
    command = next(iter(arguments), "")
    file = next((argument for argument in arguments[1:] if argument == "-" or Path(argument).is_file()), "")
    asked = {"file": "<stdin>" if file == "-" else file, "model": _value(arguments, "--model", "tso")}
    asked["criterion"] = _value(arguments, "--criterion", "safety")
    answers: dict[str, dict[str, Any]] = {
        "check": {**asked, "engine": "none", "property": "", "bound": None, "trace": None, **NOTHING_SAID},
        "fix": {**asked, "fences": [], "count": 0, "instances": 0, "minimum": False, "sets": None, **NOTHING_SAID},
        "why": {"criteria": []},
        "compare": {"file": asked["file"], "notes": [], "criteria": {}},
        "explore": {"file": asked["file"], "interleavings": 0, "borderline": 0, "bound": None},
        "monitor": {"file": asked["file"], "event": None},
    }
    return {**answers.get(command, {}), "verdict": "unknown", "limit": limit, "stats": _stats(command)}


def _value(arguments: Sequence[str], option: str, default: str) -> str:
    for position, argument in enumerate(arguments):
        if argument == option and position + 1 < len(arguments):
            return arguments[position + 1]
        if argument.startswith(f"{option}="):
            return argument.partition("=")[2]
    return default


def _stats(command: str) -> dict[str, float]:
    names = {
        "fix": ("sites", "clauses", "checks", "states", "seconds", "peak_mb"),
        "explore": ("steps", "redundant", "seconds"),
    }
    return dict.fromkeys(names.get(command, ("states", "transitions", "seconds", "peak_mb")), 0)
