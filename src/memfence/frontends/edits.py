"""Writing fences into a text of labelled jumps, changing as little as possible.

A fence that executes after a jump is a new statement between the jump and its target: the jump is redirected to a fresh
label, and one line is added below it. A fence at a location is shared by all jumps that lead there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from memfence.frontends.frontend import EditKind
from memfence.program.ir import FenceKind, FencePoint
from memfence.records import Record


class Edit(Record):
    """Replace the characters from `start` up to `end` by `text`."""

    start: int
    end: int
    text: str


class Jump(Record):
    """A statement that ends with a jump to the label at `target_start`; it ends itself at offset `end`.

    `line(label, instruction, target)` is a new statement, written like this one.
    `rewrite(target)`, where given, are the edits and new lines that change the statement itself and make it go to
    `target`.
    """

    target: str
    target_start: int
    end: int
    line: Callable[[str, str, str], str]
    rewrite: Callable[[str], tuple[list[Edit], list[str]]] | None = None


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """`text` after all `edits`, which must not overlap; those at the same place stay in their order."""
    pieces: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        pieces += [text[done : edit.start], edit.text]
        done = edit.end
    return "".join([*pieces, text[done:]])


def placed(points: Iterable[tuple[FencePoint, EditKind]]) -> Iterator[tuple[FencePoint, EditKind, str, int, int]]:
    """Points whose keys say how and where, `after 10 20`: each once, in a fixed order."""
    for point, kind in sorted(set(points), key=lambda p: (p[0].key, p[1])):
        how, start, end = point.key.split()
        yield point, kind, how, int(start), int(end)


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def on_next_line(masked: str, end: int, word: str, blanks: str) -> Edit:
    """`word`, after `blanks`, below the line of offset `end`; on that line where more stands behind the offset."""
    line_end = masked.find("\n", end)
    line_end = len(masked) if line_end < 0 else line_end
    if masked[end:line_end].strip():
        return Edit(end, end, f" {word};")
    line_end -= masked[line_end - 1 : line_end] == "\r"
    return Edit(line_end, line_end, f"{blanks}{word};")


def fresh_label(base: str, taken: set[str]) -> str:
    """`base`, or `base` with the first number that makes it new; from now on it is taken."""
    label, number = base, 2
    while label in taken:
        label, number = f"{base}{number}", number + 1
    taken.add(label)
    return label


def fence_edits(
    text: str,
    jumps: Sequence[Jump],
    taken: set[str],
    at_location: Mapping[str, Sequence[FenceKind]],
    after_jump: Mapping[int, Sequence[FenceKind]],
    spelling: Mapping[FenceKind, str],
    comment: re.Pattern[str],
) -> list[Edit]:
    """The edits that fence the jumps of one process; `after_jump` goes by their number. `taken` labels are avoided."""
    edits: list[Edit] = []
    entries: dict[str, str] = {}
    for number, jump in enumerate(jumps):
        lines: list[str] = []

        def chain(kinds: Sequence[FenceKind], target: str, lines: list[str] = lines, jump: Jump = jump) -> str:
            for kind in reversed(kinds):
                label = fresh_label(f"{jump.target}__fence", taken)
                lines.insert(0, jump.line(label, spelling[kind], target))
                target = label
            return target

        if jump.target in at_location and jump.target not in entries:
            entries[jump.target] = chain(at_location[jump.target], jump.target)
        target = chain(after_jump.get(number, ()), entries.get(jump.target, jump.target))
        if jump.rewrite is not None:
            changes, added = jump.rewrite(target)
            edits += changes
            lines[:0] = added
        elif target != jump.target:
            edits.append(Edit(jump.target_start, jump.target_start + len(jump.target), target))
        if lines:
            edits.append(lines_below(text, jump.end, lines, comment))
    return edits


def lines_below(text: str, offset: int, lines: Sequence[str], comment: re.Pattern[str]) -> Edit:
    """The edit that adds `lines` below the statement that ends at `offset`, after a comment on its line if any."""
    newline = newline_of(text)
    end = text.find("\n", offset)
    end = len(text) if end < 0 else end - (text[end - 1 : end] == "\r")
    rest_is_empty = not comment.sub("", text[offset:end]).strip()
    added = "".join(newline + line for line in lines)
    return Edit(end, end, added) if rest_is_empty else Edit(offset, offset, added + newline)
