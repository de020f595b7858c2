"""What every front end refuses, whatever the language: numbers beyond 32 bits and nesting that no machine needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

    Node = Token | Tree

SMALLEST = -(2**31)
LARGEST = 2**31 - 1
MOST_NESTED = 200


def read_integer(text: str) -> int:
    """The value of decimal digits with an optional sign; some value far outside 32 bits if there are very many."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("-")
    return sign * int(digits if len(digits) < 20 else digits[:1] + "9" * 20)


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
