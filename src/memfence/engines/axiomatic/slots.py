"""The values of a thread's slots: each gets its vector when somebody needs it, and most of them nobody needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memfence.axiomatic.code import Choose, Define, Item, Join, Read, Thread
from memfence.engines.axiomatic.clauses import FALSE, Clauses
from memfence.engines.axiomatic.terms import Leaf, Terms
from memfence.engines.axiomatic.vectors import ZERO_VECTOR, Vector, one_of
from memfence.program.expressions import Expr, Register, registers_of


def expressions_of(item: Item | None) -> tuple[Expr, ...]:
    """What the slot that the item defines is computed from."""
    match item:
        case Define(_, value):
            return (value,)
        case Join(_, alternatives):
            return tuple(expr for pair in alternatives for expr in pair)
        case _:
            return ()


class Definitions:
    """Which item of the thread defines each slot."""

    def __init__(self, thread: Thread) -> None:
        self.items: dict[int, tuple[int, Item]] = {}
        for position, item in enumerate(thread.items):
            if isinstance(item, Define | Join | Choose | Read):
                self.items[item.slot] = (position, item)

    def needed_for(self, slots: Iterable[int], known: Iterable[int]) -> Iterator[Item]:
        """The items to compute for these slots, in order, without those that are known."""
        found = set(known)
        waiting = [slot for slot in slots if slot not in found]
        new: dict[int, Item] = {}
        while waiting:
            slot = waiting.pop()
            if slot in found or slot not in self.items:
                continue
            found.add(slot)
            position, item = self.items[slot]
            new[position] = item
            waiting += [n for expr in expressions_of(item) for n in registers_of(expr)]
        return (new[position] for position in sorted(new))


class Slots:
    """The vectors of one thread's slots. Reads and choices are put in by whoever makes them, in time."""

    def __init__(self, clauses: Clauses, thread: Thread, definitions: Definitions) -> None:
        self.clauses = clauses
        self.definitions = definitions
        self.vectors: dict[int, Vector] = {}
        self.terms = Terms(clauses, self._leaf)

    def value(self, expr: Expr) -> Vector:
        self.require(registers_of(expr))
        return self.terms.value(expr)

    def is_true(self, expr: Expr) -> int:
        self.require(registers_of(expr))
        return self.terms.is_true(expr)

    def slot(self, slot: int) -> Vector:
        self.require((slot,))
        return self.vectors.get(slot, ZERO_VECTOR)

    def require(self, slots: Iterable[int]) -> None:
        """Have vectors for these slots: item by item, since ways from slot to slot can be long."""
        for item in self.definitions.needed_for(slots, self.vectors):
            match item:
                case Define(slot, value):
                    self.vectors[slot] = self.terms.value(value)
                case Join(slot, alternatives):
                    pairs = [(self.terms.is_true(guard), value) for guard, value in alternatives]
                    taken = [(guard, self.terms.value(value)) for guard, value in pairs if guard != FALSE]
                    self.vectors[slot] = one_of(self.clauses, taken)

    def _leaf(self, node: Leaf) -> Vector:
        assert isinstance(node, Register), node
        return self.vectors.get(node.index, ZERO_VECTOR)
