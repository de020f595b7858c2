"""The types that a litmus test in C may name: integers, atomic or not, and pointers to them."""

from __future__ import annotations

from memfence.frontends.clitmus.cursor import Cursor, unsupported
from memfence.records import Record
from memfence.source import Span

_PLAIN = frozenset(("int", "long", "signed", "intptr_t", "int32_t", "int64_t", "void"))
_TRUTH = frozenset(("bool", "_Bool"))
_ATOMIC = frozenset(("atomic_int", "atomic_long", "atomic_intptr_t", "atomic_bool", "_Atomic"))
_QUALIFIERS = frozenset(("volatile", "const", "register", "static"))
_OTHERS = frozenset(("char", "short", "unsigned", "float", "double", "struct", "union", "size_t", "uintptr_t"))
TYPE_WORDS = _PLAIN | _TRUTH | _ATOMIC | _QUALIFIERS | _OTHERS


class Type(Record):
    is_atomic: bool
    is_truth: bool
    stars: int
    span: Span


def is_type(word: str) -> bool:
    return word in TYPE_WORDS or (word.startswith(("atomic_u", "uint")) and word.endswith("_t"))


def read_type(cursor: Cursor) -> Type:
    """A type; other integers than signed ones of 32 bits, and whatever is no integer, are refused."""
    first = cursor.next
    words = []
    while cursor.next.kind == "word" and is_type(cursor.next.text):
        token = cursor.take()
        words.append(token.text)
        if token.text == "_Atomic" and cursor.accept("("):
            words.append(cursor.take().text)
            cursor.expect(")")
    if not words:
        cursor.unexpected("a type such as `int` or `atomic_int`")
    stars = 0
    while cursor.accept("*", "const", "volatile"):
        stars += cursor.tokens[cursor.position - 1].text == "*"
    known = _PLAIN | _TRUTH | _ATOMIC | _QUALIFIERS
    other = next((word for word in words if word not in known), None)
    if other is not None:
        unsupported(first.span, f"values of type `{other}` are not supported", "use `int` or `atomic_int`")
    return Type(any(w in _ATOMIC for w in words), any(w in _TRUTH for w in words), stars, cursor.since(first.span))
