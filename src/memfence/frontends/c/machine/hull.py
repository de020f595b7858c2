"""The least and the greatest result of an operation, from those of its operands."""

from __future__ import annotations

from memfence.frontends.c.machine.value_sets import range_of_bits

Bounds = tuple[int, int]


def hull(op: str, bits: int, a: Bounds, b: Bounds) -> Bounds | None:
    """The bounds of `a op b` before it wraps; None where they are not known."""
    match op:
        case "add":
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            return a[0] - b[1], a[1] - b[0]
        case "mul":
            products = [x * y for x in a for y in b]
            return min(products), max(products)
        case "and" if min(a[0], b[0]) >= 0:
            return 0, min(a[1], b[1])
        case "and" if b[0] >= 0:
            return 0, b[1]
        case "and" if a[0] >= 0:
            return 0, a[1]
        case "or" | "xor" if min(a[0], b[0]) >= 0:
            return 0, (1 << max(a[1], b[1]).bit_length()) - 1
        case "urem" | "srem" if b[0] > 0 and a[0] >= 0:
            return 0, min(a[1], b[1] - 1)
        case "urem" if b[0] > 0:
            return 0, b[1] - 1
        case "srem" if b[0] > 0:
            return 1 - b[1], b[1] - 1
        case "udiv" | "sdiv" if b[0] > 0 and a[0] >= 0:
            return a[0] // b[1], a[1] // b[0]
        case "udiv" if b[0] > 0:
            return 0, ((1 << bits) - 1) // b[0]
        case "lshr" | "ashr" if a[0] >= 0 and b[0] >= 0:
            return a[0] >> min(b[1], bits), a[1] >> min(b[0], bits)
        case "ashr" if b[0] >= 0:
            ends = [x >> min(n, bits) for x in a for n in b]
            return min(ends), max(ends)
        case "lshr" if b[0] > 0:
            return 0, (1 << (bits - min(b[0], bits))) - 1
        case "shl" if 0 <= b[0] <= b[1] < bits:
            return min(a[0] << b[0], a[0] << b[1]), max(a[1] << b[0], a[1] << b[1])
    match op:
        case "shl":
            return -(1 << (2 * bits)), 1 << (2 * bits)
        case "and" | "or" | "xor" | "ashr" | "srem":
            return range_of_bits(bits)
        case "udiv" | "urem" | "lshr":
            return 0, (1 << bits) - 1
        case "sdiv":
            return -(1 << (bits - 1)), 1 << (bits - 1)
    return None
