"""Memory by the byte: memcpy, memset, memcmp, strlen and their kin."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from memfence.codes import Code
from memfence.frontends.c.library.arguments import known, number
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import (
    alive_ops,
    at_address,
    is_in_memory,
    is_written,
    known_values,
    problem_with,
)
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Op, Read, Write
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import Known, Scalar, Unknown, Value
from memfence.program.expressions import Register

LONGEST_STRING = 4096


def pieces(path: Path, start: int, size: int, other: int | None = None) -> list[tuple[int, int]]:
    """The range in pieces, each inside one cell; where `other` is given, also of the range there."""
    cuts = {start, start + size}
    for base in (start, other):
        if base is None:
            continue
        for address in range(base - 7, base + size):
            for begin, width in (
                (address, path.world.shared.get(address)),
                (address, path.state.cells.get(address, (None,))[0]),
            ):
                if width is not None:
                    cuts |= {begin - base + start, begin + width - base + start}
            for begin, width in path.world.extents:
                if begin < base + size and begin + width > base:
                    cuts |= {begin - base + start, begin + width - base + start}
    cuts |= set(range(start - start % 8, start + size, 8))
    inside = sorted(c for c in cuts if start <= c <= start + size)
    return [(a, b - a) for a, b in pairwise(inside) if b > a]


def copy_memory(path: Path, call: Call, arguments: list[Value]) -> None:
    target, source = number(path, arguments, 0), number(path, arguments, 1)
    size = known(path, arguments, 2, "the number of bytes to copy")
    if size == 0:
        returned(path, call, target)
        return
    if not isinstance(target, Known) or not isinstance(source, Known):
        _for_each_target(path, [target, source], size, lambda p, t, s: copy_memory(p, call, [t, s, Known(size)]))
        return
    for address in (target.value, source.value):
        problem = problem_with(path, address, size)
        if problem is not None:
            path.fail(f"{problem}: memcpy")
            return
    _in_pieces(
        path, call, target, size, lambda p, a, n: _copy_piece(p, a, source.value + a - target.value, n), source.value
    )


def _for_each_target(path: Path, pointers: list[Scalar], size: int, action: Callable[..., None]) -> None:
    """Do `action` with known pointers, in a fork for each combination of addresses. A bad pointer is a finding."""

    def rest(p: Path, chosen: tuple[Known, ...]) -> None:
        if len(chosen) == len(pointers):
            action(p, *chosen)
        else:
            at_address(p, pointers[len(chosen)], size, "memcpy", lambda q, address: rest(q, (*chosen, Known(address))))

    rest(path, ())


def _copy_piece(path: Path, target: int, source: int, size: int) -> list[Op]:
    """The ops that copy one piece; none where nothing shared is involved."""
    ops: list[Op] = [*alive_ops(path, source), *alive_ops(path, target)]
    if path.world.has_extent(source, size) and is_in_memory(path, source, size):
        cell = path.world.share_now(source, size)
        register = path.scratch()
        ops.append(Read(register, cell))
        values = known_values(path, cell)
        if cell.size == size:  # a copy may be of memory that nobody has written
            values = path.world.possible(cell)
        else:
            ops += is_written(path, register, cell)
        value: Scalar = private.part_of(Unknown(Register(register), values), 8 * cell.size, source - cell.address, size)
    else:
        if path.state.started:
            path.world.reads(path.process.number, source, size, whole=False)
            path.world.copied.add((source, size))
        value = private.read(path.world, path.state, source, size)
    return ops + _put(path, target, size, value)


def _put(path: Path, target: int, size: int, value: Scalar) -> list[Op]:
    if path.state.started and not path.world.has_extent(target, size) and path.world.cell_of(target, size) is None:
        path.world.skipped.add((target, size))  # nobody looks at it, as far as is known
        private.write(path.world, path.state, target, size, value)
        return []
    if is_in_memory(path, target, size):
        cell = path.world.share_now(target, size)
        if cell.size != size:
            raise path.refuse(Code.UNSUPPORTED, "memory is accessed in pieces of different size")
        guards = path.world.unmistakable(cell, value)
        value = path.world.storable(value, size)
        path.world.may_hold(cell, value.values)
        return [*guards, Write(cell, value.expr)]
    if path.state.started:
        path.world.writes(path.process.number, target, size, whole=False)
    private.write(path.world, path.state, target, size, value)
    return []


def _in_pieces(
    path: Path,
    call: Call,
    target: Known,
    size: int,
    piece: Callable[[Path, int, int], list[Op]],
    other: int | None = None,
) -> None:
    """Piece by piece; a piece that touches shared memory is a step, after which control comes here again."""
    progress = ("bytes", path.state.positions())
    done = path.state.counts.pop(progress, 0)
    for address, width in pieces(path, target.value, size, other):
        if address < target.value + done:
            continue
        ops = piece(path, address, width)
        if ops:
            path.state.counts[progress] = address + width - target.value
            path.state.top.index -= 1
            path.emit(ops)
            return
    returned(path, call, target)


def set_memory(path: Path, call: Call, arguments: list[Value]) -> None:
    target, byte = number(path, arguments, 0), number(path, arguments, 1)
    size = known(path, arguments, 2, "the number of bytes to set")
    if size == 0:
        returned(path, call, target)
        return
    if not isinstance(byte, Known):
        raise path.refuse(Code.UNSUPPORTED, "memory is set to a byte that is not known", COPY_HINT)
    if not isinstance(target, Known):
        _for_each_target(path, [target], size, lambda p, t: set_memory(p, call, [t, byte, Known(size)]))
        return
    problem = problem_with(path, target.value, size)
    if problem is not None:
        path.fail(f"{problem}: memset")
        return

    def fill(p: Path, address: int, width: int) -> list[Op]:
        pattern = int.from_bytes(bytes([byte.value & 255]) * width, "little", signed=True)
        return _put(p, address, width, Known(pattern))

    _in_pieces(path, call, target, size, fill)


COPY_HINT = "copy field by field"


def _bytes_at(path: Path, address: int, most: int) -> bytes:
    """Known bytes up to the first 0."""
    found = bytearray()
    for position in range(most):
        if is_in_memory(path, address + position, 1):
            raise path.refuse(Code.UNSUPPORTED, "a string in shared memory")
        value = used(private.read(path.world, path.state, address + position, 1))
        if not isinstance(value, Known):
            raise path.refuse(Code.UNSUPPORTED, "a string that is not known before the program runs")
        if value.value == 0:
            break
        found.append(value.value & 255)
    return bytes(found)


def _length(path: Path, call: Call, arguments: list[Value]) -> None:
    address = known(path, arguments, 0, "a string")
    returned(path, call, Known(len(_bytes_at(path, address, LONGEST_STRING))))


def _copy_string(path: Path, call: Call, arguments: list[Value]) -> None:
    source = known(path, arguments, 1, "a string")
    data = _bytes_at(path, source, LONGEST_STRING) + b"\0"
    copy_memory(path, call, [number(path, arguments, 0), Known(source), Known(len(data))])


def _compare_strings(path: Path, call: Call, arguments: list[Value]) -> None:
    texts = [_bytes_at(path, known(path, arguments, n, "a string"), LONGEST_STRING) for n in (0, 1)]
    returned(path, call, Known((texts[0] > texts[1]) - (texts[0] < texts[1])))


FUNCTIONS: dict[str, Handler] = {
    "memcpy": copy_memory,
    "memmove": copy_memory,
    "memset": set_memory,
    "strlen": _length,
    "strcpy": _copy_string,
    "strcmp": _compare_strings,
}
