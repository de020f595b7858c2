"""A model's expressions as one graph in which equal ones are one node, with definitions put in place."""

from __future__ import annotations

from typing import assert_never

from memfence.models.cat.syntax import Base, Binary, Cat, CatExpr, Kind, Named, Unary
from memfence.records import Record


class Node(Record):
    """`op` as in `cat.syntax`, with three more: `base`, with its `name`; `group`, a definition of a recursive group,
    with its number as `name`; `|`, which may have any number of parts. `r*` is written as `(r+)?`."""

    kind: Kind
    op: str
    parts: tuple[int, ...] = ()
    name: str = ""


class Nodes:
    """Nodes by number; a node comes after its parts. `bodies`: for the node of a recursive definition, its body."""

    def __init__(self, cat: Cat) -> None:
        self.cat = cat
        self.list: list[Node] = []
        self.bodies: dict[int, int] = {}
        self._numbers: dict[Node, int] = {}
        self._defined: dict[int, int] = {}

    def number(self, node: Node) -> int:
        """The number of this node, which may be new."""
        known = self._numbers.get(node)
        if known is None:
            known = self._numbers[node] = len(self.list)
            self.list.append(node)
        return known

    def of(self, expr: CatExpr) -> int:
        """The node of an expression."""
        match expr:
            case Base(name, kind):
                return self.number(Node(kind, "base", name=name))
            case Named(definition):
                return self._definition(definition)
            case Unary("*", operand, kind):
                closure = self.number(Node(kind, "+", (self.of(operand),)))
                return self.number(Node(kind, "?", (closure,)))
            case Unary(op, operand, kind):
                return self.number(Node(kind, op, (self.of(operand),)))
            case Binary("|", _, _, kind):
                return self.union([self.of(part) for part in _alternatives(expr)])
            case Binary(op, left, right, kind):
                return self.number(Node(kind, op, (self.of(left), self.of(right))))
            case _:
                assert_never(expr)

    def union(self, parts: list[int]) -> int:
        different = tuple(dict.fromkeys(parts))
        return different[0] if len(different) == 1 else self.number(Node(self.list[parts[0]].kind, "|", different))

    def _definition(self, number: int) -> int:
        known = self._defined.get(number)
        if known is not None:
            return known
        definition = self.cat.definitions[number]
        if definition.group is None:
            known = self._defined[number] = self.of(definition.body)
            return known
        known = self._defined[number] = self.number(Node(definition.body.kind, "group", name=str(number)))
        self.bodies[known] = self.of(definition.body)
        return known

    def without_closures(self, number: int) -> int:
        """A relation with a cycle wherever this one has one, without closures that make no difference to that."""
        node = self.list[number]
        match node.op:
            case "+":
                return self.without_closures(node.parts[0])
            case "|":
                return self.union([self.without_closures(part) for part in node.parts])
            case _:
                return number


def _alternatives(expr: CatExpr) -> list[CatExpr]:
    if isinstance(expr, Binary) and expr.op == "|":
        return [*_alternatives(expr.left), *_alternatives(expr.right)]
    return [expr]
