"""From parse trees to syntax: what readers of several languages do alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.parsing.limits import LARGEST, MOST_NESTED, read_integer
from memfence.frontends.parsing.syntax import Name
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree
    from memfence.frontends.parsing.syntax import Node


class TreeReader(ABC):
    """Names, numbers and places of a parse tree; collects what is wrong with them."""

    def __init__(self) -> None:
        self.errors: list[Diagnostic] = []

    @abstractmethod
    def span(self, node: Node) -> Span:
        """Where the node stands in the user's text."""

    def report(self, code: Code, message: str, span: Span, hint: str | None = None) -> None:
        self.errors.append(Diagnostic(code, message, Label(span), hint=hint))

    def name(self, token: Node) -> Name:
        return Name(str(token), self.span(token))

    def number(self, token: Node) -> int:
        """The value of decimal digits; reported, and 0, if it has more than 32 bits."""
        value = read_integer(str(token))
        if value > LARGEST:
            self.report(Code.TOO_LARGE, f"`{str(token)[:40]}` does not fit in 32 bits", self.span(token))
            return 0
        return value

    def require_shallow(self, tree: Tree) -> None:
        """InputError if the tree is nested so deeply that walking it would overflow the stack."""
        waiting: list[tuple[Tree, int]] = [(tree, 0)]
        while waiting:
            node, depth = waiting.pop()
            if depth > MOST_NESTED:
                what = f"the text is nested more than {MOST_NESTED} deep"
                raise InputError([Diagnostic(Code.TOO_DEEP, what, Label(self.span(node)))])
            waiting += [(child, depth + 1) for child in trees(node)]


def trees(node: Node) -> list[Tree]:
    """The children that are trees themselves."""
    return [cast("Tree", child) for child in getattr(node, "children", ()) if hasattr(child, "children")]


def tokens(tree: Tree) -> list[Token]:
    """The children that are tokens."""
    return [cast("Token", child) for child in tree.children if hasattr(child, "type")]
