"""Values that nobody has written: which bits of a result depend on them.

Copying such a value is no error, nor is masking it away, as every write to a bit-field does. A decision, an address or
an assertion that depends on it is one: whoever needs the value calls `used`.
"""

from __future__ import annotations

from typing import TypeVar

from memfence.frontends.c.llvm.values import signed
from memfence.frontends.c.machine.values import UNDEFINED, Known, Scalar, Value, is_undefined

USED = "use of an uninitialised value"
DIVISION = "division by zero"
OUTSIDE = "index outside of its array"
SIGNED_OVERFLOW = "signed integer overflow"
BIT_OPS = ("and", "or", "xor")


class Undefined(Exception):
    """The operation has no meaning in C: the text says what happened."""


V = TypeVar("V", bound=Value)


def used(value: V) -> V:
    """The value, where all of it was written."""
    if is_undefined(value):
        raise Undefined(USED)
    return value


def undefined_result(op: str, bits: int, a: Scalar, b: Scalar) -> Known | None:
    """`a op b` where a bit of one of them is undefined; None where none is."""
    if not is_undefined(a) and not is_undefined(b):
        return None
    if not isinstance(a, Known) or not isinstance(b, Known):
        return UNDEFINED
    mask = (1 << bits) - 1
    ua, ub = a.undefined & mask, b.undefined & mask
    match op:
        case "and":
            return _known(a.value & b.value, ua & ub | ua & b.value | ub & a.value, bits)
        case "or":
            return _known(a.value | b.value, ua & ~b.value | ub & ~a.value, bits)
        case "xor":
            return _known(a.value ^ b.value, ua | ub, bits)
        case "shl" if not ub and 0 <= b.value < bits:
            return _known(a.value << b.value, ua << b.value, bits)
        case "lshr" if not ub and 0 <= b.value < bits:
            return _known((a.value & mask) >> b.value, ua >> b.value, bits)
        case "ashr" if not ub and 0 <= b.value < bits:
            return _known(a.value >> b.value, signed(ua, bits) >> b.value, bits)
    return UNDEFINED


def _known(value: int, undefined: int, bits: int) -> Known:
    mask = (1 << bits) - 1
    return Known(signed(value & ~undefined & mask, bits), undefined & mask)


def undefined_extension(op: str, origin: int, target: int, value: Known) -> Known:
    """`value`, of which some bits are undefined, in another width."""
    undefined = value.undefined & ((1 << origin) - 1)
    if op == "sext":
        undefined = signed(undefined, origin)
    number = value.value if op == "sext" else value.value & ((1 << origin) - 1)
    return _known(number, undefined, target)
