"""The initial state of a litmus test in C: `[x] = 1; int y = 2; atomic_int z[2] = {0, 1};`."""

from __future__ import annotations

import re
from dataclasses import field

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.herd.dialect import Dialect
from memfence.frontends.herd.initial import read_initial
from memfence.frontends.herd.layout import Piece, piece
from memfence.frontends.herd.numbers import read_number
from memfence.frontends.herd.syntax import InitialState
from memfence.records import Record
from memfence.source import SourceText

MOST_ELEMENTS = 1000
_ARRAY = re.compile(
    r"(?:[A-Za-z_]\w*\s+)*(?P<name>[A-Za-z_]\w*)\s*\[\s*(?P<size>\d{0,9})\s*\]\s*(?:=\s*\{(?P<values>[^{}]*)\}\s*)?\Z",
    re.ASCII,
)
_NO_REGISTERS = Dialect(
    ("C",), lambda _: None, lambda number, _: str(number), "", "0:r0", "not initialised in C", False
)


class Initial(Record):
    """Initial values by location; the elements of an array `a` are locations `a[0]`, ..., one behind the other.

    `sizes`: how many elements each array has.
    """

    state: InitialState = field(default_factory=InitialState)
    sizes: dict[str, int] = field(default_factory=dict)


def read_initial_state(
    source: SourceText, text: str, start: int, end: int, threads: int, errors: list[Diagnostic]
) -> Initial:
    """The initial state; mistakes go to `errors`."""
    scalars: list[Piece] = []
    arrays: list[tuple[Piece, re.Match[str]]] = []
    for part in text[start:end].split(";"):
        item = piece(source, text, start, start + len(part))
        start += len(part) + 1
        if found := _ARRAY.match(item.text):
            arrays.append((item, found))
        elif item.text:
            scalars.append(item)
    initial = Initial(read_initial(scalars, threads, _NO_REGISTERS, errors))
    for item, found in arrays:
        _read_array(initial, item, found, errors)
    return initial


def _read_array(initial: Initial, item: Piece, found: re.Match[str], errors: list[Diagnostic]) -> None:
    name, values = found["name"], [value.strip() for value in (found["values"] or "").split(",") if value.strip()]
    size = int(found["size"] or len(values))
    if name in initial.sizes or name in initial.state.places:
        errors.append(Diagnostic(Code.DUPLICATE, f"`{name}` is initialised twice", Label(item.span)))
    if not 1 <= size <= MOST_ELEMENTS:
        what = f"an array of {size} elements is not supported"
        hint = f"arrays have 1 to {MOST_ELEMENTS} elements"
        errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(item.span), hint=hint))
        return
    if len(values) > size:
        what = f"`{name}` has {size} elements, but {len(values)} values"
        errors.append(Diagnostic(Code.OUT_OF_RANGE, what, Label(item.span)))
        return
    initial.sizes[name] = size
    for index, text in enumerate([*values, *["0"] * (size - len(values))]):
        value = read_number(text, item.span, errors)
        if value is None:
            what = f"`{text}` is not a number"
            errors.append(Diagnostic(Code.SYNTAX, what, Label(item.span), hint="write numbers, as in `{0, 1}`"))
        initial.state.locations[f"{name}[{index}]"] = value or 0
        initial.state.places[f"{name}[{index}]"] = item.span
