"""Where a model uses a set or relation positively, and where it takes it away.

More pairs in a relation that is used only positively make every check that is not negated harder to pass. So a model
in which orders and fences occur positively is monotone: stronger orders and more fences only remove executions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import assert_never

from memfence.models.cat.syntax import Axiom, Base, Binary, Cat, CatExpr, Named, Unary
from memfence.models.cat.vocabulary import TAGS
from memfence.records import Record

GROWING = frozenset({"_", "F", "po", *TAGS} - {"NA", "X"})
"""What grows where an order is strengthened or a fence is added. (A fence is also one more event in `po`.)"""


class Occurrence(Record):
    """A name in an expression. `negative`: the more it has, the less has the expression."""

    node: Base | Named
    negative: bool


class Offence(Record):
    """A name that grows, used where growing lets more executions pass `axiom`."""

    axiom: Axiom
    node: Base


def occurrences(expr: CatExpr, *, negative: bool = False) -> Iterator[Occurrence]:
    """Every name in the expression, definitions not unfolded."""
    match expr:
        case Base() | Named():
            yield Occurrence(expr, negative)
        case Unary("~", operand):
            yield from occurrences(operand, negative=not negative)
        case Unary(operand=operand):
            yield from occurrences(operand, negative=negative)
        case Binary("\\", left, right):
            yield from occurrences(left, negative=negative)
            yield from occurrences(right, negative=not negative)
        case Binary(left=left, right=right):
            yield from occurrences(left, negative=negative)
            yield from occurrences(right, negative=negative)
        case _:
            assert_never(expr)


def reached(cat: Cat, axiom: Axiom) -> Iterator[Occurrence]:
    """Every name that the check depends on, each polarity once, definitions unfolded."""
    seen: set[tuple[int, bool]] = set()
    waiting = list(occurrences(axiom.body))
    while waiting:
        found = waiting.pop()
        yield found
        if isinstance(found.node, Named) and (found.node.definition, found.negative) not in seen:
            seen.add((found.node.definition, found.negative))
            waiting += occurrences(cat.definitions[found.node.definition].body, negative=found.negative)


def offences(cat: Cat, growing: Collection[str] = GROWING) -> tuple[Offence, ...]:
    """The places that keep the model from being monotone in `growing`; none: it is.

    A check must get harder, and a flag rarer: `flag ~empty r` wants `r` to shrink.
    """
    found = []
    for axiom in cat.axioms:
        must_shrink = axiom.negated
        for occurrence in reached(cat, axiom):
            node = occurrence.node
            if isinstance(node, Base) and node.name in growing and occurrence.negative != must_shrink:
                found.append(Offence(axiom, node))
    return tuple(found)
