"""Parse trees: what every grammar yields, whoever has read the text."""

from __future__ import annotations

from collections.abc import Iterator


class Token(str):
    """A piece of the text that the grammar names: its characters, its kind, and where it stands."""

    __slots__ = ("end_pos", "start_pos", "type")

    type: str
    start_pos: int
    end_pos: int


class Tree:
    """A rule of the grammar with its parts. Where the grammar says `[part]`, an absent one is None, whatever its type.

    The place goes from the first to the last token of the rule, punctuation included; -1 where it has none.
    """

    __slots__ = ("children", "data", "end_pos", "start_pos")

    def __init__(self, data: str, children: list[Node], start_pos: int, end_pos: int) -> None:
        self.data = data
        self.children = children
        self.start_pos = start_pos
        self.end_pos = end_pos


Node = Tree | Token


def make_token(kind: str, text: str, start: int, end: int) -> Token:
    """A token of `kind`."""
    token = Token(text)
    token.type, token.start_pos, token.end_pos = kind, start, end
    return token


def tokens_below(node: Node) -> Iterator[Token]:
    """The tokens of a part, from left to right."""
    if isinstance(node, Token):
        yield node
        return
    for child in node.children:
        if child is not None:
            yield from tokens_below(child)
