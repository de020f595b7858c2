"""Integer expressions: one closed union, C meaning, evaluated without overflow.

Truth is 0 or not 0; comparisons give 0 or 1; `&&`, `||` and `?:` evaluate only what they need, so an error in the other
operand does not count. Division truncates toward zero, as in C. Only a store into a register or variable checks ranges.
Registers and variables hold up to 64 bits; what is computed on the way may need 128, and is an error beyond. A shift by
less than 0 or more than 127 is an error, too: a language with a stricter rule says so in its expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, assert_never

from memfence.records import Record

UnaryOp = Literal["-", "!", "~"]
BinaryOp = Literal["+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]

OPPOSITES: dict[BinaryOp, BinaryOp] = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}
"""Comparisons, each with the one that is true where it is false."""


class Const(Record):
    value: int


class Register(Record):
    """A register of the process that evaluates the expression."""

    index: int


class Unary(Record):
    op: UnaryOp
    operand: Expr


class Binary(Record):
    op: BinaryOp
    left: Expr
    right: Expr


class Conditional(Record):
    condition: Expr
    then: Expr
    otherwise: Expr


class Address(Record):
    """`size` consecutive variables from number `base`; `index` chooses one and must lie in 0 .. size - 1."""

    base: int
    size: int
    index: Expr

    @property
    def variable(self) -> int | None:
        """The variable, where the index is a constant within bounds."""
        if isinstance(self.index, Const) and 0 <= self.index.value < self.size:
            return self.base + self.index.value
        return None

    @property
    def variables(self) -> range:
        """Every variable that it can mean."""
        known = self.variable
        return range(self.base, self.base + self.size) if known is None else range(known, known + 1)


def variable_address(variable: int) -> Address:
    """The address of one variable."""
    return Address(variable, 1, Const(0))


# The leaves below look at the whole state. Properties use them; in the ops of a transition only `At` and `RegisterOf`
# (DVE's `process.state` and `process->local`) and `BufferEmpty` (of atomic writes that wait for all processes) may
# stand, never `Shared`: a read of memory is always a `Load`.


class Shared(Record):
    """The value in memory (not in any buffer)."""

    address: Address


class RegisterOf(Record):
    """A register of the given process."""

    process: int
    register: int


class At(Record):
    """1 where the process stands at one of the locations."""

    process: int
    locations: frozenset[int]


class BufferEmpty(Record):
    """1 where no store of the process is pending."""

    process: int


Expr = Const | Register | Unary | Binary | Conditional | Shared | RegisterOf | At | BufferEmpty

TRUE = Const(1)
FALSE = Const(0)
LEAST, MOST = -(2**127), 2**127 - 1
"""The numbers that arithmetic may lead to."""
FARTHEST_SHIFT = 127
BAD_SHIFT = "shift by a negative number, or by too many bits"
MOST_IN_A_ROW = 100
"""Operands of one operator that may stand side by side: each is one level deeper than the next."""


class EvaluationError(Exception):
    """A run-time error of the program under test: division by zero, bad shift, index out of bounds."""


def negate(expr: Expr) -> Expr:
    return Unary("!", expr)


def conjunction(*exprs: Expr) -> Expr:
    """All of them; TRUE for none."""
    return _joined("&&", exprs) if exprs else TRUE


def disjunction(*exprs: Expr) -> Expr:
    """Any of them; FALSE for none."""
    return _joined("||", exprs) if exprs else FALSE


def _joined(op: BinaryOp, exprs: tuple[Expr, ...]) -> Expr:
    """From left to right; very many as a tree of halves, which no recursion finds too deep."""
    if len(exprs) > MOST_IN_A_ROW:
        middle = len(exprs) // 2
        return Binary(op, _joined(op, exprs[:middle]), _joined(op, exprs[middle:]))
    result, *others = exprs
    for expr in others:
        result = Binary(op, result, expr)
    return result


_NOTHING: tuple[Expr, ...] = ()

# Asked of every expression of a program, again and again: a table is several times as fast as a `match`.
_CHILDREN: dict[type, Callable[[Any], tuple[Expr, ...]]] = {
    Unary: lambda expr: (expr.operand,),
    Binary: lambda expr: (expr.left, expr.right),
    Conditional: lambda expr: (expr.condition, expr.then, expr.otherwise),
    Shared: lambda expr: (expr.address.index,),
    **dict.fromkeys((Const, Register, RegisterOf, At, BufferEmpty), lambda expr: _NOTHING),
}


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions."""
    return _CHILDREN[expr.__class__](expr)


FOREIGN = (At, RegisterOf, BufferEmpty)
"""The leaves that look at another process."""


def walk(expr: Expr) -> Iterator[Expr]:
    """`expr` and everything below it."""
    return iter((expr,) if expr.__class__ in _LEAVES else _below(expr))


_LEAVES = frozenset({Const, Register, RegisterOf, At, BufferEmpty})


def _below(expr: Expr) -> list[Expr]:
    """`expr` and everything below it, from left to right."""
    found: list[Expr] = []
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if node.__class__ not in _LEAVES:
            waiting += _CHILDREN[node.__class__](node)[::-1]
    return found


def registers_of(expr: Expr) -> frozenset[int]:
    """Numbers of the evaluating process's own registers that `expr` mentions."""
    if expr.__class__ is Const:
        return frozenset()
    return frozenset([e.index for e in walk(expr) if isinstance(e, Register)])


