"""Arithmetic of every width on numbers that are not known: the expression gives what the machine gives, and the set of
values contains it."""

from __future__ import annotations

import random

import pytest

from memfence.frontends.c.llvm.values import signed
from memfence.frontends.c.machine.arithmetic import compare, compute, exact, extend
from memfence.frontends.c.machine.packing import combined, equality, extended, packed, part, plain, with_bits
from memfence.frontends.c.machine.undefined import Undefined
from memfence.frontends.c.machine.value_sets import ValueSet, between, listed, range_of_bits
from memfence.frontends.c.machine.values import Integer, Known, Packed, Scalar, Unknown
from memfence.program.expressions import LEAST, MOST, Register, children, evaluate

WIDTHS = range(1, 65)
OPERATIONS = ("add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr", "and", "or", "xor")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
ROUNDS = 12


def drawn(shuffle: random.Random, bits: int) -> int:
    """A number of that width, often near a limit of some width."""
    lo, hi = range_of_bits(bits)
    near = shuffle.choice((lo, hi, 0, 1 << shuffle.randrange(bits), -(1 << shuffle.randrange(bits))))
    number = shuffle.choice((near + shuffle.randint(-2, 2), shuffle.randint(lo, hi), shuffle.randint(-3, 3)))
    return signed(number, bits)


def unknown(shuffle: random.Random, bits: int, register: int, value: int) -> Scalar:
    """A register that holds the value, as one of some others: few, a range of them, or all."""
    lo, hi = range_of_bits(bits)
    others = [drawn(shuffle, bits) for _ in range(shuffle.randint(1, 5))]
    sets: list[ValueSet] = [
        listed({value, *others}),
        between(min(value, *others), max(value, *others)),
        between(lo, hi),
    ]
    return Unknown(Register(register), shuffle.choice(sets))


def value_of(found: Scalar, registers: list[int]) -> int:
    assert isinstance(found, Known | Unknown)
    return evaluate(found.expr, lambda leaf, _: registers[leaf.index])  # type: ignore[union-attr]


def check_set(found: Scalar, value: int) -> None:
    assert found.values.contains(value), (found, value)


@pytest.mark.parametrize("bits", WIDTHS)
def test_every_operation_of_every_width_is_that_of_the_machine(bits: int) -> None:
    shuffle = random.Random(bits)
    for op in OPERATIONS:
        for _ in range(ROUNDS):
            is_shift = op in ("shl", "lshr", "ashr")
            a, b = drawn(shuffle, bits), shuffle.randrange(bits) if is_shift else drawn(shuffle, bits)
            if is_shift and b > range_of_bits(bits)[1]:
                continue
            try:
                wanted = signed(exact(op, bits, a, b), bits)
            except Undefined:
                continue
            left: Scalar = unknown(shuffle, bits, 0, a) if shuffle.random() < 0.8 else Known(a)
            right: Scalar = unknown(shuffle, bits, 1, b) if shuffle.random() < 0.6 else Known(b)
            if is_shift and isinstance(right, Unknown):
                right = Unknown(right.expr, right.values.keep(lambda v: 0 <= v < bits, 0, bits - 1))
            found = compute(op, bits, left, right)
            assert value_of(found, [a, b]) == wanted, (op, a, b, found)
            check_set(found, wanted)


