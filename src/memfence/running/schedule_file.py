"""Schedules on disk: who takes each step, and what a process needs to take the same ones again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.records import Record
from memfence.running.records import Layout
from memfence.source import SourceText

FORMAT = "memfence-schedule-1"


class SavedSchedule(Record):
    """`kind`: what it shows. `files` and `arguments`: how the program was built and called. `has_buffers`: stores wait
    until the schedule says that they reach memory."""

    kind: str
    schedule: tuple[int, ...]
    layout: Layout
    files: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    has_buffers: bool = False


def schedule_text(saved: SavedSchedule) -> str:
    """The content of the file."""
    layout = saved.layout
    value = {
        "format": FORMAT,
        "kind": saved.kind,
        "files": list(saved.files),
        "arguments": list(saved.arguments),
        "buffers": saved.has_buffers,
        "schedule": list(saved.schedule),
        "threads": [list(pair) for pair in layout.threads],
        "cells": [list(pair) for pair in layout.cells],
        "loops": list(layout.loops),
        "load_address": layout.load_address,
    }
    return json.dumps(value, indent=None) + "\n"


def replay_options(saved: SavedSchedule) -> dict[str, str | int | float | bool]:
    """What the runtime is told, to take these steps."""
    return {"replay": ",".join(map(str, saved.schedule)) or "-", "buffers": int(saved.has_buffers)}


def read_schedule(path: Path) -> SavedSchedule:
    """InputError for a file that is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text"
        raise _refusal(str(path), "", Code.UNREADABLE, f"cannot read `{path}`: {reason}") from None
    try:
        return _saved(json.loads(text))
    except (ValueError, KeyError, TypeError) as error:
        raise _refusal(
            str(path), text, Code.BAD_SCHEDULE, f"`{path}` is no schedule of `memfence run` ({error})"
        ) from None


def _saved(value: dict[str, Any]) -> SavedSchedule:
    if value["format"] != FORMAT:
        raise ValueError(f"format `{value['format']}`")
    pairs = [tuple((int(a), int(b)) for a, b in value[name]) for name in ("threads", "cells")]
    layout = Layout(int(value["load_address"]), pairs[0], pairs[1], tuple(map(int, value["loops"])))
    texts = [tuple(map(str, value[name])) for name in ("files", "arguments")]
    steps = tuple(map(int, value["schedule"]))
    has_buffers = bool(value.get("buffers", any(step < 0 for step in steps)))
    return SavedSchedule(str(value["kind"]), steps, layout, texts[0], texts[1], has_buffers)


def _refusal(path: str, text: str, code: Code, message: str) -> InputError:
    source = SourceText(path, text)
    return InputError([Diagnostic(code, message, Label(source.span(0, min(1, len(text)))))])
