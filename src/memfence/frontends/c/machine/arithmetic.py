"""Integer arithmetic of LLVM on known and unknown values.

Values are signed numbers of their width (i1: 0 or 1). An expression of the explored program never wraps by itself, so
wrapping is written out, but only where the possible values show that it can happen.
"""

from __future__ import annotations

from collections.abc import Callable

from memfence.frontends.c.llvm.values import signed
from memfence.frontends.c.machine.hull import Bounds, hull
from memfence.frontends.c.machine.undefined import DIVISION, Undefined, undefined_extension, undefined_result
from memfence.frontends.c.machine.value_sets import ValueSet, all_of_bits, combine, listed, mapped, range_of_bits
from memfence.frontends.c.machine.values import UNDEFINED, Known, Scalar, Unknown, is_undefined
from memfence.program.expressions import OPPOSITES, Binary, BinaryOp, Conditional, Const, Expr, Unary


def compute(op: str, bits: int, a: Scalar, b: Scalar) -> Scalar:
    """`a op b`, wrapped to `bits`. Undefined for a division by a known zero."""
    spoilt = undefined_result(op, bits, a, b)
    if spoilt is not None:
        return spoilt
    if isinstance(a, Known) and isinstance(b, Known):
        return Known(signed(exact(op, bits, a.value, b.value), bits))
    simple = _identity(op, a, b)
    if simple is not None:
        return simple
    values = _values(op, bits, a.values, b.values)
    if values.is_empty and not a.values.is_empty and not b.values.is_empty:
        raise Undefined(f"`{op}` of these operands")  # the caller tests them: no way may just end here
    if values.is_single:
        return Known(signed(next(iter(values.listed)), bits))
    return fit(bits, Unknown(_expression(op, bits, a, b), values))


def unwrapped(op: str, bits: int, a: Scalar, b: Scalar) -> Scalar:
    """The mathematical sum, difference or product: to see whether it overflows."""
    if isinstance(a, Known) and isinstance(b, Known):
        return Known(exact(op, bits, a.value, b.value))
    return Unknown(_expression(op, bits, a, b), _values(op, bits, a.values, b.values))


def exact(op: str, bits: int, a: int, b: int) -> int:
    """The result before it wraps."""
    ua, ub = a & ((1 << bits) - 1), b & ((1 << bits) - 1)
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "shl":
            return a << ub if ub < bits else _bad_shift(b)
        case "lshr":
            return ua >> ub if ub < bits else _bad_shift(b)
        case "ashr":
            return a >> ub if ub < bits else _bad_shift(b)
    if b == 0:
        raise Undefined(DIVISION)
    match op:
        case "udiv":
            return ua // ub
        case "urem":
            return ua % ub
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if op == "sdiv" else a - quotient * b


def _bad_shift(by: int) -> int:
    raise Undefined(f"shift by {by}")


def _identity(op: str, a: Scalar, b: Scalar) -> Scalar | None:
    """`a op b` where one operand leaves the other as it is, or decides alone."""
    if isinstance(b, Known) and b.value == 0:
        if op in ("add", "sub", "or", "xor", "shl", "lshr", "ashr"):
            return a
        if op in ("mul", "and"):
            return b
    if isinstance(b, Known) and b.value == -1 and op in ("and", "or"):
        return a if op == "and" else b
    if isinstance(a, Known) and a.value == 0:
        if op in ("add", "or", "xor"):
            return b
        if op in ("mul", "and"):
            return a
    if isinstance(b, Known) and op == "and":
        bounds = a.values.bounds()
        if bounds is not None and bounds[0] >= 0 and not ((1 << bounds[1].bit_length()) - 1) & ~b.value:
            return a
    if isinstance(b, Known) and b.value == 1 and op in ("mul", "udiv", "sdiv"):
        return a
    return None


def _expression(op: str, bits: int, a: Scalar, b: Scalar) -> Expr:
    plain: dict[str, BinaryOp] = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
    if op in plain:
        if bits == 1 and op == "xor" and b == Known(1):
            return negation(a.expr)
        return Binary(plain[op], a.expr, b.expr)
    match op:
        case "sdiv" | "udiv":
            return Binary("/", *_operands(op, bits, a, b))
        case "srem" | "urem":
            return Binary("%", *_operands(op, bits, a, b))
        case "shl":
            return Binary("<<", a.expr, b.expr)
        case "lshr":
            return _logical_shift(bits, a, b)
        case "ashr":
            return Binary(">>", a.expr, b.expr)
    raise Undefined(f"`{op}`")


