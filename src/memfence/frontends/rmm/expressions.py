"""Expressions of RMM in a process, and the bounds that declared domains give them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.frontends.rmm.reader import Reader
from memfence.program import expressions
from memfence.program.ir import Domain, RegisterVar
from memfence.source import Span

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree
    from memfence.frontends.parsing.syntax import Node

Bounds = tuple[int, int] | None
_TRUTH = frozenset({"&&", "||", "=", "!=", "<", ">", "<=", ">="})


class Translator:
    """Expressions of process number `me` out of `count`; `register` finds registers by token."""

    def __init__(self, reader: Reader, me: int, count: int, register: Callable[[Token], int]) -> None:
        self.reader = reader
        self.me = me
        self.count = count
        self.register = register

    def condition(self, node: Node) -> expressions.Expr:
        """A truth value; reported if it is a number."""
        inner = _inside(node)
        if not is_truth(inner):
            span = self.reader.span(inner)
            what = f"`{span.text}` is a number where a condition is expected"
            self.reader.report(Code.TYPE_MISMATCH, what, span, f"write `{span.text} != 0`")
        return self.translate(inner)

    def number(self, node: Node) -> expressions.Expr:
        """An integer; reported if it is a truth value."""
        inner = _inside(node)
        if is_truth(inner):
            span = self.reader.span(inner)
            self.reader.report(Code.TYPE_MISMATCH, f"`{span.text}` is a condition where a number is expected", span)
        return self.translate(inner)

    def translate(self, node: Node) -> expressions.Expr:
        if hasattr(node, "type"):
            return expressions.TRUE if node.type == "TRUE" else expressions.FALSE
        tree = node
        match str(tree.data):
            case "constant":
                return expressions.Const(self.reader.number(cast("Token", tree.children[0])))
            case "register_value":
                return expressions.Register(self.register(cast("Token", tree.children[0])))
            case "negative":
                return expressions.Unary("-", self.number(tree.children[1]))
            case "not_":
                return expressions.negate(self.condition(tree.children[0]))
            case "me":
                return expressions.Const(self.me)
            case "other_process":
                index = self.reader.number(cast("Token", tree.children[0]))
                return expressions.Const(self.other(index, self.reader.span(tree)) or 0)
            case "process_number":
                return expressions.Const(self.reader.number(cast("Token", tree.children[0])))
            case "binary":
                left, operator, right = tree.children
                side = self.condition if str(operator) in ("&&", "||") else self.number
                op = "==" if str(operator) == "=" else str(operator)
                return expressions.Binary(cast(expressions.BinaryOp, op), side(left), side(right))
            case other:
                raise AssertionError(other)

    def other(self, index: int, span: Span) -> int | None:
        """The number of the `index`-th other process; None if there is none, which is reported."""
        number = index if index < self.me else index + 1
        if number < self.count:
            return number
        hint = f"others are numbered from 0 to {self.count - 2}" if self.count > 1 else None
        self.reader.report(Code.UNKNOWN_PROCESS, f"there is no other process number {index}", span, hint)
        return None


def _inside(node: Node) -> Node:
    """The expression itself, without the rule that only names its role."""
    while getattr(node, "data", "") == "condition":
        node = cast("Tree", node).children[0]
    return node


def is_truth(node: Node) -> bool:
    if hasattr(node, "type"):
        return True  # `true` and `false` are the only tokens that stand as expressions
    return node.data == "not_" or (node.data == "binary" and str(node.children[1]) in _TRUTH)


def bounds_of(expr: expressions.Expr, registers: Sequence[RegisterVar]) -> Bounds:
    """The least and the greatest value that declared domains allow; None where there is no limit."""
    match expr:
        case expressions.Const(value):
            return value, value
        case expressions.Register(number):
            domain = registers[number].domain
            return None if domain.overflow == "undeclared" else (domain.lo, domain.hi)
        case expressions.Unary("-", operand):
            inner = bounds_of(operand, registers)
            return (-inner[1], -inner[0]) if inner else None
        case expressions.Binary("+" | "-" as op, left, right):
            a, b = bounds_of(left, registers), bounds_of(right, registers)
            if a is None or b is None:
                return None
            return (a[0] + b[0], a[1] + b[1]) if op == "+" else (a[0] - b[1], a[1] - b[0])
        case _:
            return 0, 1


def within(expr: expressions.Expr, domain: Domain, registers: Sequence[RegisterVar]) -> expressions.Expr | None:
    """The condition that the value lies in the domain; None if it always does."""
    if domain.overflow == "undeclared":
        return None
    bounds = bounds_of(expr, registers)
    checks: list[expressions.Expr] = []
    if bounds is None or bounds[0] < domain.lo:
        checks.append(expressions.Binary("<=", expressions.Const(domain.lo), expr))
    if bounds is None or bounds[1] > domain.hi:
        checks.append(expressions.Binary("<=", expr, expressions.Const(domain.hi)))
    return expressions.conjunction(*checks) if checks else None
