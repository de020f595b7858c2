"""LLVM's functions on the bits of integers: rotations, counts, swapped bytes, saturating and overflowing arithmetic."""

from __future__ import annotations

from collections.abc import Callable

from memfence.codes import Code
from memfence.frontends.c.library.arguments import number
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.types import bits_of
from memfence.frontends.c.machine.arithmetic import as_unsigned, choose, compare, compute, extend, fit, unwrapped
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.packing import WIDEST, packed, part, plain
from memfence.frontends.c.machine.path import LONG_HINT, LONG_INTEGER, Path
from memfence.frontends.c.machine.undefined import SIGNED_OVERFLOW, Undefined, used
from memfence.frontends.c.machine.value_sets import listed, range_of_bits
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Packed, Parts, Scalar, Unknown, Value
from memfence.program.expressions import Binary, Const, disjunction

Computed = Callable[[int, list[Scalar]], Value]
"""From the width of the operands and the operands to the result."""

ZERO_IS_UNDEFINED = "the bits of 0 are counted by a function that is not defined for it"


def bit_intrinsic(name: str) -> Handler | None:
    """What a call of the function does; None where it is none of these."""
    parts = name.split(".")
    if len(parts) > 3 and parts[2:4] == ["with", "overflow"]:
        return _handler(lambda bits, operands: _with_overflow(parts[1], bits, operands))
    if len(parts) > 2 and parts[2] == "sat":
        return _handler(lambda bits, operands: _saturating(parts[1], bits, operands))
    computed = FUNCTIONS.get(parts[1])
    return None if computed is None else _handler(computed)


def _handler(computed: Computed) -> Handler:
    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        bits = bits_of(call.arguments[0][0])
        if bits > WIDEST and any(isinstance(argument, Packed) for argument in arguments):
            raise path.refuse(Code.UNSUPPORTED, LONG_INTEGER, LONG_HINT)
        operands = [number(path, arguments, position) for position in range(len(arguments))]
        if computed in COUNTS and operands[1] == ONE:
            _check_not_zero(path, operands[0])
        if computed is _absolute and operands[1] == ONE and path.world.options.overflow:
            _check_not_least(path, bits, operands[0])
        if not path.ended:
            returned(path, call, computed(bits, operands))

    return run


def _check_not_zero(path: Path, value: Scalar) -> None:
    """An operand of `__builtin_clz` or `__builtin_ctz`."""
    if value == ZERO:
        raise Undefined(ZERO_IS_UNDEFINED)
    if isinstance(value, Unknown) and value.values.contains(0):
        path.check(Binary("!=", value.expr, Const(0)), ZERO_IS_UNDEFINED)


def _check_not_least(path: Path, bits: int, value: Scalar) -> None:
    """An operand of `abs`: the least integer has no positive counterpart."""
    least = range_of_bits(bits)[0]
    if value == Known(least):
        raise Undefined(SIGNED_OVERFLOW)
    if isinstance(value, Unknown) and value.values.contains(least):
        path.check(Binary("!=", value.expr, Const(least)), SIGNED_OVERFLOW)


def _ideal(op: str, bits: int, a: Scalar, b: Scalar) -> Scalar:
    """The mathematical sum, difference or product of numbers with sign (`sadd`) or without (`uadd`)."""
    if op[0] == "u":
        a, b = as_unsigned(bits, a), as_unsigned(bits, b)
    return unwrapped(op[1:], bits, a, b)


def _limits(op: str, bits: int) -> tuple[int, int]:
    return range_of_bits(bits) if op[0] == "s" else (0, (1 << bits) - 1)


def _outside(op: str, bits: int, a: Scalar, b: Scalar) -> Scalar:
    """Whether the result is too large or too small. Products without sign may need more than 128 bits: by division."""
    lo, hi = _limits(op, bits)
    if op == "umul" and not (isinstance(a, Known) and isinstance(b, Known)):
        divisor = choose(compare("eq", bits, b, ZERO), ONE, b)
        most = compute("udiv", bits, Known(-1), divisor)
        return compute("and", 1, compare("ne", bits, b, ZERO), compare("ugt", bits, a, most))
    ideal = _ideal(op, bits, a, b)
    bounds = ideal.values.bounds()
    if bounds is not None and lo <= bounds[0] and bounds[1] <= hi:
        return ZERO
    if isinstance(ideal, Known):
        return ONE
    return Unknown(disjunction(Binary("<", ideal.expr, Const(lo)), Binary(">", ideal.expr, Const(hi))), listed((0, 1)))


