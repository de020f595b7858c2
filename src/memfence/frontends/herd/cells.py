"""The parts of a cell that look the same in every assembler: labels, the names of jumps' targets, operands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memfence.diagnostics import Diagnostic
from memfence.frontends.herd.layout import Piece, syntax_error
from memfence.frontends.herd.syntax import LabelHere, Target

_LABEL = re.compile(r"([A-Za-z_.]\w*)\s*:")


def split_labels(cell: Piece) -> tuple[list[LabelHere], Piece]:
    """The labels at the beginning of a cell, and the rest of it."""
    labels: list[LabelHere] = []
    text, start = cell.text, cell.span.start
    source = cell.span.source
    while found := _LABEL.match(text):
        rest = text[found.end() :].lstrip()
        labels.append(LabelHere(found[1], source.span(start, start + len(found[1]))))
        start += len(text) - len(rest)
        text = rest
    return labels, Piece(text, source.span(start, start + len(text)))


def operand_pieces(cell: Piece, offset: int) -> list[Piece]:
    """What stands from `offset` on between commas; those inside brackets do not count."""
    if not cell.text[offset:].strip():
        return []
    pieces = []
    for start, part in _parts(cell.text, offset):
        begin = cell.span.start + start + len(part) - len(part.lstrip())
        trimmed = part.strip()
        pieces.append(Piece(trimmed, cell.span.source.span(begin, begin + max(1, len(trimmed)))))
    return pieces


def _parts(text: str, start: int) -> Iterator[tuple[int, str]]:
    depth = 0
    for offset in range(start, len(text)):
        depth += {"[": 1, "]": -1}.get(text[offset], 0)
        if text[offset] == "," and depth <= 0:
            yield start, text[start:offset]
            start = offset + 1
    yield start, text[start:]


def read_target(piece: Piece, jump: str, errors: list[Diagnostic]) -> Target | None:
    """The label that a jump names; `jump` is one, for people."""
    if not re.match(r"[A-Za-z_.]\w*\Z", piece.text):
        errors.append(syntax_error(piece.span, f"`{piece.text}` is not a label", f"jump to a label, as in `{jump}`"))
        return None
    return Target(piece.text, piece.span)
