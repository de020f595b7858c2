"""Memory by the byte: memcpy, memset, memcmp, strlen and their kin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfence.codes import Code
from memfence.frontends.c.library.arguments import for_each_number, known, number
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import at_address, is_constant, is_in_memory, problem_with
from memfence.frontends.c.machine.arithmetic import compare, fit, negation
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.copying import copy, in_pieces, put
from memfence.frontends.c.machine.lifetime import begin_locals
from memfence.frontends.c.machine.packing import packed
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Op
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import Known, Scalar, Value

LONGEST_STRING = 4096


def copy_memory(path: Path, call: Call, arguments: list[Value]) -> None:
    def act(p: Path, size: int) -> None:
        _copy_bytes(p, call, number(p, arguments, 0), number(p, arguments, 1), size)

    for_each_number(path, arguments, 2, "the number of bytes to copy", act)


def _copy_bytes(path: Path, call: Call, target: Scalar, source: Scalar, size: int) -> None:
    if size == 0:
        returned(path, call, target)
        return
    if not isinstance(target, Known) or not isinstance(source, Known):
        _for_each_target(path, [target, source], size, lambda p, t, s: _copy_bytes(p, call, t, s, size))
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
    def act(p: Path, size: int) -> None:
        _set_bytes(p, call, number(p, arguments, 0), number(p, arguments, 1), size)

    for_each_number(path, arguments, 2, "the number of bytes to set", act)


def _set_bytes(path: Path, call: Call, target: Scalar, byte: Scalar, size: int) -> None:
    if size == 0:
        returned(path, call, target)
        return
    if not isinstance(target, Known):
        _for_each_target(path, [target], size, lambda p, t: _set_bytes(p, call, t, byte, size))
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
    """Known bytes up to the first 0, which must be there."""
    found = _text_at(path, address, most)
    if found is None:
        raise path.refuse(Code.UNSUPPORTED, "a string that is not known before the program runs, or is shared")
    return found


def _text_at(path: Path, address: int, most: int) -> bytes | None:
    """The same; None where other threads use the memory, or what is there is not known."""
    found = bytearray()
    for position in range(most):
        if is_in_memory(path, address + position, 1):
            return None
        if path.state.started:
            path.world.reads(path.process.number, address + position, 1)
        value = used(private.read(path.world, path.state, address + position, 1))
        if not isinstance(value, Known):
            return None
        if value.value == 0:
            break
        found.append(value.value & 255)
    return bytes(found)


def _length(path: Path, call: Call, arguments: list[Value]) -> None:
    found = _texts(path, arguments, 1)
    if found is None:
        _step_by_step(path, call, "strlen", arguments)
    else:
        returned(path, call, Known(len(found[0])))


def _copy_string(path: Path, call: Call, arguments: list[Value]) -> None:
    source = known(path, arguments, 1, "a string")
    data = _bytes_at(path, source, LONGEST_STRING) + b"\0"
    _copy_bytes(path, call, number(path, arguments, 0), Known(source), len(data))


def _copy_prefix(path: Path, call: Call, arguments: list[Value]) -> None:
    """`strncpy`: the rest of the target is filled with zeros."""
    source, target = known(path, arguments, 1, "a string"), number(path, arguments, 0)
    most = known(path, arguments, 2, "the number of bytes to copy")
    data = _bytes_at(path, source, most)
    if not isinstance(target, Known) or is_in_memory(path, target.value, max(most, 1)):
        raise path.refuse(Code.UNSUPPORTED, "`strncpy` into shared memory")
    _set_bytes(path, Call("", call.type, call.callee, call.arguments, call.place), target, Known(0), most)
    if not path.ended:
        _copy_bytes(path, call, target, Known(source), len(data))


def _compare_memory(path: Path, call: Call, arguments: list[Value]) -> None:
    """`memcmp`; at once where only this thread uses the memory."""
    if _is_open(path, arguments, (0, 1, 2)):
        _step_by_step(path, call, "memcmp", arguments)
        return
    size = known(path, arguments, 2, "the number of bytes to compare")
    first, second = known(path, arguments, 0, "what is compared"), known(path, arguments, 1, "what is compared")
    for address in (first, second):
        problem = problem_with(path, address, size) if size else None
        if problem is not None:
            path.fail(f"{problem}: memcmp")
            return
    if size and any(is_in_memory(path, address, size) for address in (first, second)):
        _step_by_step(path, call, "memcmp", arguments)
        return
    for position in range(size):
        a, b = (_byte(path, address + position) for address in (first, second))
        for predicate, result in (("ult", -1), ("ugt", 1)):
            differs = compare(predicate, 8, a, b)
            if isinstance(differs, Known):
                if differs.value:
                    returned(path, call, Known(result))
                    return
                continue
            other = path.fork(differs.expr)
            if other is not None:
                returned(other, call, Known(result))
            if not path.assume(negation(differs.expr)):
                path.ended = True
                return
    returned(path, call, Known(0))


def _find_byte(path: Path, call: Call, arguments: list[Value]) -> None:
    _step_by_step(path, call, "memchr", arguments)


def _is_open(path: Path, arguments: list[Value], positions: Sequence[int]) -> bool:
    return not all(isinstance(number(path, arguments, position), Known) for position in positions)


def _step_by_step(path: Path, call: Call, name: str, arguments: list[Value]) -> None:
    """By the code in `include/text.c`, each access as it is in the program."""
    symbol = path.world.linked.find(0, f"memfence_{name}")
    if symbol is None or not symbol.is_defined:  # a compiler of the user's
        raise path.refuse(Code.UNSUPPORTED, f"`{name}` of shared memory", "compare the members one by one")
    path.call(symbol, arguments, call, False)
    if not path.ended and (ops := begin_locals(path)):
        path.emit(ops)


def _byte(path: Path, address: int) -> Scalar:
    if path.state.started:
        path.world.reads(path.process.number, address, 1)
    return used(private.number(path.world, path.state, address, 1))


def _compare_strings(path: Path, call: Call, arguments: list[Value]) -> None:
    found = _texts(path, arguments, 2)
    if found is None:
        _step_by_step(path, call, "strcmp", arguments)
    else:
        returned(path, call, Known((found[0] > found[1]) - (found[0] < found[1])))


def _texts(path: Path, arguments: list[Value], count: int) -> list[bytes] | None:
    """The first arguments as known texts; None where one of them is none."""
    pointers = [number(path, arguments, position) for position in range(count)]
    known_ones = [pointer.value for pointer in pointers if isinstance(pointer, Known)]
    texts = [_text_at(path, address, LONGEST_STRING) for address in known_ones]
    found = [text for text in texts if text is not None]
    return found if len(found) == count else None


FUNCTIONS: dict[str, Handler] = {
    "memcpy": copy_memory,
    "memmove": copy_memory,
    "memset": set_memory,
    "strlen": _length,
    "memchr": _find_byte,
    "memcmp": _compare_memory,
    "bcmp": _compare_memory,
    "strcpy": _copy_string,
    "strncpy": _copy_prefix,
    "strcmp": _compare_strings,
}
