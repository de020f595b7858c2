"""Other orders into the text of C and C++, weaker ones too: where a call names its order, where it names none and so
means seq_cst, and fences that go away.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from memfence.frontends import endings
from memfence.frontends.c.macros import Macros
from memfence.frontends.c.orders import names_its_order, tokens_of
from memfence.frontends.c.statements import Call, statements_of
from memfence.frontends.edits import Edit, apply_edits
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import SourceText, Span

OPERATION = r"(?:load|store|exchange|fetch_(?:add|sub|and|or|xor)|compare_exchange_(?:strong|weak))"
FUNCTION = re.compile(rf"(?P<std>std::)?atomic_(?:{OPERATION}|flag_test_and_set|flag_clear)")
MEMBER = re.compile(rf".*(?:\.|->)\s*(?:{OPERATION}|test_and_set|clear|test)", re.DOTALL)
FROM_WEAK = (MemoryOrder.RELAXED, MemoryOrder.CONSUME, MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST)
"""Of reads: what a compare-exchange that fails can have."""


class OtherOrder(Record):
    """The access or fence at `span` had the order `old` and gets `order`; a fence with RELAXED goes away. `failure`: of
    a compare-exchange, where that is to be other than the weaker of its own and what `order` leaves."""

    span: Span
    old: MemoryOrder
    order: MemoryOrder
    is_fence: bool = False
    failure: MemoryOrder | None = None


def can_be_written(span: Span, order: MemoryOrder, macros: Macros) -> bool:
    """Whether the text at `span` says this order, or says none where it could."""
    if names_its_order(span.source, span, order, macros):
        return True
    return order is MemoryOrder.SEQ_CST and _implicit(span, macros) is not None


def texts_with(changes: Iterable[OtherOrder], macros: Macros) -> list[tuple[SourceText, str]]:
    """Every text that the changes change, with what it becomes."""
    edits: dict[SourceText, dict[tuple[int, int, str], Edit]] = {}
    for change in changes:
        for source, edit in _edits(change, macros):
            edits.setdefault(source, {})[edit.start, edit.end, edit.text] = edit
    return [(source, apply_edits(source.text, made.values())) for source, made in edits.items()]


def _edits(change: OtherOrder, macros: Macros) -> list[tuple[SourceText, Edit]]:
    source, order = change.span.source, change.order
    tokens = tokens_of(source, change.span, macros)
    if not tokens:
        call = _implicit(change.span, macros)
        return [] if call is None else [(source, edit) for edit in _named(source, call, order, change.failure)]
    token, *others = tokens
    if change.is_fence and order is MemoryOrder.RELAXED and token.source is source:
        gone = _without_statement(source, change.span)
        if gone is not None:
            return [(source, gone)]
    found = [(token.source, token.replaced_by(order))] if order is not token.order else []
    for other in others:
        failure = change.failure or weaker_of(other.order, order.of_read)
        if failure is not other.order:
            found.append((other.source, other.replaced_by(failure)))
    return found


def weaker_of(one: MemoryOrder, other: MemoryOrder) -> MemoryOrder:
    """The weaker of two orders of reads."""
    return min(one, other, key=FROM_WEAK.index)


def _implicit(span: Span, macros: Macros) -> Call | None:
    """The only atomic call there, if it names no order."""
    source = span.source
    calls = statements_of(source).calls_within(span.start, span.end)
    found = [one for one in calls if FUNCTION.fullmatch(one.function) or MEMBER.fullmatch(one.function)]
    if len(found) != 1 or tokens_of(source, span, macros):
        return None
    return found[0]


def _named(source: SourceText, call: Call, order: MemoryOrder, failure: MemoryOrder | None) -> list[Edit]:
    """The call with its order: C's functions have another name then, C++'s methods one argument more."""
    function = FUNCTION.fullmatch(call.function)
    is_cpp = function is None or function["std"] or endings.is_cpp(source.path)
    prefix = "std::memory_order_" if is_cpp else "memory_order_"
    orders = [f"{prefix}{order.value}"]
    if "compare_exchange" in call.function and (function is not None or failure is not None):
        orders.append(f"{prefix}{(failure or order.of_read).value}")
    added = ", ".join(orders)
    edits = [Edit(call.closing, call.closing, f", {added}" if call.arguments else added)]
    return edits if function is None else [Edit(call.function_end, call.function_end, "_explicit"), *edits]


def _without_statement(source: SourceText, span: Span) -> Edit | None:
    """The edit that removes the statement of a fence, with its line if nothing else is there."""
    found = statements_of(source).at(span.line, span.column)
    if found is None:
        return None
    text = source.text
    if " ".join(text[found.start : found.end].split()).rstrip("; ") != " ".join(span.text.split()).rstrip("; "):
        return None
    if found.is_lone:
        return Edit(found.start, found.end, ";")
    start = text.rfind("\n", 0, found.start) + 1
    end = text.find("\n", found.end)
    if end >= 0 and not text[start : found.start].strip() and not text[found.end : end].strip():
        return Edit(start, end + 1, "")
    return Edit(found.start, found.end, "")
