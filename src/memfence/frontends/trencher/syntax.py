"""The syntax tree of a transition list: threads and their transitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.records import Record
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

    Node = Token | Tree

STATE, TRANSITION = "state ", "transition "
"""How the keys of fence points start: at a state, or after the transition of that number."""


class Item(Record):
    """`transition source target verb operands`."""

    source: Token
    target: Token
    verb: str
    operands: tuple[Node, ...]
    span: Span


class Thread(Record):
    """`thread name copies ... end`, as it stands in the text."""

    name: Token
    copies: int
    initial: Token
    items: tuple[Item, ...]
    span: Span

    @property
    def instances(self) -> tuple[str, ...]:
        """The names of the processes: t, t_1, t_2 for three copies of t."""
        return (str(self.name), *(f"{self.name}_{i}" for i in range(1, self.copies)))

    @property
    def states(self) -> dict[str, Token]:
        """Every state with the place that shows it best: where something leaves it, else where it is named first."""
        order = dict.fromkeys([str(self.initial), *(str(s) for i in self.items for s in (i.source, i.target))])
        places = {str(i.target): i.target for i in reversed(self.items)} | {str(self.initial): self.initial}
        places |= {str(i.source): i.source for i in reversed(self.items)}
        return {state: places[state] for state in order}
