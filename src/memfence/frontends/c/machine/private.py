"""Memory that one thread has for itself: its content is part of the thread's state, in pieces of any size."""

from __future__ import annotations

from itertools import pairwise

from memfence.frontends.c.machine.packing import Piece, packed, part, pieces_of, plain
from memfence.frontends.c.machine.state import State, overlapping
from memfence.frontends.c.machine.value_sets import UNWRITTEN
from memfence.frontends.c.machine.values import UNDEFINED, Integer, Packed, Parts, Scalar, Unknown, Value
from memfence.frontends.c.machine.world import World


class Unsettled(Exception):
    """A part is needed of a value that was copied from memory which perhaps nobody has written."""

    def __init__(self, value: Unknown) -> None:
        super().__init__()
        self.value = value


def _settled(value: Value) -> Integer:
    """The value, where it is one that somebody has written or that nobody has."""
    assert not isinstance(value, Parts)
    if isinstance(value, Unknown) and UNWRITTEN in value.values.listed:
        raise Unsettled(value)
    return value


def read(world: World, state: State, address: int, size: int) -> Integer:
    """The value of `size` bytes, put together from the pieces they were written in. Unsettled where that cannot be."""
    exact = state.cells.get(address)
    if exact is not None and exact[0] == size:
        assert not isinstance(exact[1], Parts)
        return exact[1]
    found: list[Piece] = []
    at = address
    for start in (*overlapping(state.cells, address, size), address + size):
        if start > at:
            found.append((8 * (start - at), world.content(at, start - at)))
            at = start
        if at == address + size:
            break
        width, value = state.cells[start][0], _settled(state.cells[start][1])
        end = min(start + width, address + size)
        found += pieces_of(part(value, 8 * width, 8 * (at - start), 8 * (end - at)), 8 * (end - at))
        at = end
    return packed(found)


def number(world: World, state: State, address: int, size: int) -> Scalar:
    """The value as one number."""
    return plain(read(world, state, address, size))


def write(world: World, state: State, address: int, size: int, value: Integer) -> None:
    """Set `size` bytes; what was there is forgotten, but for the pieces that stick out. Unsettled as `read`."""
    before = overlapping(state.cells, address, size)
    for start in (before[0], before[-1]) if before else ():
        if start < address or start + state.cells[start][0] > address + size:
            _settled(state.cells[start][1])
    for start in before:
        width, old = state.cells[start]
        if start == address and width == size:
            continue
        del state.cells[start]
        assert not isinstance(old, Parts)
        if start < address:
            state.cells[start] = (address - start, part(old, 8 * width, 0, 8 * (address - start)))
        rest = start + width - (address + size)
        if rest > 0:
            after = address + size
            state.cells[after] = (rest, part(old, 8 * width, 8 * (after - start), 8 * rest))
    if size <= 8 and not isinstance(value, Packed):
        state.cells[address] = (size, value)
        return
    state.cells.pop(address, None)
    for at, width, piece in in_whole_bytes(value, size):
        state.cells[address + at] = (width, piece)


def in_whole_bytes(value: Integer, size: int) -> list[tuple[int, int, Integer]]:
    """The value in pieces of at most 8 bytes, as (offset, size, piece): those it consists of, if these are bytes."""
    cuts = {0, size, *range(0, size, 8)}
    at = 0
    for bits, _ in pieces_of(value, 8 * size):
        at += bits
        if isinstance(value, Packed) and at % 8 == 0:
            cuts.add(at // 8)
    ends = sorted(cuts)
    return [(a, b - a, part(value, 8 * size, 8 * a, 8 * (b - a))) for a, b in pairwise(ends)]


def forget(world: World, state: State, start: int, end: int) -> None:
    """Nobody has written the range."""
    for address in [a for a in state.cells if start <= a < end]:
        del state.cells[address]
    for address in range(start, end, 8):
        size = min(8, end - address)
        if world.base and any(a in world.base for a in range(address, address + size)):
            state.cells[address] = (size, UNDEFINED)
