"""The sets and relations of a model as literals, and its axioms as clauses.

Where only one direction is needed (`reach`), only that one is written down. Recursive definitions are least fixpoints;
`premises -> pair` is all that a solver needs which profits from small relations. Where one would profit from large ones
there is no formula here, and the model is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from memfence.digraph import components
from memfence.engines.axiomatic.acyclic import forbid_cycles
from memfence.engines.axiomatic.base import Base, Members, Rows
from memfence.engines.axiomatic.clauses import FALSE, TRUE
from memfence.engines.axiomatic.nodes import Node, Nodes
from memfence.engines.axiomatic.reach import LOWER, UPPER, May, Wanted
from memfence.engines.axiomatic.thinning import thinned
from memfence.engines.axiomatic.ways import Ways
from memfence.models.cat import relations
from memfence.models.cat.relations import bits
from memfence.models.cat.syntax import Axiom


class NoFormula(Exception):
    """A recursive definition that occurs where more of it would allow more; the argument is its name."""


class Relations:
    """The axioms of one model over one set of events."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.clauses = base.clauses
        self.nodes = Nodes(base.model.cat)
        self._axioms = [(axiom, self._node_of(axiom)) for axiom in base.model.cat.axioms]
        self.may = May(self.nodes, base)
        self.wanted = Wanted(self.nodes, self.may)
        for axiom, number in self._axioms:
            self._demand(axiom, number)
        self.wanted.spread()
        self._ways = Ways(base)
        self._known: dict[int, Rows | Members] = {}
        for number in self.nodes.bodies:
            self._start_recursion(number)
        for number in sorted(self.wanted.masks):
            self._literals(number)
        for number, body in self.nodes.bodies.items():
            self._finish_recursion(number, body)

    # Axioms.

    def _node_of(self, axiom: Axiom) -> int:
        number = self.nodes.of(axiom.body)
        is_closure = self.nodes.list[number].op == "+"
        if axiom.negated and axiom.kind == "acyclic" and not is_closure:
            return self.nodes.number(Node("relation", "+", (number,)))
        if not axiom.negated and _forbids_cycles(axiom, self.nodes, number):
            return self.nodes.without_closures(number)
        return number

    def _demand(self, axiom: Axiom, number: int) -> None:
        direction = UPPER if axiom.negated else LOWER
        if self.nodes.list[number].kind == "set" or axiom.kind == "empty":
            self.wanted.demand(number, self.may.of(number), direction)
        elif not axiom.negated and _forbids_cycles(axiom, self.nodes, number):
            self.wanted.demand(number, self._on_cycles(self.may.relation(number)), direction)
        else:
            self.wanted.demand(number, relations.identity(self.base.size), direction)

    def _on_cycles(self, rows: relations.Rows) -> relations.Rows:
        component = components(len(rows), lambda node: bits(rows[node]))
        members: dict[int, int] = {}
        for node, number in enumerate(component):
            members[number] = members.get(number, 0) | 1 << node
        return tuple(row & members[number] for row, number in zip(rows, component, strict=True))

    def demand_axioms(self, condition: int) -> None:
        """Where the condition is true, every axiom that is no flag is."""
        for axiom, number in self._axioms:
            if not axiom.is_flag:
                self._demand_axiom(axiom, number, condition)

    def flags(self) -> dict[str, int]:
        """For each name of a flag, a literal: where it is true, the flag is raised (but not the other way round)."""
        found: dict[str, list[int]] = {}
        for axiom, number in self._axioms:
            if axiom.is_flag:
                condition = self.clauses.fresh()
                self._demand_axiom(axiom, number, condition)
                found.setdefault(axiom.name, []).append(condition)
        return {name: self.clauses.any_of(literals) for name, literals in found.items()}

    def _demand_axiom(self, axiom: Axiom, number: int, condition: int) -> None:
        literals = self._literals(number)
        if not axiom.negated and not isinstance(literals, dict) and _forbids_cycles(axiom, self.nodes, number):
            forbid_cycles(self.clauses, thinned(self.base, literals), condition, self.base.together)
            return
        offending = list(_offending(axiom, literals))
        if axiom.negated:
            self.clauses.add(-condition, *offending)
        else:
            for literal in offending:
                self.clauses.add(-condition, -literal)

    # Recursion.

    def _start_recursion(self, number: int) -> None:
        if number not in self.wanted.masks:
            return
        node = self.nodes.list[number]
        if self.wanted.directions[number] & UPPER:
            raise NoFormula(self.base.model.cat.definitions[int(node.name)].name)
        wanted = self.wanted.masks[number]
        if isinstance(wanted, int):
            self._known[number] = {n: self.clauses.fresh() for n in bits(wanted)}
        else:
            self._known[number] = [{b: self.clauses.fresh() for b in bits(row)} for row in wanted]

    def _finish_recursion(self, number: int, body: int) -> None:
        if number not in self.wanted.masks:
            return
        own, grounds = self._known[number], self._literals(body)
        if isinstance(own, dict):
            self._grow(own, cast(Members, grounds))
        else:
            for row, ground in zip(own, cast(Rows, grounds), strict=True):
                self._grow(row, ground)

    def _grow(self, own: Members, grounds: Members) -> None:
        for n, literal in own.items():
            self.clauses.add(-grounds.get(n, FALSE), literal)

    # Literals of nodes.

    def _literals(self, number: int) -> Rows | Members:
        known = self._known.get(number)
        if known is None:
            node = self.nodes.list[number]
            known = self._known[number] = self._set(number, node) if node.kind == "set" else self._rows(number, node)
        return known

    def _members_of(self, number: int) -> Members:
        return cast(Members, self._literals(number))

    def _rows_of(self, number: int) -> Rows:
        return cast(Rows, self._literals(number))

    def _is_lower(self, number: int) -> bool:
        return not self.wanted.directions[number] & UPPER

    def _any(self, literals: Sequence[int], most: int, *, lower: bool) -> int:
        """One of them; `most` is where that can be at all."""
        if len(literals) == 1:
            return literals[0]
        if TRUE in literals or most in literals:
            return most
        if not lower:
            return self.clauses.any_of(literals)
        different = dict.fromkeys(literals)
        if len(different) == 1:
            return literals[0]
        some = self.clauses.fresh()
        self.clauses.list.extend([-literal, some] for literal in different)
        return some

    def _set(self, number: int, node: Node) -> Members:
        wanted, here = cast(int, self.wanted.masks.get(number, 0)), self.base.here
        if node.op == "base":
            return self.base.members(node.name)
        if node.op in ("domain", "range"):
            return self._shadow(number, node, wanted)
        parts = [self._members_of(part) for part in node.parts]
        found = {n: self._member(node.op, n, parts, lower=self._is_lower(number)) for n in bits(wanted)}
        return {n: literal for n, literal in found.items() if literal != FALSE and here[n] != FALSE}

    def _member(self, op: str, n: int, parts: list[Members], *, lower: bool) -> int:
        here, literals = self.base.here[n], [part.get(n, FALSE) for part in parts]
        match op:
            case "|":
                present = [literal for literal in literals if literal != FALSE]
                return self._any(present, here, lower=lower) if present else FALSE
            case "&":
                return self._both(literals[0], literals[1], here)
            case "\\":
                return self._without(literals[0], literals[1], here)
            case "~":
                return self._without(here, literals[0], here)
            case _:
                raise AssertionError(op)

    def _shadow(self, number: int, node: Node, wanted: int) -> Members:
        """`domain` or `range`."""
        found: dict[int, list[int]] = {}
        for a, row in enumerate(self._rows_of(node.parts[0])):
            for b, literal in row.items():
                found.setdefault(a if node.op == "domain" else b, []).append(literal)
        lower = self._is_lower(number)
        kept = {n: literals for n, literals in found.items() if wanted >> n & 1}
        return {n: self._any(literals, self.base.here[n], lower=lower) for n, literals in kept.items()}

    def _both(self, a: int, b: int, most: int) -> int:
        return b if a == most else a if b == most else self.clauses.both(a, b)

    def _without(self, a: int, b: int, most: int) -> int:
        return FALSE if b == most else a if b == FALSE else self.clauses.both(a, -b)

    def _rows(self, number: int, node: Node) -> Rows:
        wanted = cast(relations.Rows, self.wanted.masks.get(number, relations.nothing(self.base.size)))
        match node.op:
            case "base":
                return self.base.relation(node.name)
            case "[]":
                members = self._members_of(node.parts[0])
                return [{n: members[n]} if n in members and row else {} for n, row in enumerate(wanted)]
            case "*":
                return self._product(self._members_of(node.parts[0]), self._members_of(node.parts[1]), wanted)
            case "^-1":
                return _turned(self._rows_of(node.parts[0]))
            case ";":
                left, right = (self._rows_of(part) for part in node.parts)
                return self._ways.composition(left, right, wanted, lower=self._is_lower(number))
            case "+":
                return self._ways.closure(self._rows_of(node.parts[0]), wanted, lower=self._is_lower(number))
            case _:
                parts = [self._rows_of(part) for part in node.parts]
                lower = self._is_lower(number)
                pairs = (
                    [(b, self._pair(node.op, a, b, parts, lower=lower)) for b in bits(row)]
                    for a, row in enumerate(wanted)
                )
                return [{b: literal for b, literal in row if literal != FALSE} for row in pairs]

    def _pair(self, op: str, a: int, b: int, parts: list[Rows], *, lower: bool) -> int:
        """What is made pair by pair."""
        most, literals = self.base.together(a, b), [part[a].get(b, FALSE) for part in parts]
        match op:
            case "|" | "?":
                if op == "?" and a == b:
                    return most
                present = [literal for literal in literals if literal != FALSE]
                return self._any(present, most, lower=lower) if present else FALSE
            case "&":
                return self._both(literals[0], literals[1], most)
            case "\\":
                return self._without(literals[0], literals[1], most)
            case "~":
                return self._without(most, literals[0], most)
            case _:
                raise AssertionError(op)

    def _product(self, first: Members, second: Members, wanted: relations.Rows) -> Rows:
        here = self.base.here

        def literal(a: int, b: int) -> int:
            if first[a] == here[a] and second[b] == here[b]:
                return self.base.together(a, b)
            return self.clauses.all_of((first[a], second[b]))

        return [
            {b: literal(a, b) for b in bits(row) if b in second} if a in first else {} for a, row in enumerate(wanted)
        ]


def _forbids_cycles(axiom: Axiom, nodes: Nodes, number: int) -> bool:
    """`acyclic r`, or `irreflexive r+`."""
    if nodes.list[number].kind == "set":
        return False
    is_closure = nodes.list[number].op == "+"
    return axiom.kind == "acyclic" or (axiom.kind == "irreflexive" and is_closure)


def _offending(axiom: Axiom, literals: Rows | Members) -> Iterable[int]:
    """What must not be there, for an axiom that is not about cycles."""
    if isinstance(literals, dict):
        return literals.values()
    if axiom.kind == "empty":
        return (literal for row in literals for literal in row.values())
    return (row[n] for n, row in enumerate(literals) if n in row)


def _turned(rows: Rows) -> Rows:
    found: Rows = [{} for _ in rows]
    for a, row in enumerate(rows):
        for b, literal in row.items():
            found[b][a] = literal
    return found