@pytest.mark.parametrize("bits", WIDTHS)
def test_every_comparison_of_every_width_is_that_of_the_machine(bits: int) -> None:
    shuffle = random.Random(bits)
    mask = (1 << bits) - 1
    for predicate in PREDICATES:
        for _ in range(ROUNDS):
            a, b = drawn(shuffle, bits), drawn(shuffle, bits)
            x, y = (a & mask, b & mask) if predicate[0] == "u" else (a, b)
            if bits == 1 and predicate[0] == "s":
                continue
            wanted = {"eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}[predicate[-2:]]
            found = compare(predicate, bits, unknown(shuffle, bits, 0, a), unknown(shuffle, bits, 1, b))
            assert value_of(found, [a, b]) == int(wanted), (predicate, a, b, found)


@pytest.mark.parametrize("origin", WIDTHS)
def test_every_cast_between_widths_keeps_what_it_should(origin: int) -> None:
    shuffle = random.Random(origin)
    for target in WIDTHS:
        if target == origin:
            continue
        a = drawn(shuffle, origin)
        signed_a = -a if origin == 1 else a
        ops = {"trunc": a} if target < origin else {"zext": a & ((1 << origin) - 1), "sext": signed_a}
        for op, number in ops.items():
            found = extend(op, origin, target, unknown(shuffle, origin, 0, a))
            assert signed(value_of(found, [a]), target) == signed(number, target), (op, origin, target, a)
            check_set(found, value_of(found, [a]))


def test_no_operation_leaves_the_arithmetic_of_expressions() -> None:
    """Of the extreme operands of 64 bits; what is between is less."""
    lo, hi = range_of_bits(64)
    for op in OPERATIONS:
        for a in (lo, hi, -1, 1):
            for b in (0, 1, 63) if op in ("shl", "lshr", "ashr") else (lo, hi, -1, 1):
                both = [Unknown(Register(n), between(lo, hi)) for n in (0, 1)]
                if op in ("shl", "lshr", "ashr"):
                    both[1] = Unknown(Register(1), between(0, 63))
                found = compute(op, 64, both[0], both[1])
                waiting = [found.expr]
                while waiting:
                    expr = waiting.pop()
                    waiting += children(expr)
                    assert LEAST <= evaluate(expr, lambda leaf, _: (a, b)[leaf.index]) <= MOST  # type: ignore[union-attr] # noqa: B023


# Integers in pieces.


def drawn_pieces(shuffle: random.Random, bits: int) -> tuple[Integer, list[int], int]:
    """An integer in random pieces, what its registers hold, and what it is."""
    pieces, registers, total, at = [], [], 0, 0
    while at < bits:
        size = min(shuffle.randint(1, 64), bits - at)
        number = drawn(shuffle, size)
        if shuffle.random() < 0.3:
            pieces.append((size, Known(number)))
        else:
            pieces.append((size, unknown(shuffle, size, len(registers), number)))
            registers.append(number)
        total |= (number & ((1 << size) - 1)) << at
        at += size
    return packed(pieces), registers, signed(total, bits)


def number_in(value: Integer, bits: int, registers: list[int]) -> int:
    """What the integer is; of a long one piece by piece."""
    if bits <= 64:
        return value_of(plain(value), registers)
    pieces = value.pieces if isinstance(value, Packed) else ((bits, value),)
    total = at = 0
    for size, piece in pieces:
        total |= (value_of(piece, registers) & ((1 << size) - 1)) << at
        at += size
    assert at == bits
    return signed(total, bits)


@pytest.mark.parametrize("bits", [2, 3, 7, 8, 15, 16, 24, 31, 32, 33, 40, 48, 56, 63, 64, 65, 96, 127, 128])
def test_an_integer_in_pieces_is_the_integer(bits: int) -> None:
    shuffle = random.Random(bits)
    for _ in range(40):
        value, registers, number = drawn_pieces(shuffle, bits)
        assert number_in(value, bits, registers) == number
        low = shuffle.randrange(bits)
        width = shuffle.randint(1, bits - low)
        inner = signed(number >> low, width)
        assert number_in(part(value, bits, low, width), width, registers) == inner
        new = drawn(shuffle, width)
        changed = with_bits(value, bits, low, width, Known(new))
        mask = ((1 << width) - 1) << low
        assert number_in(changed, bits, registers) == signed(number & ~mask | (new << low) & mask, bits)
        target = bits + shuffle.randint(1, 64)
        assert number_in(extended("sext", bits, target, value), target, registers) == number
        assert number_in(extended("zext", bits, target, value), target, registers) == number & ((1 << bits) - 1)


@pytest.mark.parametrize("bits", [8, 24, 32, 64, 128])
def test_operations_on_bits_work_piece_by_piece(bits: int) -> None:
    shuffle = random.Random(bits)
    for _ in range(40):
        a, registers, x = drawn_pieces(shuffle, bits)
        mask = signed(shuffle.choice((0xFF, 0xFF00, ~0xFF, 0x7, -1, 0, 1 << (bits - 1))), bits)
        for op, wanted in (("and", x & mask), ("or", x | mask), ("xor", x ^ mask)):
            found = combined(op, bits, a, Known(mask))
            assert found is not None and number_in(found, bits, registers) == signed(wanted, bits), (op, x, mask)
        by = shuffle.randrange(bits)
        for op in ("shl", "lshr", "ashr"):
            moved = combined(op, bits, a, Known(by))
            assert moved is not None and number_in(moved, bits, registers) == signed(exact(op, bits, x, by), bits)
        same, other = equality(bits, a, Known(x)), equality(bits, a, Known(signed(x ^ 1 << by, bits)))
        assert (value_of(same, registers), value_of(other, registers)) == (1, 0)


def test_bits_that_nobody_has_written_stay_beside_those_that_are_not_known() -> None:
    """A bit-field is set in a word of which nothing is written: the field can be read, the rest cannot."""
    word = combined("and", 8, Known(0, 0xFF), Known(~0x1C))
    assert word is not None
    field = Unknown(Register(0), listed((0, 4, 8, 28)))
    found = combined("or", 8, word, field)
    assert found is not None
    read = part(found, 8, 2, 3)
    assert value_of(plain(read), [8]) == 2
    assert plain(part(found, 8, 5, 3)).undefined == 7  # type: ignore[union-attr]
