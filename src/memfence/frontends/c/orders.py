"""Memory orders in the text of C and C++: where each access names its own, and what a stronger one looks like there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from memfence.frontends.c.edits import HEADERS, fence_after, include_edit, point_key
from memfence.frontends.c.statements import CPP, Call, Statements
from memfence.frontends.edits import Edit, apply_edits
from memfence.program.ir import FencePoint, Load, Process, Program, Rmw, Store, Transition
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import SourceText, Span

ORDER = re.compile(
    r"(?P<prefix>(?:std::)?memory_order(?:_|::)|__ATOMIC_)"
    r"(?P<order>relaxed|consume|acquire|release|acq_rel|seq_cst|RELAXED|CONSUME|ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)"
)


class StrongerOrder(Record):
    """The access or fence at `span` gets `order`."""

    span: Span
    order: MemoryOrder


class NewFence(Record):
    """A C11 fence behind the statement of `point`."""

    point: FencePoint
    order: MemoryOrder


def names_its_order(source: SourceText, span: Span, order: MemoryOrder) -> bool:
    """Whether the text at `span` says this order itself, so that an edit there changes this access and no other."""
    return [token.order for token in _tokens(source, span)[:1]] == [order]


def with_more_points(program: Program) -> Program:
    """`program` with a fence point behind every statement that accesses memory, not only behind stores.

    On x86 a fence behind a load or a locked operation does nothing, and so the program has none there.
    """
    statements = Statements(program.source)
    processes = (_with_more_points(process, statements) for process in program.processes)
    return replace(program, processes=tuple(processes))


def _with_more_points(process: Process, statements: Statements) -> Process:
    steps = []
    for step in process.transitions:
        is_access = any(isinstance(op, Load | Store | Rmw) for op in step.ops)
        if step.point is None and is_access and step.span.source is statements.source:
            step = replace(step, point=_point_behind(process, step, statements))
        steps.append(step)
    return replace(process, transitions=tuple(steps))


def _point_behind(process: Process, step: Transition, statements: Statements) -> FencePoint | None:
    """The point behind the statement of the step; None if the statement goes on, or is none that a fence can follow."""
    source = statements.source
    found = statements.at(step.span.line, source.column_of(step.span.start))
    if found is None or not found.start <= step.span.start < found.end:
        return None
    for _, following in process.leaving(step.target):
        if following.span.source is source and found.start <= following.span.start < found.end:
            return None
    key = point_key(found.start, found.end, found.is_lone)
    text = " ".join(source.text[found.start : found.end].split()).rstrip(";")
    return FencePoint(process.template, key, source.span(found.start, found.end), text)


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
        token, *of_failure = _tokens(source, stronger.span)
        changes.append(token.replaced_by(stronger.order))
        changes += [other.replaced_by(stronger.order.of_read) for other in of_failure if other.order is old.of_read]
    for key, texts in fences.items():
        changes += fence_after(source.text, key, texts)
    if fences:
        changes += include_edit(source.text, HEADERS[language])
    return apply_edits(source.text, changes)


class _Token(Record):
    """An argument that names an order."""

    start: int
    end: int
    prefix: str
    order: MemoryOrder
    is_upper: bool

    def replaced_by(self, order: MemoryOrder) -> Edit:
        name = order.value.upper() if self.is_upper else order.value
        return Edit(self.start, self.end, self.prefix + name)


def _tokens(source: SourceText, span: Span) -> list[_Token]:
    """The arguments that name orders, of the only call at `span` that has any; empty where there are several.

    A compare-exchange names a second order, for the case that it fails.
    """
    calls = [_named(source, call) for call in Statements(source).calls_within(span.start, span.end)]
    naming = [tokens for tokens in calls if tokens]
    return naming[0] if len(naming) == 1 else []


def _named(source: SourceText, call: Call) -> list[_Token]:
    found = ((start, end, ORDER.fullmatch(source.text[start:end])) for start, end in call.arguments)
    return [
        _Token(start, end, named["prefix"], MemoryOrder(named["order"].lower()), named["order"].isupper())
        for start, end, named in found
        if named is not None
    ]


def _fence(language: str, order: MemoryOrder) -> str:
    prefix = "std::" if language == "cpp" else ""
    return f"{prefix}atomic_thread_fence({prefix}memory_order_{order.value});"
