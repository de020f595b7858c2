"""Memory orders in the text of C and C++: where each access names its own, and what a stronger one looks like there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from memfence.frontends.c.edits import HEADERS, fence_after, include_edit
from memfence.frontends.c.statements import CPP, Call, Statements
from memfence.frontends.edits import Edit, apply_edits
from memfence.program.ir import FencePoint
from memfence.program.orders import MemoryOrder
from memfence.records import dataclass
from memfence.source import SourceText, Span

ORDER = re.compile(
    r"(?P<prefix>(?:std::)?memory_order(?:_|::)|__ATOMIC_)"
    r"(?P<order>relaxed|consume|acquire|release|acq_rel|seq_cst|RELAXED|CONSUME|ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)"
)


@dataclass(frozen=True, slots=True)
class StrongerOrder:
    """The access or fence at `span` gets `order`."""

    span: Span
    order: MemoryOrder


@dataclass(frozen=True, slots=True)
class NewFence:
    """A C11 fence behind the statement of `point`."""

    point: FencePoint
    order: MemoryOrder


def names_its_order(source: SourceText, span: Span, order: MemoryOrder) -> bool:
    """Whether the text at `span` says this order itself, so that an edit there changes this access and no other."""
    return _token(source, span, order) is not None


def with_orders(source: SourceText, edits: Sequence[tuple[MemoryOrder, StrongerOrder] | NewFence]) -> str:
    """The text with every edit made, otherwise byte for byte the same. With a `StrongerOrder` comes the old order."""
    language = "cpp" if Path(source.path).suffix in CPP else "c"
    changes: list[Edit] = []
    fences: dict[str, list[str]] = {}
    for edit in edits:
        if isinstance(edit, NewFence):
            fences.setdefault(edit.point.key, []).append(_fence(language, edit.order))
            continue
        old, stronger = edit
        token = _token(source, stronger.span, old)
        assert token is not None, "find out by names_its_order before"
        changes.append(token.replaced_by(stronger.order))
    for key, texts in fences.items():
        changes += fence_after(source.text, key, texts)
    if fences:
        changes += include_edit(source.text, HEADERS[language])
    return apply_edits(source.text, changes)


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    prefix: str
    is_upper: bool

    def replaced_by(self, order: MemoryOrder) -> Edit:
        name = order.value.upper() if self.is_upper else order.value
        return Edit(self.start, self.end, self.prefix + name)


def _token(source: SourceText, span: Span, order: MemoryOrder) -> _Token | None:
    """The argument that names the order, in the only call at `span` that names one.

    A compare-exchange names a second order, for the case that it fails; the first one is meant.
    """
    calls = [found for call in Statements(source).calls_within(span.start, span.end) if (found := _named(source, call))]
    if len(calls) != 1 or calls[0][2]["order"].lower() != order.value:
        return None
    start, end, named = calls[0]
    return _Token(start, end, named["prefix"], named["order"].isupper())


def _named(source: SourceText, call: Call) -> tuple[int, int, re.Match[str]] | None:
    """The first argument that is an order, with its place."""
    for start, end in call.arguments:
        named = ORDER.fullmatch(source.text[start:end])
        if named is not None:
            return start, end, named
    return None


def _fence(language: str, order: MemoryOrder) -> str:
    prefix = "std::" if language == "cpp" else ""
    return f"{prefix}atomic_thread_fence({prefix}memory_order_{order.value});"
