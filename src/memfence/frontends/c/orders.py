"""Memory orders in the text of C and C++: where each access names its own, and what a stronger one looks like there.

An access names its order in its own call, by a word that a macro stands for, or in the body of the macro that it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memfence.frontends import endings
from memfence.frontends.c.editable import is_cpp, may_be_edited
from memfence.frontends.c.edits import HEADERS, fence_after, include_edit, point_key
from memfence.frontends.c.macros import NO_MACROS, Macro, Macros
from memfence.frontends.c.statements import Call, Statements, statements_of
from memfence.frontends.edits import Edit, apply_edits
from memfence.program.ir import FencePoint, Load, Process, Program, Rmw, Store, Transition
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import SourceText, Span

ORDER = re.compile(
    r"(?P<prefix>(?:std::)?memory_order(?:_|::)|__ATOMIC_)"
    r"(?P<order>relaxed|consume|acquire|release|acq_rel|seq_cst|RELAXED|CONSUME|ACQUIRE|RELEASE|ACQ_REL|SEQ_CST)"
)
MACRO_USE = re.compile(r"[A-Za-z_]\w*")
ATOMIC_CALL = re.compile(
    r"\b(?:__)?(?:c11_)?atomic_\w+\s*\(|(?:\.|->)\s*(?:store|load|exchange|fetch_\w+|compare_exchange_\w+)\s*\("
)


class StrongerOrder(Record):
    """The access or fence at `span` gets `order`."""

    span: Span
    order: MemoryOrder


class NewFence(Record):
    """A C11 fence behind the statement of `point`."""

    point: FencePoint
    order: MemoryOrder


def names_its_order(source: SourceText, span: Span, order: MemoryOrder, macros: Macros = NO_MACROS) -> bool:
    """Whether the text at `span`, or the macro that it is, says this order, so that an edit there changes it."""
    return [token.order for token in tokens_of(source, span, macros)[:1]] == [order]


def place_of_order(source: SourceText, span: Span, macros: Macros) -> tuple[str, int] | None:
    """Where the order of the access at `span` is written: the same for all uses of one macro; None for nowhere."""
    found = tokens_of(source, span, macros)
    return (found[0].source.path, found[0].start) if found else None


def with_more_points(program: Program) -> Program:
    """`program` with a fence point behind every statement that accesses memory, not only behind stores.

    On x86 a fence behind a load or a locked operation does nothing, and so the program has none there.
    """
    spans = (step.span for process in program.processes for step in process.transitions)
    sources = [source for source in dict.fromkeys(span.source for span in spans) if may_be_edited(program, source)]
    known = {source: statements_of(source, is_cpp(source, program.source.path)) for source in sources}
    processes = (_with_more_points(process, known, program.source) for process in program.processes)
    return replace(program, processes=tuple(processes))


Known = Mapping[SourceText, Statements]


def _with_more_points(process: Process, known: Known, first: SourceText) -> Process:
    steps = []
    for step in process.transitions:
        is_access = any(isinstance(op, Load | Store | Rmw) for op in step.ops)
        if step.point is None and is_access and step.span.source in known:
            step = replace(step, point=_point_behind(process, step, known[step.span.source], first))
        steps.append(step)
    return replace(process, transitions=tuple(steps))


def _point_behind(process: Process, step: Transition, statements: Statements, first: SourceText) -> FencePoint | None:
    """The point behind the statement of the step; None if the statement goes on, or is none that a fence can follow."""
    source = statements.source
    found = statements.at(step.span.line, source.column_of(step.span.start))
    if found is None or not found.start <= step.span.start < found.end:
        return None
    for _, following in process.leaving(step.target):
        if following.span.source is source and found.start <= following.span.start < found.end:
            return None
    key = point_key(found.start, found.end, found.is_lone, "" if source is first else source.path)
    text = " ".join(source.text[found.start : found.end].split()).rstrip(";")
    return FencePoint(process.template, key, source.span(found.start, found.end), text)


OrderChanges = Sequence[tuple[MemoryOrder, StrongerOrder] | NewFence]


def with_orders(source: SourceText, edits: OrderChanges) -> str:
    """The text with every edit made, otherwise byte for byte the same. With a `StrongerOrder` comes the old order."""
    changed = texts_with_orders(edits, NO_MACROS, endings.is_cpp(source.path))
    return next((text for one, text in changed if one is source), source.text)


def texts_with_orders(
    edits: OrderChanges, macros: Macros, is_cpp: bool, *, needs_header: bool = True
) -> list[tuple[SourceText, str]]:
    """Every text that the edits change, with what it becomes; `is_cpp`: headers are C++.

    `needs_header`: fences are spelled as the library does, else as the compiler knows them.
    """
    changes: dict[SourceText, list[Edit]] = {}
    fences: dict[tuple[SourceText, str], list[MemoryOrder]] = {}
    for edit in edits:
        if isinstance(edit, NewFence):
            fences.setdefault((edit.point.span.source, edit.point.key), []).append(edit.order)
            continue
        old, stronger = edit
        token, *of_failure = tokens_of(stronger.span.source, stronger.span, macros)
        changes.setdefault(token.source, []).append(token.replaced_by(stronger.order))
        for other in of_failure:
            if other.order is old.of_read:
                changes.setdefault(other.source, []).append(other.replaced_by(stronger.order.of_read))
    for (source, key), orders in fences.items():
        language = _language(source, is_cpp) if needs_header else "builtin"
        texts = [_fence(language, order) for order in orders]
        changes.setdefault(source, []).extend(fence_after(source.text, key, texts))
    if needs_header:
        for source in {source for source, _ in fences}:
            changes[source] += include_edit(source.text, HEADERS[_language(source, is_cpp)])
    return [(source, apply_edits(source.text, made)) for source, made in changes.items()]


def _language(source: SourceText, is_cpp: bool) -> str:
    return "cpp" if endings.is_cpp(source.path) or (is_cpp and not endings.is_c(source.path)) else "c"


class _Token(Record):
    """A piece of a text that names an order."""

    source: SourceText
    start: int
    end: int
    prefix: str
    order: MemoryOrder
    is_upper: bool

    def replaced_by(self, order: MemoryOrder) -> Edit:
        name = order.value.upper() if self.is_upper else order.value
        return Edit(self.start, self.end, self.prefix + name)


def tokens_of(source: SourceText, span: Span, macros: Macros) -> list[_Token]:
    """What names the orders of the access at `span`: the arguments of the only call there that has any, or what the
    macro has that is used there; empty where there are several. A compare-exchange names a second order, for the case
    that it fails.
    """
    statements = statements_of(source)
    calls = statements.calls_within(span.start, span.end)
    naming = [tokens for call in calls if (tokens := _named(source, call, macros))]
    if naming:
        return naming[0] if len(naming) == 1 else []
    used = [macro for name in MACRO_USE.findall(span.text) if (macro := macros.named(name)) is not None]
    bodies = [tokens for macro in dict.fromkeys(used) if (tokens := _in_body(macro))]
    return bodies[0] if len(bodies) == 1 else []


def _named(source: SourceText, call: Call, macros: Macros) -> list[_Token]:
    found = ((start, end, _order_at(source.text[start:end], macros)) for start, end in call.arguments)
    return [_token(source, start, end, named) for start, end, named in found if named is not None]


def _order_at(text: str, macros: Macros) -> re.Match[str] | None:
    """The order that the argument is, by itself or by what a macro of that name stands for."""
    macro = macros.named(text) if text.isidentifier() else None
    return ORDER.fullmatch(text if macro is None else macro.body.text.strip().strip("()").strip())


def _in_body(macro: Macro) -> list[_Token]:
    """The orders in what a macro stands for: those of one access."""
    body = macro.body
    found = [_token(body.source, body.start + m.start(), body.start + m.end(), m) for m in ORDER.finditer(body.text)]
    return found if len(ATOMIC_CALL.findall(body.text)) <= 1 else []


def _token(source: SourceText, start: int, end: int, named: re.Match[str]) -> _Token:
    order = MemoryOrder(named["order"].lower())
    return _Token(source, start, end, named["prefix"], order, named["order"].isupper())


def _fence(language: str, order: MemoryOrder) -> str:
    if language == "builtin":
        return f"__atomic_thread_fence(__ATOMIC_{order.value.upper()});"
    prefix = "std::" if language == "cpp" else ""
    return f"{prefix}atomic_thread_fence({prefix}memory_order_{order.value});"
