"""What every front end refuses, whatever the language: numbers beyond 32 bits and nesting that no machine needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.program.expressions import Binary, BinaryOp, Conditional, Const, Expr, walk

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

    Node = Token | Tree

SMALLEST = -(2**31)
LARGEST = 2**31 - 1
MOST_NESTED = 200
FARTHEST_SHIFT = 31
_MOST_REPEATED = 50
"""Nodes of an expression that may stand twice in another one."""


def read_integer(text: str) -> int:
    """The value of decimal digits with an optional sign; some value far outside 32 bits if there are very many."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("-")
    return sign * int(digits if len(digits) < 20 else digits[:1] + "9" * 20)


def operation(op: BinaryOp, left: Expr, right: Expr) -> Binary:
    """`left op right` in a language whose integers have 32 bits: a shift by more than 31 is an error there.

    Expressions themselves allow more. So a number of bits that is too large becomes one that is not allowed at all.
    """
    if op not in ("<<", ">>"):
        return Binary(op, left, right)
    return Binary(op, left, _allowed_shift(right))


def _allowed_shift(by: Expr) -> Expr:
    if isinstance(by, Const):
        return by if by.value <= FARTHEST_SHIFT else Const(-1)
    if sum(1 for _ in walk(by)) <= _MOST_REPEATED:
        return Conditional(Binary("<=", by, Const(FARTHEST_SHIFT)), by, Const(-1))
    # The same without repeating it, for shifts by shifts by shifts: 32 << 122 is the first that does not fit.
    return Binary(">>", Binary("<<", by, Const(122)), Const(122))


def first_too_deep(root: Node) -> Node | None:
    """A part of the parse tree that lies more than `MOST_NESTED` deep; a chain of operators counts its length."""
    waiting = [(root, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MOST_NESTED:
            return node
        below = [child for child in getattr(node, "children", ()) if child is not None]
        waiting += [(child, depth + 1 + len(below) // 2) for child in reversed(below)]
    return None
