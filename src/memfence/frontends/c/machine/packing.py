"""Integers that are several values side by side: a struct in a register, a union, a word with bits that are padding.

Each piece keeps what is known of it, so that nothing is lost where an integer is put together only to be taken apart
again, and integers of more than 64 bits can be followed that no register of the explored program holds. Whoever
computes with such an integer gets it as one expression, from `plain`.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from memfence.frontends.c.llvm.values import signed
from memfence.frontends.c.machine.arithmetic import compare, compute, extend, fit
from memfence.frontends.c.machine.undefined import BIT_OPS
from memfence.frontends.c.machine.value_sets import listed
from memfence.frontends.c.machine.values import (
    UNDEFINED,
    ZERO,
    Integer,
    Known,
    Packed,
    Parts,
    Scalar,
    Unknown,
    Value,
    is_undefined,
)
from memfence.program.expressions import Binary, Expr

Piece = tuple[int, Scalar]

WIDEST = 64
"""Bits of the widest piece: what a register of the explored program holds."""


def packed(pieces: Iterable[Piece]) -> Integer:
    """The pieces as one integer, in its simplest form."""
    found: list[Piece] = []
    for bits, value in pieces:
        before = found[-1] if found else None
        if before is not None and isinstance(value, Known) and isinstance(before[1], Known):
            found[-1] = (before[0] + bits, _beside(before[0], before[1], bits, value))
        else:
            found.append((bits, value))
    return found[0][1] if len(found) == 1 else Packed(tuple(found))


def _beside(low_bits: int, low: Known, high_bits: int, high: Known) -> Known:
    mask = (1 << low_bits) - 1
    high_mask = (1 << high_bits) - 1
    value = (high.value & high_mask) << low_bits | low.value & mask
    undefined = (high.undefined & high_mask) << low_bits | low.undefined & mask
    return Known(signed(value, low_bits + high_bits), undefined)


def pieces_of(value: Integer, bits: int) -> tuple[Piece, ...]:
    return value.pieces if isinstance(value, Packed) else ((bits, value),)


def plain(value: Integer) -> Scalar:
    """The integer as one expression; undefined where some of its bits are."""
    if not isinstance(value, Packed):
        return value
    if is_undefined(value):
        return UNDEFINED
    *others, (bits, total) = value.pieces
    if bits == 1:
        total = extend("sext", 1, 2, total)
    for low_bits, low in reversed(others):
        bits += low_bits
        shifted = compute("shl", bits, total, Known(low_bits))
        total = compute("add", bits, shifted, extend("zext", low_bits, bits, low))
    return total


def part(value: Integer, bits: int, low: int, width: int) -> Integer:
    """`width` bits of an integer of `bits` bits, from bit `low` on."""
    if low == 0 and width == bits:
        return value
    if not isinstance(value, Packed):
        return fit(width, compute("lshr", bits, value, Known(low)) if low else value)
    found: list[Piece] = []
    at = 0
    for size, piece in value.pieces:
        first, last = max(at, low), min(at + size, low + width)
        if first < last:
            inner = part(piece, size, first - at, last - first)
            assert not isinstance(inner, Packed)
            found.append((last - first, inner))
        at += size
    return packed(found)


def with_bits(value: Integer, bits: int, low: int, width: int, new: Integer) -> Integer:
    """`value` with `new` in place of `width` bits, from bit `low` on."""
    found = [*pieces_of(part(value, bits, 0, low), low)] if low else []
    found += pieces_of(new, width)
    high = bits - low - width
    return packed([*found, *pieces_of(part(value, bits, low + width, high), high)] if high else found)


def extended(op: str, origin: int, target: int, value: Integer) -> Integer:
    """zext, sext or trunc, of any width."""
    if op == "trunc":
        return part(value, origin, 0, target)
    if not isinstance(value, Packed) and (target <= WIDEST or isinstance(value, Known)):
        return extend(op, origin, target, value)
    *others, (bits, top) = pieces_of(value, origin)
    if op == "sext" and target - origin + bits <= WIDEST:
        return packed([*others, (target - origin + bits, extend("sext", bits, target - origin + bits, top))])
    return packed([*others, (bits, top), *_filling(op, bits, top, target - origin)])


def _filling(op: str, bits: int, top: Scalar, more: int) -> list[Piece]:
    """The bits above the highest piece: 0, or copies of its sign."""
    if op == "zext":
        return [(more, ZERO)]
    sign = extend("sext", 1, 64, compare("slt", bits, top, ZERO) if bits > 1 else top)
    return [(min(WIDEST, more - at), fit(min(WIDEST, more - at), sign)) for at in range(0, more, WIDEST)]


def cut_alike(bits: int, *values: Integer) -> list[tuple[int, tuple[Scalar, ...]]]:
    """The values piece by piece, all cut at the same bits."""
    cuts = {0, bits}
    for value in values:
        at = 0
        for size, piece in pieces_of(value, bits):
            cuts |= {at, at + size, *(at + inside for inside in _changes(piece, size))}
            at += size
    ends = sorted(cuts)
    found = []
    for low, high in pairwise(ends):
        inner = [part(value, bits, low, high - low) for value in values]
        found.append((high - low, tuple(piece for piece in inner if not isinstance(piece, Packed))))
    return found


def _changes(piece: Scalar, bits: int) -> set[int]:
    """Where written bits of a known piece meet those that nobody has written."""
    if not isinstance(piece, Known) or not piece.undefined:
        return set()
    mask = piece.undefined & ((1 << bits) - 1)
    return {at for at in range(1, bits) if (mask >> at & 1) != (mask >> (at - 1) & 1)}


def combined(op: str, bits: int, a: Integer, b: Integer) -> Integer | None:
    """`a op b` piece by piece; None where the operation mixes them."""
    if op in BIT_OPS:
        return packed((size, compute(op, size, x, y)) for size, (x, y) in _mask_cuts(op, bits, a, b))
    if not isinstance(b, Known) or b.undefined or not 0 <= b.value < bits:
        return None
    left = bits - b.value
    match op:
        case "shl" | "lshr" | "ashr" if b.value == 0:
            return a
        case "shl":
            return packed([(b.value, ZERO), *pieces_of(part(a, bits, 0, left), left)])
        case "lshr":
            return packed([*pieces_of(part(a, bits, b.value, left), left), (b.value, ZERO)])
        case "ashr":
            return extended("sext", left, bits, part(a, bits, b.value, left))
    return None


def _mask_cuts(op: str, bits: int, a: Integer, b: Integer) -> list[tuple[int, tuple[Scalar, ...]]]:
    """Both operands cut where a known one changes between 0 and 1, so that each piece stays whole or is decided."""
    masks = [value.value for value in (a, b) if isinstance(value, Known)]
    if op == "xor" or not masks:
        return cut_alike(bits, a, b)
    ends = [0, *(at for at in range(1, bits) if (masks[0] >> at & 1) != (masks[0] >> (at - 1) & 1)), bits]
    if len(ends) > MOST_CUTS:
        return cut_alike(bits, a, b)
    found = []
    for low, high in pairwise(ends):
        found += cut_alike(high - low, part(a, bits, low, high - low), part(b, bits, low, high - low))
    return found


MOST_CUTS = 10
"""Changes between 0 and 1 in a mask, beyond which it counts as a number like any other."""


def equality(bits: int, a: Integer, b: Integer) -> Scalar:
    """1 where both are the same, piece by piece."""
    result: Scalar = Known(1)
    for size, (x, y) in cut_alike(bits, a, b):
        result = conjunction_of(result, compare("eq", size, x, y))
    return result


def conjunction_of(a: Scalar, b: Scalar) -> Scalar:
    """1 where both truth values are 1."""
    if is_undefined(a) or is_undefined(b):
        return UNDEFINED
    if isinstance(a, Known):
        return b if a.value else a
    if isinstance(b, Known):
        return a if b.value else b
    return Unknown(Binary("&&", a.expr, b.expr), listed((0, 1)))


def is_wholly_undefined(value: Integer, bits: int) -> bool:
    """Whether nobody has written any bit of it."""
    masks = ((1 << size) - 1 for size, _ in pieces_of(value, bits))
    pieces = (piece for _, piece in pieces_of(value, bits))
    return all(isinstance(p, Known) and p.undefined & mask == mask for p, mask in zip(pieces, masks, strict=True))


def with_zeros(value: Integer) -> Integer:
    """The value with 0 for every bit that nobody has written."""
    if isinstance(value, Packed):
        return packed((bits, with_zeros(piece)) for bits, piece in value.pieces)  # type: ignore[misc]
    return Known(value.value) if isinstance(value, Known) else value


def replaced(value: Value, expr: Expr, by: Scalar) -> Value:
    """`value` with `by` wherever it is the expression."""
    match value:
        case Parts(items):
            return Parts(tuple(replaced(item, expr, by) for item in items))
        case Packed(pieces):
            return packed((bits, by if piece.expr == expr else piece) for bits, piece in pieces)
        case Unknown():
            return by if value.expr == expr else value
        case _:
            return value