def _with_overflow(op: str, bits: int, operands: list[Scalar]) -> Value:
    """The pair of the wrapped result and whether it wrapped."""
    a, b = operands
    return Parts((compute(op[1:], bits, a, b), _outside(op, bits, a, b)))


def _saturating(op: str, bits: int, operands: list[Scalar]) -> Value:
    """The result, or the limit that it lies beyond."""
    a, b = operands
    lo, hi = _limits(op, bits)
    ideal = _ideal(op, bits, a, b)
    too_small = compare("slt", 4 * bits, ideal, Known(lo))
    too_large = compare("sgt", 4 * bits, ideal, Known(hi))
    inside = compute(op[1:], bits, a, b)
    return choose(too_small, fit(bits, Known(lo)), choose(too_large, fit(bits, Known(hi)), inside))


def _funnel_left(bits: int, operands: list[Scalar]) -> Value:
    """`fshl`: the high half of the two first operands side by side, shifted to the left."""
    high, low, by = operands
    by = compute("urem", bits, by, Known(bits))
    back = compute("sub", bits, Known(bits), by)
    rest = _shifted_right(bits, low, back)
    return compute("or", bits, compute("shl", bits, high, by), rest)


def _funnel_right(bits: int, operands: list[Scalar]) -> Value:
    """`fshr`: the low half of the two first operands side by side, shifted to the right."""
    high, low, by = operands
    by = compute("urem", bits, by, Known(bits))
    back = compute("sub", bits, Known(bits), by)
    rest = compute("shl", bits, compute("shl", bits, high, Known(1)), compute("sub", bits, back, ONE))
    return compute("or", bits, rest, compute("lshr", bits, low, by))


def _shifted_right(bits: int, value: Scalar, by: Scalar) -> Scalar:
    """By at least one bit and at most all of them."""
    return compute("lshr", bits, compute("lshr", bits, value, Known(1)), compute("sub", bits, by, ONE))


def _each_bit(bits: int, value: Scalar) -> list[Scalar]:
    """The lowest first."""
    return [plain(part(value, bits, at, 1)) for at in range(bits)]


def _population(bits: int, operands: list[Scalar]) -> Value:
    total: Scalar = ZERO
    for bit in _each_bit(bits, operands[0]):
        total = compute("add", 2 * bits, total, extend("zext", 1, 2 * bits, bit))
    return fit(bits, total)


def _trailing_zeros(bits: int, operands: list[Scalar]) -> Value:
    return _zeros(bits, operands, _each_bit(bits, operands[0]))


def _leading_zeros(bits: int, operands: list[Scalar]) -> Value:
    return _zeros(bits, operands, _each_bit(bits, operands[0])[::-1])


def _zeros(bits: int, operands: list[Scalar], each: list[Scalar]) -> Value:
    found: Scalar = fit(bits, Known(bits))
    for position in range(bits - 1, -1, -1):
        found = choose(each[position], fit(bits, Known(position)), found)
    return found


def _swapped_bytes(bits: int, operands: list[Scalar]) -> Value:
    return packed((8, plain(part(operands[0], bits, at, 8))) for at in range(bits - 8, -1, -8))


def _reversed_bits(bits: int, operands: list[Scalar]) -> Value:
    return packed((1, bit) for bit in _each_bit(bits, operands[0])[::-1])


def _absolute(bits: int, operands: list[Scalar]) -> Value:
    a = used(operands[0])
    return choose(compare("sge", bits, a, ZERO), a, compute("sub", bits, ZERO, a))


def _chosen(predicate: str) -> Computed:
    def run(bits: int, operands: list[Scalar]) -> Value:
        a, b = operands
        return choose(compare(predicate, bits, a, b), a, b)

    return run


COUNTS = (_trailing_zeros, _leading_zeros)
FUNCTIONS: dict[str, Computed] = {
    "smax": _chosen("sge"),
    "smin": _chosen("sle"),
    "umax": _chosen("uge"),
    "umin": _chosen("ule"),
    "abs": _absolute,
    "fshl": _funnel_left,
    "fshr": _funnel_right,
    "ctpop": _population,
    "cttz": _trailing_zeros,
    "ctlz": _leading_zeros,
    "bswap": _swapped_bytes,
    "bitreverse": _reversed_bits,
}