def _operands(op: str, bits: int, a: Scalar, b: Scalar) -> tuple[Expr, Expr]:
    return (a.expr, b.expr) if op[0] == "s" else (unsigned(bits, a), unsigned(bits, b))


def _logical_shift(bits: int, value: Scalar, by: Scalar) -> Expr:
    """To the right, with zeros from the left; by a known number of bits, the sign is masked away afterwards."""
    known = value.values.bounds()
    if isinstance(by, Known) and by.value and (known is None or known[0] < 0):
        return Binary("&", Binary(">>", value.expr, by.expr), Const((1 << (bits - by.value)) - 1))
    return Binary(">>", unsigned(bits, value), by.expr)


def unsigned(bits: int, value: Scalar) -> Expr:
    """The value read as a number without sign."""
    known = value.values.bounds()
    if known is not None and known[0] >= 0:
        return value.expr
    return Binary("&", value.expr, Const((1 << bits) - 1))


def _values(op: str, bits: int, a: ValueSet, b: ValueSet) -> ValueSet:
    def one(x: int, y: int) -> int | None:
        try:
            return exact(op, bits, x, y)
        except Undefined:
            return None

    return combine(a, b, one, lambda first, second: hull(op, bits, first, second))


def fit(bits: int, value: Scalar) -> Scalar:
    """`value` modulo 2**bits, as a signed number."""
    if isinstance(value, Known):
        return Known(signed(value.value, bits), value.undefined & ((1 << bits) - 1))
    lo, hi = range_of_bits(bits)
    known = value.values.bounds()
    if known is not None and lo <= known[0] and known[1] <= hi:
        return value
    wrapped = mapped(value.values, lambda v: signed(v, bits))
    return Unknown(_wrap(bits, value.expr), wrapped if wrapped is not None else all_of_bits(bits))


def kept(value: Scalar) -> Scalar:
    """The value as registers and memory hold it. A pointer that may have left its object is wrapped only here."""
    if isinstance(value, Unknown) and value.values.is_open:
        return Unknown(_wrap(64, value.expr), value.values)
    return value


def _wrap(bits: int, expr: Expr) -> Expr:
    mask, half = Const((1 << bits) - 1), Const(1 << (bits - 1))
    if bits == 1:
        return Binary("&", expr, Const(1))
    return Binary("-", Binary("&", Binary("+", expr, half), mask), half)


def extend(op: str, origin: int, target: int, value: Scalar) -> Scalar:
    """zext, sext or trunc."""
    if op == "trunc":
        return fit(target, value)
    if isinstance(value, Known) and value.undefined:
        return undefined_extension(op, origin, target, value)
    if op == "zext":
        if origin == 1:
            return value
        if isinstance(value, Known):
            return Known(value.value & ((1 << origin) - 1))
        values = mapped(value.values, lambda v: v & ((1 << origin) - 1))
        known = value.values.bounds()
        if known is not None and known[0] >= 0:
            values = value.values
        return Unknown(unsigned(origin, value), values if values is not None else between_unsigned(origin))
    if origin == 1:  # sext of a truth value
        if isinstance(value, Known):
            return Known(-value.value)
        return Unknown(Unary("-", value.expr), listed((0, -1)))
    return value


def between_unsigned(bits: int) -> ValueSet:
    return ValueSet(frozenset(), 0, (1 << bits) - 1)


SIGNED: dict[str, BinaryOp] = {"eq": "==", "ne": "!=", "slt": "<", "sle": "<=", "sgt": ">", "sge": ">="}
UNSIGNED: dict[str, str] = {"ult": "slt", "ule": "sle", "ugt": "sgt", "uge": "sge"}
TESTS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "slt": lambda x, y: x < y,
    "sle": lambda x, y: x <= y,
    "sgt": lambda x, y: x > y,
    "sge": lambda x, y: x >= y,
}


