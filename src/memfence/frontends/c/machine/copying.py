"""Memory that is copied or filled by the byte: `memcpy`, assignments of structs, structs that are passed by value.

C does not say in which order that happens, nor in how many accesses. Here each cell of shared memory is an access of
its own, from the lowest to the highest; the other way round where the ranges overlap and that is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import alive_ops, is_in_memory, is_written, known_values, write_cells
from memfence.frontends.c.machine.packing import packed, part
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Cell, Op, Read
from memfence.frontends.c.machine.values import Integer, Scalar, Unknown
from memfence.frontends.c.machine.world import Access
from memfence.program.expressions import Register
from memfence.program.orders import MemoryOrder

Piece = tuple[int, int]


def pieces(path: Path, start: int, size: int, other: int | None = None) -> list[Piece]:
    """The range in pieces, each inside one cell; where `other` is given, also of the range there."""
    cuts = {start, start + size}
    for base in (start, other):
        if base is not None:
            cuts |= {cut - base + start for cut in _cuts(path, base, size)}
    cuts |= set(range(start - start % 8, start + size, 8))
    inside = sorted(c for c in cuts if start <= c <= start + size)
    return [(a, b - a) for a, b in pairwise(inside) if b > a]


def _cuts(path: Path, base: int, size: int) -> set[int]:
    """Where cells begin and end that have a byte in the range."""
    found: set[int] = set()
    for address in range(base - 7, base + size):
        for width in (path.world.shared.get(address), path.state.cells.get(address, (None,))[0]):
            if width is not None:
                found |= {address, address + width}
    for begin, width in path.world.extents.touching(base, base + size):
        found |= {begin, begin + width}
    return found


def in_pieces(
    path: Path, progress: object, start: int, size: int, piece: Callable[[int, int], list[Op]], other: int | None = None
) -> bool:
    """Do all pieces; False where one of them became a step, after which the instruction is done again from there on."""
    done = path.state.counts.pop(progress, 0)
    is_upwards = other is None or not other < start < other + size
    for address, width in pieces(path, start, size, other)[:: 1 if is_upwards else -1]:
        after = address + width - start if is_upwards else start + size - address
        if after <= done:
            continue
        ops = piece(address, width)
        if ops:
            path.state.counts[progress] = after
            path.state.top.index -= 1
            path.emit(ops)
            return False
    return True


def copy(path: Path, progress: object, target: int, source: int, size: int) -> bool:
    """Copy all bytes; False as of `in_pieces`."""
    return in_pieces(path, progress, target, size, lambda a, n: _copy_piece(path, a, source + a - target, n), source)


def _copy_piece(path: Path, target: int, source: int, size: int) -> list[Op]:
    """The ops that copy one piece; none where nothing shared is involved."""
    ops: list[Op] = [*alive_ops(path, source), *alive_ops(path, target)]
    if path.world.has_extent(source, size) and is_in_memory(path, source, size):
        cells = path.world.share_now(source, size)
        found = [_content(path, cell, ops, whole=cell.size == size) for cell in cells]
        bits, first = sum(width for width, _ in found), cells[0].address
        value = part(packed(found), bits, 8 * (source - first), 8 * size)
    else:
        if path.state.started:
            path.world.reads(path.process.number, source, size, whole=False)
            path.world.copied.add((source, size))
        value = private.read(path.world, path.state, source, size)
    return ops + put(path, target, size, value)


def _content(path: Path, cell: Cell, ops: list[Op], *, whole: bool) -> tuple[int, Scalar]:
    """What the cell holds, which is read by one more of the `ops`. The `whole` of it may be copied unwritten."""
    register = path.scratch()
    ops.append(Read(register, cell))
    values = known_values(path, cell)
    if not whole:
        ops += is_written(path, register, cell)
        return 8 * cell.size, Unknown(Register(register), values)
    return 8 * cell.size, Unknown(Register(register), path.world.possible(cell))


def put(path: Path, target: int, size: int, value: Integer) -> list[Op]:
    """Store one piece; the ops for that, none where nothing shared is involved."""
    world = path.world
    if path.state.started and not world.has_extent(target, size) and not world.cells_in(target, size):
        world.skipped.add((target, size))  # nobody looks at it, as far as is known
        private.write(world, path.state, target, size, value)
        return []
    if is_in_memory(path, target, size):
        return write_cells(path, world.share_now(target, size, Access.STORE), value, MemoryOrder.PLAIN)
    if path.state.started:
        world.writes(path.process.number, target, size, whole=False)
    private.write(world, path.state, target, size, value)
    return []
