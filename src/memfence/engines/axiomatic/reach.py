"""Which pairs of events can be in a relation at all, and which of them anybody asks for.

`May` goes from the relations of the execution up to those of the model: a pair that is not in it needs no literal.
`Wanted` goes from the axioms down: a pair that no axiom can see needs none either. It also says in which direction a
literal must imply the relation, or be implied by it:

    LOWER   wherever the pair is in the relation, the literal is true (enough for what must be empty or acyclic)
    UPPER   wherever the literal is true, the pair is in the relation
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from memfence.engines.axiomatic.base import Base
from memfence.engines.axiomatic.nodes import Nodes
from memfence.models.cat import relations
from memfence.models.cat.relations import Rows, bits, mask_of

LOWER, UPPER = 1, 2
Masks = int | Rows
"""A set as a mask of events; a relation as one mask for each event."""


def flipped(direction: int) -> int:
    """What is needed of a relation that is taken away."""
    return (direction & LOWER) << 1 | (direction & UPPER) >> 1


class May:
    """The pairs, or members, that a node can have in some execution."""

    def __init__(self, nodes: Nodes, base: Base) -> None:
        self.nodes = nodes
        self.base = base
        self.size = base.size
        self.everything = mask_of(n for n, here in enumerate(base.here) if here != -1)
        self._bases: dict[int, Masks] = {}
        self._known: dict[int, Masks] = {}
        self._find_groups()

    def relation(self, number: int) -> Rows:
        return cast(Rows, self.of(number))

    def members(self, number: int) -> int:
        return cast(int, self.of(number))

    def of(self, number: int) -> Masks:
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._compute(number)
        return known

    def _find_groups(self) -> None:
        """Least fixpoint of all recursive definitions at once, from nothing."""
        values: dict[int, Masks] = {
            n: 0 if self.nodes.list[n].kind == "set" else relations.nothing(self.size) for n in self.nodes.bodies
        }
        before: dict[int, Masks] = {}
        while values != before:
            before = values
            self._known = dict(values)
            values = {n: self.of(body) for n, body in self.nodes.bodies.items()}

    def _compute(self, number: int) -> Masks:
        node = self.nodes.list[number]
        if node.op == "base":
            if number not in self._bases:
                self._bases[number] = self._base(node.name, is_set=node.kind == "set")
            return self._bases[number]
        parts = [self.of(part) for part in node.parts]
        if node.kind == "set":
            return self._set(node.op, parts)
        return self._rows(node.op, parts)

    def _base(self, name: str, *, is_set: bool) -> Masks:
        if is_set:
            return mask_of(self.base.members(name))
        return tuple(mask_of(row) for row in self.base.relation(name))

    def _set(self, op: str, parts: Sequence[Masks]) -> int:
        if op == "domain":
            return relations.domain(cast(Rows, parts[0]))
        if op == "range":
            return relations.image(cast(Rows, parts[0]))
        if op == "~":  # what may be in the set may as well not be
            return self.everything
        sets = cast(list[int], parts)
        found = sets[0]
        for other in sets[1:]:
            found = found | other if op == "|" else found & other if op == "&" else found
        return found

    def _rows(self, op: str, parts: Sequence[Masks]) -> Rows:
        match op:
            case "[]":
                return relations.identity(self.size, cast(int, parts[0]))
            case "*":
                return relations.product(self.size, *cast(list[int], parts))
            case "~":
                return relations.product(self.size, self.everything, self.everything)
        rows = cast(list[Rows], parts)
        match op:
            case "^-1":
                return relations.inverse(rows[0])
            case "+":
                return relations.closure(rows[0])
            case "?":
                return relations.union(rows[0], relations.identity(self.size, self.everything))
            case ";":
                return relations.compose(rows[0], rows[1])
            case "&":
                return relations.intersection(rows[0], rows[1])
            case "\\":
                return rows[0]
            case "|":
                found = rows[0]
                for other in rows[1:]:
                    found = relations.union(found, other)
                return found
            case _:
                raise AssertionError(op)


class Wanted:
    """For each node the pairs, or members, that literals are needed for, and the directions."""

    def __init__(self, nodes: Nodes, may: May) -> None:
        self.nodes = nodes
        self.may = may
        self.masks: dict[int, Masks] = {}
        self.directions: dict[int, int] = {}
        self._waiting: set[int] = set()

    def demand(self, number: int, wanted: Masks, direction: int) -> None:
        """Ask for these pairs of the node; `spread` then asks for what they are made of."""
        node = self.nodes.list[number]
        before = self.masks.get(number, 0 if node.kind == "set" else relations.nothing(self.may.size))
        if node.kind == "set":
            after: Masks = cast(int, before) | (cast(int, wanted) & self.may.members(number))
        else:
            new = relations.intersection(cast(Rows, wanted), self.may.relation(number))
            after = relations.union(cast(Rows, before), new)
        known = self.directions.get(number, 0)
        if after != before or known | direction != known or number not in self.masks:
            self.masks[number], self.directions[number] = after, known | direction
            self._waiting.add(number)

    def spread(self) -> None:
        """Ask for everything that is needed for what was demanded."""
        while self._waiting:
            number = max(self._waiting)  # users before what they use, but for recursion
            self._waiting.remove(number)
            if self.nodes.list[number].kind == "set":
                self._spread_set(number, cast(int, self.masks[number]))
            else:
                self._spread_relation(number, cast(Rows, self.masks[number]))

    def _spread_set(self, number: int, wanted: int) -> None:
        node, direction, size = self.nodes.list[number], self.directions[number], self.may.size
        match node.op:
            case "|" | "&":
                for part in node.parts:
                    self.demand(part, wanted, direction)
            case "\\":
                self.demand(node.parts[0], wanted, direction)
                self.demand(node.parts[1], wanted, flipped(direction))
            case "~":
                self.demand(node.parts[0], wanted, flipped(direction))
            case "domain":
                self.demand(node.parts[0], relations.product(size, wanted, -1), direction)
            case "range":
                self.demand(node.parts[0], relations.product(size, -1, wanted), direction)
            case "group":
                self.demand(self.nodes.bodies[number], wanted, direction)

    def _spread_relation(self, number: int, wanted: Rows) -> None:
        node, direction = self.nodes.list[number], self.directions[number]
        match node.op:
            case "|" | "?":
                for part in node.parts:
                    self.demand(part, wanted, direction)
            case "&":
                both = relations.intersection(wanted, relations.intersection(*map(self.may.relation, node.parts)))
                for part in node.parts:
                    self.demand(part, both, direction)
            case "\\":
                self.demand(node.parts[0], wanted, direction)
                self.demand(node.parts[1], wanted, flipped(direction))
            case "~":
                self.demand(node.parts[0], wanted, flipped(direction))
            case "^-1":
                self.demand(node.parts[0], relations.inverse(wanted), direction)
            case "[]":
                self.demand(node.parts[0], relations.domain(wanted), direction)
            case "*":
                self.demand(node.parts[0], relations.domain(wanted), direction)
                self.demand(node.parts[1], relations.image(wanted), direction)
            case ";":
                self._spread_composition(node.parts[0], node.parts[1], wanted, direction)
            case "+":
                self._spread_closure(number, node.parts[0], wanted, direction)
            case "group":
                self.demand(self.nodes.bodies[number], wanted, direction)

    def _spread_composition(self, left: int, right: int, wanted: Rows, direction: int) -> None:
        first, second = self.may.relation(left), self.may.relation(right)
        of_left, of_right = [0] * self.may.size, [0] * self.may.size
        for a, targets in enumerate(wanted):
            for middle in bits(first[a]) if targets else ():
                reached = second[middle] & targets
                if reached:
                    of_left[a] |= 1 << middle
                    of_right[middle] |= reached
        self.demand(left, tuple(of_left), direction)
        self.demand(right, tuple(of_right), direction)

    def _spread_closure(self, number: int, base: int, wanted: Rows, direction: int) -> None:
        """A way of several steps is a step, and a way from there on: the rest of every way is wanted, too."""
        if direction & UPPER:
            self.masks[number] = self.may.relation(number)
            self.demand(base, self.may.relation(base), direction)
            return
        steps, ways = self.may.relation(base), self.may.relation(number)
        found = list(wanted)
        waiting = {n for n, targets in enumerate(found) if targets}
        while waiting:
            a = waiting.pop()
            for middle in bits(steps[a]):
                more = ways[middle] & found[a] & ~found[middle]
                if more:
                    found[middle] |= more
                    waiting.add(middle)
        self.masks[number] = tuple(found)
        of_base = (mask_of(b for b in bits(row) if (ways[b] | 1 << b) & found[a]) for a, row in enumerate(steps))
        self.demand(base, tuple(of_base), direction)
