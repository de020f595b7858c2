"""Schedules on disk: who takes each step, and what a process needs to take the same ones again.

A file may come from anywhere: whatever is in it is checked before the runtime sees it, and nothing in it decides what
the program is said to do.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memfence.binary.records import Layout
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.records import Record
from memfence.source import SourceText

FORMAT = "memfence-schedule-1"
MOST_THREADS = 64
MOST_BYTES = 1 << 28
"""Of a file: no schedule that can be run is longer."""
ADDRESSES = range(1 << 63)
STEPS = range(-(1 << 31), 1 << 31)
CELL_BYTES = 8
SHOWN = 40


class SavedSchedule(Record):
    """`kind`: what it showed when it was saved. `files` and `arguments`: how the program was built and called.
    `has_buffers`: stores wait until the schedule says that they reach memory."""

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


def read_schedule(path: Path) -> SavedSchedule:
    """InputError for a file that is none."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not a text"
        raise _refusal(str(path), "", Code.UNREADABLE, f"cannot read `{path}`: {reason}") from None
    try:
        if len(content) > MOST_BYTES:
            raise ValueError("it is too long")
        return _saved(_json(text))
    except ValueError as error:
        raise _refusal(
            str(path), text, Code.BAD_SCHEDULE, f"`{path}` is no schedule of `memfence run` ({error})"
        ) from None


def _json(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"this is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"{_shown(value)} is no object")
    return value


def _saved(value: dict[str, Any]) -> SavedSchedule:
    if _field(value, "format") != FORMAT:
        raise ValueError(f"`format` is {_shown(value['format'])}, not `{FORMAT}`")
    layout = Layout(
        _numbers([_field(value, "load_address")], "load_address", ADDRESSES)[0],
        _threads(_pairs(value, "threads", range(-1, MOST_THREADS), ADDRESSES)),
        _cells(_pairs(value, "cells", ADDRESSES, range(CELL_BYTES + 1))),
        _numbers(_field(value, "loops"), "loops", ADDRESSES),
    )
    kind = _texts([_field(value, "kind")], "kind")[0]
    steps = _numbers(_field(value, "schedule"), "schedule", STEPS)
    files, arguments = (_texts(_field(value, name), name) for name in ("files", "arguments"))
    has_buffers = value.get("buffers", any(step < 0 for step in steps))
    if not isinstance(has_buffers, bool):
        raise ValueError(f"`buffers` is {_shown(has_buffers)}, neither true nor false")
    return SavedSchedule(kind, steps, layout, files, arguments, has_buffers)


def _field(value: dict[str, Any], name: str) -> Any:
    if name not in value:
        raise ValueError(f"`{name}` is missing")
    return value[name]


def _shown(value: Any) -> str:
    if isinstance(value, list | dict) and value:
        return "a list" if isinstance(value, list) else "an object"
    text = json.dumps(value)
    return f"`{text if len(text) <= SHOWN else text[: SHOWN - 3] + '...'}`"


def _numbers(values: Any, name: str, within: range) -> tuple[int, ...]:
    if not isinstance(values, list):
        raise ValueError(f"`{name}` is {_shown(values)}, not a list of whole numbers")
    for value in values:
        if type(value) is not int or value not in within:
            raise ValueError(f"`{name}` has {_shown(value)}, no whole number from {within[0]} to {within[-1]}")
    return tuple(values)


def _texts(values: Any, name: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"`{name}` is {_shown(values)}, not made of texts")
    for value in values:
        if "\0" in value or value.encode(errors="replace").decode() != value:
            raise ValueError(f"`{name}` has a text that no command line can hold")
    return tuple(values)


def _pairs(value: dict[str, Any], name: str, first: range, second: range) -> tuple[tuple[int, int], ...]:
    listed = _field(value, name)
    if not isinstance(listed, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in listed):
        raise ValueError(f"`{name}` is {_shown(listed)}, not a list of pairs")
    ones, others = (_numbers([pair[i] for pair in listed], name, (first, second)[i]) for i in (0, 1))
    return tuple(zip(ones, others, strict=True))


def _threads(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Every thread but the first was created by one before it."""
    known = all(0 <= parent < number for number, (parent, _) in enumerate(pairs) if number > 0)
    if not pairs or pairs[0] != (-1, 0) or not known or len(set(pairs)) < len(pairs) or len(pairs) > MOST_THREADS:
        raise ValueError("`threads` does not begin with the main thread, or names one that no thread creates")
    return tuple(pairs)


def _cells(pairs: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Shared memory of up to eight bytes, within the eight that begin at a multiple of that."""
    for address, size in pairs:
        if size > 0 and address % CELL_BYTES + size > CELL_BYTES:
            raise ValueError(f"`cells` has {size} bytes at {address}, which are more than one cell")
    return tuple(pairs)


def _refusal(path: str, text: str, code: Code, message: str) -> InputError:
    source = SourceText(path, text)
    return InputError([Diagnostic(code, message, Label(source.span(0, min(1, len(text)))))])
