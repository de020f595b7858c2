"""What the text of two conditions says about each other."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.program.expressions import Binary, BinaryOp, Const, Expr, Unary, negate

OPPOSITES: dict[BinaryOp, BinaryOp] = {"!=": "==", ">=": "<", ">": "<="}


def canonical(condition: Expr) -> Expr:
    """A condition as true as this one, and the same for many that are written in other ways."""
    atom, positive = _literal(condition)
    if isinstance(atom, Const):
        return Const(int((atom.value != 0) == positive))
    return atom if positive else negate(atom)


def _literal(condition: Expr) -> tuple[Expr, bool]:
    """An expression, and whether it must be true or false."""
    match condition:
        case Unary("!", operand) | Binary("==", operand, Const(0)):
            atom, positive = _literal(operand)
            return atom, not positive
        case Binary("!=", operand, Const(0)):
            return _literal(operand)
        case Binary(op, left, right) if op in OPPOSITES:
            return Binary(OPPOSITES[op], left, right), False
    return condition, True


def is_opposite(a: Expr, b: Expr) -> bool:
    """Whether exactly one of the two is true, for sure."""
    (first, yes), (second, no) = _literal(a), _literal(b)
    return first == second and yes != no


def excludes(a: Expr, b: Expr) -> bool:
    """Whether never both are true, for sure."""
    return is_opposite(a, b) or any(_differ(x, y) for x in _conjuncts(a) for y in _conjuncts(b))


def _differ(a: Expr, b: Expr) -> bool:
    match a, b:
        case Binary("==", x, Const(m)), Binary("==", y, Const(n)):
            return x == y and m != n
        case (Binary("==", x, m), Binary("==", y, n)) if x == y:  # a compare-exchange that fails spuriously
            return Binary("^", m, Const(1)) == n or m == Binary("^", n, Const(1))
    return is_opposite(a, b)


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Binary) and expr.op == "&&":
        yield from _conjuncts(expr.left)
        yield from _conjuncts(expr.right)
    else:
        yield expr