def compare(predicate: str, bits: int, a: Scalar, b: Scalar) -> Scalar:
    """1 where the comparison is true."""
    if is_undefined(a) or is_undefined(b):
        return UNDEFINED
    if predicate in UNSIGNED:
        return _compare_unsigned(UNSIGNED[predicate], bits, a, b)
    test = TESTS[predicate]
    if isinstance(a, Known) and isinstance(b, Known):
        return Known(int(test(a.value, b.value)))
    values = combine(
        a.values, b.values, lambda x, y: int(test(x, y)), lambda first, second: _decided(predicate, first, second)
    )
    decided = values.bounds()
    if decided is not None and decided[0] == decided[1]:
        return Known(decided[0])
    truth = _truth(predicate, a, b)
    return Unknown(truth or Binary(SIGNED[predicate], a.expr, b.expr), listed((0, 1)))


def _decided(predicate: str, a: Bounds, b: Bounds) -> Bounds:
    """0, 1 or both, from the bounds of the operands."""
    always = {"slt": a[1] < b[0], "sle": a[1] <= b[0], "sgt": a[0] > b[1], "sge": a[0] >= b[1]}
    never = {"slt": a[0] >= b[1], "sle": a[0] > b[1], "sgt": a[1] <= b[0], "sge": a[1] < b[0]}
    apart = a[1] < b[0] or b[1] < a[0]
    if always.get(predicate) or (predicate == "ne" and apart):
        return 1, 1
    if never.get(predicate) or (predicate == "eq" and apart):
        return 0, 0
    return 0, 1


def _truth(predicate: str, a: Scalar, b: Scalar) -> Expr | None:
    """A truth value compared with 0 is itself or its negation."""
    if b != Known(0) or predicate not in ("eq", "ne") or not is_truth(a.expr):
        return None
    return a.expr if predicate == "ne" else negation(a.expr)


def is_truth(expr: Expr) -> bool:
    """Whether the expression is 0 or 1 by its form."""
    if isinstance(expr, Binary):
        return expr.op in ("==", "!=", "<", "<=", ">", ">=", "&&", "||")
    return isinstance(expr, Unary) and expr.op == "!"


def negation(expr: Expr) -> Expr:
    """The negation of a truth value, without a `!` where a comparison can be turned round."""
    if isinstance(expr, Binary) and expr.op in OPPOSITES:
        return Binary(OPPOSITES[expr.op], expr.left, expr.right)
    if isinstance(expr, Unary) and expr.op == "!" and is_truth(expr.operand):
        return expr.operand
    return Unary("!", expr)


def _compare_unsigned(predicate: str, bits: int, a: Scalar, b: Scalar) -> Scalar:
    mask = (1 << bits) - 1
    if isinstance(a, Known) and isinstance(b, Known):
        return Known(int(TESTS[predicate](a.value & mask, b.value & mask)))
    if all((known := v.values.bounds()) is not None and known[0] >= 0 for v in (a, b)):
        return compare(predicate, bits, a, b)
    if bits < 64:
        return compare(predicate, bits, as_unsigned(bits, a), as_unsigned(bits, b))
    same_sign = Binary("==", Binary("<", a.expr, Const(0)), Binary("<", b.expr, Const(0)))
    signed_result = Binary(SIGNED[predicate], a.expr, b.expr)
    return Unknown(Conditional(same_sign, signed_result, Unary("!", signed_result)), listed((0, 1)))


def as_unsigned(bits: int, value: Scalar) -> Scalar:
    """The value as a number without sign, in a wider type."""
    return extend("zext", bits, 2 * bits, value)


def choose(condition: Scalar, then: Scalar, otherwise: Scalar) -> Scalar:
    """`condition ? then : otherwise`."""
    if is_undefined(condition):
        return UNDEFINED
    if isinstance(condition, Known):
        return then if condition.value else otherwise
    if is_undefined(then) or is_undefined(otherwise):
        return UNDEFINED
    if then == otherwise:
        return then
    if then == Known(1) and otherwise == Known(0):
        return condition
    values = then.values.join(otherwise.values)
    return Unknown(Conditional(condition.expr, then.expr, otherwise.expr), values)
