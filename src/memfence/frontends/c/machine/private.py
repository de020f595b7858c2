"""Memory that one thread has for itself: its content is part of the thread's state, in pieces of any size."""

from __future__ import annotations

from memfence.frontends.c.machine.arithmetic import as_unsigned, compute, fit
from memfence.frontends.c.machine.state import State, overlapping
from memfence.frontends.c.machine.undefined import BIT_OPS
from memfence.frontends.c.machine.values import UNDEFINED, Known, Parts, Scalar, Unknown, is_undefined
from memfence.frontends.c.machine.world import PARTLY, World


def read(world: World, state: State, address: int, size: int) -> Scalar:
    """The value of `size` bytes, put together from the pieces they were written in."""
    exact = state.cells.get(address)
    if exact is not None and exact[0] == size:
        assert not isinstance(exact[1], Parts)
        return exact[1]
    pieces = overlapping(state.cells, address, size)
    if not pieces:
        return world.content(address, size)
    if len(pieces) == 1:
        start = pieces[0]
        width, value = state.cells[start]
        if start <= address and start + width >= address + size:
            assert not isinstance(value, Parts)
            return part_of(value, 8 * width, address - start, size)
    return _joined(world, state, address, size)


def _joined(world: World, state: State, address: int, size: int) -> Scalar:
    """Byte by byte, low bytes first."""
    total: Scalar = Known(0)
    for position in range(size - 1, -1, -1):
        byte = as_unsigned(8, read(world, state, address + position, 1))
        total = with_bits(world, "or", 64, compute("shl", 64, total, Known(8)), byte)
    return fit(8 * size, total)


def with_bits(world: World, op: str, bits: int, a: Scalar, b: Scalar) -> Scalar:
    """`a op b`, of bits. Undefined bits beside those of an unknown value are forgotten, and the verdict says so."""
    if op in BIT_OPS and is_undefined(a) != is_undefined(b) and (isinstance(a, Unknown) or isinstance(b, Unknown)):
        world.note(PARTLY)
        a, b = (Known(v.value) if isinstance(v, Known) else v for v in (a, b))
    return compute(op, bits, a, b)


def part_of(value: Scalar, bits: int, offset: int, size: int) -> Scalar:
    """`size` bytes of a value of `bits` bits, from byte `offset` on."""
    return fit(8 * size, compute("lshr", bits, value, Known(8 * offset)) if offset else value)


def write(world: World, state: State, address: int, size: int, value: Scalar) -> None:
    """Set `size` bytes; what was there is forgotten, but for the pieces that stick out."""
    for start in overlapping(state.cells, address, size):
        width, old = state.cells[start]
        if start == address and width == size:
            continue
        del state.cells[start]
        assert not isinstance(old, Parts)
        if start < address:
            state.cells[start] = (address - start, part_of(old, 8 * width, 0, address - start))
        rest = start + width - (address + size)
        if rest > 0:
            state.cells[address + size] = (rest, part_of(old, 8 * width, address + size - start, rest))
    state.cells[address] = (size, value)


def forget(world: World, state: State, start: int, end: int) -> None:
    """Nobody has written the range."""
    for address in [a for a in state.cells if start <= a < end]:
        del state.cells[address]
    for address in range(start, end, 8):
        size = min(8, end - address)
        if world.base and any(a in world.base for a in range(address, address + size)):
            state.cells[address] = (size, UNDEFINED)
