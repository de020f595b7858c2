"""Expressions of a thread as vectors and literals: each slot gets its vector where the thread's items define it."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from memfence.engines.axiomatic.clauses import FALSE, TRUE, Clauses
from memfence.engines.axiomatic.multiplying import divide, multiply, negate, remainder, shift
from memfence.engines.axiomatic.vectors import (
    Vector,
    add,
    bitwise,
    choose,
    constant,
    invert,
    is_equal,
    is_less,
    is_not_zero,
    subtract,
    truth,
)
from memfence.program.expressions import (
    At,
    Binary,
    BinaryOp,
    BufferEmpty,
    Conditional,
    Const,
    Expr,
    Register,
    RegisterOf,
    Shared,
    Unary,
)

Leaf = Register | RegisterOf | Shared | At | BufferEmpty
ValueOfLeaf = Callable[[Leaf], Vector]
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class Terms:
    """Expressions over leaves whose vectors `leaf` gives. An expression object is turned into gates once."""

    def __init__(self, clauses: Clauses, leaf: ValueOfLeaf) -> None:
        self.clauses = clauses
        self._leaf = leaf
        self._vectors: dict[int, tuple[Expr, Vector]] = {}
        self._truths: dict[int, tuple[Expr, int]] = {}

    def value(self, expr: Expr) -> Vector:
        """The vector of the expression's value."""
        known = self._vectors.get(id(expr))
        if known is None:  # the expression is kept, so that its address belongs to it for ever
            known = self._vectors[id(expr)] = (expr, self._value(expr))
        return known[1]

    def is_true(self, expr: Expr) -> int:
        """The literal that is true where the expression is not 0."""
        known = self._truths.get(id(expr))
        if known is None:
            known = self._truths[id(expr)] = (expr, self._is_true(expr))
        return known[1]

    def _value(self, expr: Expr) -> Vector:
        match expr:
            case Const(value):
                return constant(value)
            case Unary(op, operand):
                if op == "!":
                    return truth(self.is_true(expr))
                return negate(self.clauses, self.value(operand)) if op == "-" else invert(self.value(operand))
            case Binary("&&" | "||" | "==" | "!=" | "<" | "<=" | ">" | ">="):
                return truth(self.is_true(expr))
            case Binary(op, left, right):
                return self._computed(op, self.value(left), self.value(right))
            case Conditional(condition, then, otherwise):
                return choose(self.clauses, self.is_true(condition), self.value(then), self.value(otherwise))
            case Register() | RegisterOf() | Shared() | At() | BufferEmpty():
                return self._leaf(expr)
            case _:
                assert_never(expr)

    def _computed(self, op: BinaryOp, a: Vector, b: Vector) -> Vector:
        match op:
            case "+":
                return add(self.clauses, a, b)
            case "-":
                return subtract(self.clauses, a, b)
            case "*":
                return multiply(self.clauses, a, b)
            case "/":
                return divide(self.clauses, a, b)
            case "%":
                return remainder(self.clauses, a, b)
            case "<<" | ">>":
                return shift(self.clauses, a, b, left=op == "<<")
            case "&" | "|" | "^":
                return bitwise(self.clauses, op, a, b)
            case _:
                raise AssertionError(op)

    def _is_true(self, expr: Expr) -> int:
        match expr:
            case Const(value):
                return TRUE if value else FALSE
            case Unary("!", operand):
                return -self.is_true(operand)
            case Binary("&&", left, right):
                first = self.is_true(left)
                return FALSE if first == FALSE else self.clauses.both(first, self.is_true(right))
            case Binary("||", left, right):
                first = self.is_true(left)
                return TRUE if first == TRUE else self.clauses.either(first, self.is_true(right))
            case Binary(op, left, right) if op in _COMPARISONS:
                return self._compared(op, self.value(left), self.value(right))
            case Conditional(condition, then, otherwise):
                test = self.is_true(condition)
                return self.clauses.choose(test, self.is_true(then), self.is_true(otherwise))
            case _:
                return is_not_zero(self.clauses, self.value(expr))

    def _compared(self, op: BinaryOp, a: Vector, b: Vector) -> int:
        match op:
            case "==" | "!=":
                equal = is_equal(self.clauses, a, b)
                return equal if op == "==" else -equal
            case "<" | "<=":
                return is_less(self.clauses, a, b, or_equal=op == "<=")
            case _:
                return is_less(self.clauses, b, a, or_equal=op == ">=")
