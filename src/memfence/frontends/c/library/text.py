"""Memory by the byte: memcpy, memset, memcmp, strlen and their kin."""

from __future__ import annotations

from collections.abc import Callable

from memfence.codes import Code
from memfence.frontends.c.library.arguments import known, number
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import at_address, is_constant, is_in_memory, problem_with
from memfence.frontends.c.machine.arithmetic import fit
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.copying import copy, in_pieces, put
from memfence.frontends.c.machine.packing import packed
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Op
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import Known, Scalar, Value

LONGEST_STRING = 4096


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
    if is_constant(path, target.value):
        return
    if copy(path, ("bytes", path.state.positions()), target.value, source.value, size):
        returned(path, call, target)


def _for_each_target(path: Path, pointers: list[Scalar], size: int, action: Callable[..., None]) -> None:
    """Do `action` with known pointers, in a fork for each combination of addresses. A bad pointer is a finding."""

    def rest(p: Path, chosen: tuple[Known, ...]) -> None:
        if len(chosen) == len(pointers):
            action(p, *chosen)
        else:
            at_address(p, pointers[len(chosen)], size, "memcpy", lambda q, address: rest(q, (*chosen, Known(address))))

    rest(path, ())


def set_memory(path: Path, call: Call, arguments: list[Value]) -> None:
    target, byte = number(path, arguments, 0), number(path, arguments, 1)
    size = known(path, arguments, 2, "the number of bytes to set")
    if size == 0:
        returned(path, call, target)
        return
    if not isinstance(target, Known):
        _for_each_target(path, [target], size, lambda p, t: set_memory(p, call, [t, byte, Known(size)]))
        return
    problem = problem_with(path, target.value, size)
    if problem is not None:
        path.fail(f"{problem}: memset")
        return
    if is_constant(path, target.value):
        return

    def fill(address: int, width: int) -> list[Op]:
        return put(path, address, width, packed([(8, each)] * width))

    each = fit(8, byte)
    if in_pieces(path, ("bytes", path.state.positions()), target.value, size, fill):
        returned(path, call, target)


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
