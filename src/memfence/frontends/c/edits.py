"""Fences back into the source: after the statement, with braces around a lone body, and the include they need.

In the style `store`, a statement that is an atomic store of a weaker order becomes a seq_cst one instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memfence.frontends.c.statements import Statements
from memfence.frontends.edits import Edit, apply_edits
from memfence.frontends.endings import is_cpp
from memfence.frontends.frontend import EditKind, EditStyle
from memfence.program.ir import FencePoint
from memfence.source import SourceText

INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*$", re.MULTILINE)
FENCES: dict[tuple[str, str], str] = {
    ("c", "mfence"): "atomic_thread_fence(memory_order_seq_cst);",
    ("c", "sfence"): "atomic_thread_fence(memory_order_release);",
    ("cpp", "mfence"): "std::atomic_thread_fence(std::memory_order_seq_cst);",
    ("cpp", "sfence"): "std::atomic_thread_fence(std::memory_order_release);",
    ("builtin", "mfence"): "__atomic_thread_fence(__ATOMIC_SEQ_CST);",
    ("builtin", "sfence"): "__atomic_thread_fence(__ATOMIC_RELEASE);",
}
ASSEMBLY = {
    "mfence": '__asm__ __volatile__("mfence" ::: "memory");',
    "sfence": '__asm__ __volatile__("sfence" ::: "memory");',
}
STORE = re.compile(r"(?:std::)?(?:atomic_store_explicit|__atomic_store(?:_n)?)|.*(?:\.|->)\s*store", re.DOTALL)
WEAK_ORDER = re.compile(r"((?:std::)?memory_order(?:_|::)|__ATOMIC_)(relaxed|release|RELAXED|RELEASE)")
HEADERS = {"c": "<stdatomic.h>", "cpp": "<atomic>"}


BEFORE = 2
"""Added to the third number of a key where the fence goes before the statement."""


def point_key(start: int, end: int, is_lone: bool, path: str = "", *, is_before: bool = False) -> str:
    """What a fence point remembers of its statement; `path`: the file, where it is not the program's first one."""
    return f"{start}:{end}:{is_lone + BEFORE * is_before}" + (f":{path}" if path else "")


def place_of(key: str) -> tuple[int, int, bool, bool]:
    """Start and end of the statement that a key is about, whether it is alone, and whether the fence is before it."""
    start, end, how = (int(part) for part in key.split(":", 3)[:3])
    return start, end, bool(how % BEFORE), how >= BEFORE


def insert_fences(
    source: SourceText,
    points: Sequence[tuple[FencePoint, EditKind]],
    style: EditStyle = "fence",
    *,
    language: str | None = None,
) -> str:
    """The text with a fence after each statement, otherwise byte for byte the same.

    `language`: how fences are spelled, `c`, `cpp` or `builtin`, which needs no header; told by the path unless said.
    """
    language = language or ("cpp" if is_cpp(source.path) else "c")
    by_key: dict[str, list[str]] = {}
    stronger: dict[str, Edit] = {}
    for point, kind in points:
        store = stronger_store(source, point, kind, style)
        if store is not None:
            stronger[point.key] = store
            continue
        text = ASSEMBLY[kind] if style == "asm" else FENCES[language, kind]
        if text not in by_key.setdefault(point.key, []):
            by_key[point.key].append(text)
    edits = [edit for key, fences in by_key.items() for edit in fence_after(source.text, key, fences)]
    if edits and style != "asm" and language in HEADERS:
        edits += include_edit(source.text, HEADERS[language])
    return apply_edits(source.text, [*edits, *stronger.values()])


def stronger_store(source: SourceText, point: FencePoint, kind: EditKind, style: EditStyle) -> Edit | None:
    """The edit that makes the statement a seq_cst store: in that style, where all it does is store atomically."""
    start, _, _, is_before = place_of(point.key)
    if style != "store" or kind != "mfence" or is_before:
        return None
    found = Statements(source).call_at(start)
    if found is None or not found.arguments or not STORE.fullmatch(found.function):
        return None
    start, end = found.arguments[-1]
    order = WEAK_ORDER.fullmatch(source.text[start:end])
    if order is None:
        return None
    return Edit(start, end, order[1] + ("SEQ_CST" if order[2].isupper() else "seq_cst"))


def fence_after(text: str, key: str, fences: list[str]) -> list[Edit]:
    """The edits that write `fences` behind the statement of a fence point's `key`, or before it."""
    start, end, is_lone, is_before = place_of(key)
    added = " ".join(fences)
    if is_lone:
        inside = (f"{{ {added} ", " }") if is_before else ("{ ", f" {added} }}")
        return [Edit(start, start, inside[0]), Edit(end, end, inside[1])]
    if is_before:
        return [_before(text, start, added)]
    line_start = text.rfind("\n", 0, start) + 1
    indent = re.match(r"[ \t]*", text[line_start:])
    line_end = text.find("\n", end)
    rest = text[end : len(text) if line_end < 0 else line_end]
    before = text[line_start:start]
    if before.strip() or not re.fullmatch(r"\s*(//.*|/\*.*\*/\s*)?", rest):
        return [Edit(end, end, f" {added}")]
    newline = "\r\n" if "\r\n" in text else "\n"
    at = end + len(rest.rstrip("\r"))
    return [Edit(at, at, f"{newline}{indent[0] if indent else ''}{added}")]


def _before(text: str, start: int, added: str) -> Edit:
    """The fences in a line of their own, where the statement begins its line."""
    indent = text[text.rfind("\n", 0, start) + 1 : start]
    newline = "\r\n" if "\r\n" in text else "\n"
    return Edit(start, start, f"{added} " if indent.strip() else f"{added}{newline}{indent}")


def include_edit(text: str, header: str) -> list[Edit]:
    """The line that declares the fence, unless it is there: behind the first include, else at the top."""
    if re.search(r"^[ \t]*#[ \t]*include[ \t]*" + re.escape(header), text, re.MULTILINE):
        return []
    newline = "\r\n" if "\r\n" in text else "\n"
    first = INCLUDE.search(text)
    if first is None:
        return [Edit(0, 0, f"#include {header}{newline}")]
    at = first.end() - (text[first.end() - 1] == "\r")
    return [Edit(at, at, f"{newline}#include {header}")]
