"""Expressions of Remmex: locals, constants, and at most one shared variable, which is loaded once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.diagnostics import did_you_mean
from memfence.frontends.parsing.syntax import Name
from memfence.frontends.remmex.reader import Reader
from memfence.frontends.remmex.syntax import PlaceOf
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, BinaryOp, Const, Expr, Register, Unary, fold, variable_address
from memfence.program.ir import Assume, Load, Op
from memfence.records import Record

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Tree
    from memfence.frontends.parsing.syntax import Node


class SharedName(Record):
    """A global variable: `size` variables from number `base`; None if it is not an array."""

    base: int
    size: int | None


class Translator:
    """Expressions of one process. Translating may need a load first: `value` and `condition` give its ops."""

    def __init__(self, reader: Reader, builder: ProcessBuilder, shared: Mapping[str, SharedName]) -> None:
        self.reader = reader
        self.builder = builder
        self.shared = shared
        self.locals: dict[str, int] = {}

    def value(self, node: Node) -> tuple[list[Op], Expr]:
        """The load that the expression needs, if any, and the expression."""
        address = self._loaded(node)
        return [self._load(address)] if address is not None else [], self._translate(node)

    def condition(self, node: Node) -> list[Op]:
        """Ops that pass only where the expression is true.

        What does not need the load comes first: in `i < 4 && load(n[i],0)` nothing is loaded once i is 4.
        """
        address = self._loaded(node)
        if address is None:
            return [Assume(self._translate(node))]
        parts = list(_conjuncts(node))
        local = [Assume(self._translate(part)) for part in parts if not any(_loads(part))]
        rest = [Assume(self._translate(part)) for part in parts if any(_loads(part))]
        return [*local, self._load(address), *rest]

    def none_of(self, nodes: Sequence[Node]) -> list[Op]:
        """Ops that pass only where all the expressions are false."""
        address = self._loaded(*nodes)
        false = [Assume(Unary("!", self._translate(node))) for node in nodes]
        return [self._load(address), *false] if address is not None else [*false]

    def address(self, place: PlaceOf) -> Address:
        """Where a shared variable is; 0 if there is none, which is reported."""
        known = self.shared.get(place.name.text)
        if known is None:
            self._not_shared(place)
            return variable_address(0)
        if known.size is None:
            if place.index is not None:
                self.reader.report(Code.TYPE_MISMATCH, f"`{place.name.text}` is not an array", place.span)
            return variable_address(known.base)
        if place.index is None:
            what = f"`{place.name.text}` is an array: an index is missing"
            self.reader.report(Code.TYPE_MISMATCH, what, place.span, f"write `{place.name.text}[0]`")
            return variable_address(known.base)
        if any(_loads(place.index)):
            self.reader.report(Code.UNSUPPORTED, "a load inside an index is not supported", place.span, "use a local")
            return variable_address(known.base)
        index = fold(self._translate(place.index))
        if isinstance(index, Const) and not 0 <= index.value < known.size:
            what = f"`{place.name.text}` has the elements 0 to {known.size - 1}: no element {index.value}"
            self.reader.report(Code.BAD_ADDRESS, what, place.span)
            return variable_address(known.base)
        if isinstance(index, Const):
            return variable_address(known.base + index.value)
        return Address(known.base, known.size, index)

    def _not_shared(self, place: PlaceOf) -> None:
        name = place.name.text
        if name in self.locals:
            what = f"`{name}` is a local variable, not shared"
            self.reader.report(Code.TYPE_MISMATCH, what, place.name.span, f"use `{name}` without load or store")
            return
        hint = did_you_mean(name, list(self.shared), f"declare it with `int {name} = 0;` before the proctypes")
        self.reader.report(Code.UNKNOWN_VARIABLE, f"unknown shared variable `{name}`", place.name.span, hint)

    def local(self, name: Name) -> int:
        """The register of a local variable."""
        if name.text in self.locals:
            return self.locals[name.text]
        if name.text in self.shared:
            what = f"`{name.text}` is shared: it is not a local variable"
            hint = f"read it with `loadval({name.text})`, write it with `store({name.text}, ...)`"
            self.reader.report(Code.TYPE_MISMATCH, what, name.span, hint)
        else:
            hint = did_you_mean(name.text, list(self.locals), f"declare it with `int {name.text};`") or ""
            self.reader.report(Code.UNKNOWN_REGISTER, f"unknown local variable `{name.text}`", name.span, hint)
        return 0

    def _load(self, address: Address) -> Load:
        return Load(self.builder.scratch(0), address)

    def _loaded(self, *nodes: Node) -> Address | None:
        """The address of the one variable that the expressions load."""
        first: tuple[Address, PlaceOf] | None = None
        for tree in (load for node in nodes for load in _loads(node)):
            place = self.reader.place(cast("Tree", tree.children[0]))
            address = self.address(place)
            if first is None:
                first = (address, place)
            elif address != first[0]:
                what = f"this statement loads `{first[1].span.text}` and `{place.span.text}`: only one is possible"
                hint = "load them one after the other into locals, with `loadval`"
                self.reader.report(Code.UNSUPPORTED, what, self.reader.span(tree), hint)
                break
        return first[0] if first is not None else None

    def _translate(self, node: Node) -> Expr:
        tree = cast("Tree", node)
        children = tree.children
        match str(tree.data):
            case "constant":
                return Const(self.reader.number(children[0]))
            case "truth":
                return Const(int(str(children[0]) == "true"))
            case "variable":
                return Register(self.local(self.reader.name(children[0])))
            case "element":
                what = "a local variable cannot be an array"
                name = str(children[0])
                hint = f"read a shared array with `loadval({name}[...])`" if name in self.shared else None
                self.reader.report(Code.UNSUPPORTED, what, self.reader.span(tree), hint)
                return Const(0)
            case "load":
                if any(_loads(children[1])):
                    what = "a load inside the value of a load is not supported"
                    self.reader.report(Code.UNSUPPORTED, what, self.reader.span(tree), "use a local")
                    return Const(0)
                return Binary("==", Register(self.builder.scratch(0)), self._translate(children[1]))
            case "loadval":
                return Register(self.builder.scratch(0))
            case "not_":
                return Unary("!", self._translate(children[0]))
            case "negative":
                return Unary("-", self._translate(children[1]))
            case "binary":
                left, operator, right = children
                op = cast(BinaryOp, str(operator))
                return Binary(op, self._translate(left), self._translate(right))
            case other:
                raise AssertionError(other)


def _conjuncts(node: Node) -> Iterator[Node]:
    """The operands of `&&` at the top of an expression, in order."""
    tree = cast("Tree", node)
    if tree.data == "binary" and str(tree.children[1]) == "&&":
        yield from _conjuncts(tree.children[0])
        yield from _conjuncts(tree.children[2])
    else:
        yield node


def _loads(node: Node) -> Iterator[Tree]:
    """Every `load` and `loadval` in an expression, but for those inside others."""
    if not hasattr(node, "type"):
        if node.data in ("load", "loadval"):
            yield node
        else:
            for child in node.children:
                yield from _loads(child)