def rewrite(expr: Expr, leaf: Callable[[Expr], Expr]) -> Expr:
    """`expr` with every leaf (and, after its index, every `Shared`) replaced by `leaf(it)`."""
    match expr:
        case Unary(op, operand):
            return Unary(op, rewrite(operand, leaf))
        case Binary(op, left, right):
            return Binary(op, rewrite(left, leaf), rewrite(right, leaf))
        case Conditional(condition, then, otherwise):
            return Conditional(rewrite(condition, leaf), rewrite(then, leaf), rewrite(otherwise, leaf))
        case Shared(Address(base, size, index)):
            return leaf(Shared(Address(base, size, rewrite(index, leaf))))
        case Const() | Register() | RegisterOf() | At() | BufferEmpty():
            return leaf(expr)
        case _:
            assert_never(expr)


def within_128_bits(value: int) -> int:
    """`value`; arithmetic beyond 128 bits is an error, so that every engine agrees."""
    if not LEAST <= value <= MOST:
        raise EvaluationError("arithmetic beyond 128 bits")
    return value


def apply_unary(op: UnaryOp, value: int) -> int:
    match op:
        case "-":
            return within_128_bits(-value)
        case "!":
            return int(value == 0)
        case "~":
            return ~value
        case _:
            assert_never(op)


def apply_binary(op: BinaryOp, left: int, right: int) -> int:
    """The value of `left op right`; both operands are evaluated already."""
    match op:
        case "+":
            return within_128_bits(left + right)
        case "-":
            return within_128_bits(left - right)
        case "*":
            return within_128_bits(left * right)
        case "/" | "%":
            if right == 0:
                raise EvaluationError("division by zero")
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return within_128_bits(quotient) if op == "/" else left - quotient * right
        case "<<" | ">>":
            if not 0 <= right <= FARTHEST_SHIFT:
                raise EvaluationError(BAD_SHIFT)
            return within_128_bits(left << right) if op == "<<" else left >> right
        case "&":
            return left & right
        case "|":
            return left | right
        case "^":
            return left ^ right
        case "==":
            return int(left == right)
        case "!=":
            return int(left != right)
        case "<":
            return int(left < right)
        case "<=":
            return int(left <= right)
        case ">":
            return int(left > right)
        case ">=":
            return int(left >= right)
        case "&&":
            return int(left != 0 and right != 0)
        case "||":
            return int(left != 0 or right != 0)
        case _:
            assert_never(op)


def evaluate(expr: Expr, leaf: Callable[[Register | Shared | RegisterOf | At | BufferEmpty, int], int]) -> int:
    """The value of `expr`; `leaf(node, index)` supplies what depends on the state.

    `index` is the evaluated index of a `Shared` node, already checked against its bounds, and 0 for the others.
    """
    match expr:
        case Const(value):
            return value
        case Unary(op, operand):
            return apply_unary(op, evaluate(operand, leaf))
        case Binary("&&", left, right):
            return int(evaluate(left, leaf) != 0 and evaluate(right, leaf) != 0)
        case Binary("||", left, right):
            return int(evaluate(left, leaf) != 0 or evaluate(right, leaf) != 0)
        case Binary(op, left, right):
            return apply_binary(op, evaluate(left, leaf), evaluate(right, leaf))
        case Conditional(condition, then, otherwise):
            return evaluate(then if evaluate(condition, leaf) != 0 else otherwise, leaf)
        case Shared(address):
            return leaf(expr, check_index(address, evaluate(address.index, leaf)))
        case Register() | RegisterOf() | At() | BufferEmpty():
            return leaf(expr, 0)
        case _:
            assert_never(expr)


def check_index(address: Address, index: int) -> int:
    """`index`, if it lies within the bounds of `address`."""
    if not 0 <= index < address.size:
        raise EvaluationError(f"index {index} outside 0..{address.size - 1}")
    return index


def fold(expr: Expr) -> Expr:
    """An equivalent expression with constant parts computed; parts that would fail are kept, to fail at run time."""
    if expr.__class__ in _LEAVES:
        return expr
    if isinstance(expr, Binary):  # most are
        a, b = fold(expr.left), fold(expr.right)
        is_same = a is expr.left and b is expr.right and not isinstance(a, Const)
        return expr if is_same else fold_binary(expr.op, a, b)
    match expr:
        case Const() | Register() | RegisterOf() | At() | BufferEmpty():
            return expr
        case Unary(op, operand):
            return fold_unary(op, fold(operand))
        case Conditional(condition, then, otherwise):
            test = fold(condition)
            if isinstance(test, Const):
                return fold(then if test.value != 0 else otherwise)
            return Conditional(test, fold(then), fold(otherwise))
        case Shared(Address(base, size, index)):
            return Shared(Address(base, size, fold(index)))
        case _:
            assert_never(expr)


def fold_unary(op: UnaryOp, operand: Expr) -> Expr:
    """`fold` of an operator and an operand that is folded already."""
    if isinstance(operand, Const):
        try:
            return Const(apply_unary(op, operand.value))
        except EvaluationError:
            pass
    return Unary(op, operand)


def fold_binary(op: BinaryOp, left: Expr, right: Expr) -> Expr:
    """`fold` of an operator and operands that are folded already."""
    if not isinstance(left, Const):
        return Binary(op, left, right)
    if op in ("&&", "||"):
        if (left.value != 0) == (op == "||"):
            return Const(int(op == "||"))
        return Const(int(right.value != 0)) if isinstance(right, Const) else Binary("!=", right, Const(0))
    if isinstance(right, Const):
        try:
            return Const(apply_binary(op, left.value, right.value))
        except EvaluationError:
            pass
    return Binary(op, left, right)
