"""POSIX threads: create, join, exit, self, equal, once."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.library.arguments import call_name, number
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.access import at_address
from memfence.frontends.c.machine.arithmetic import compare
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.threads import create_thread, detach_thread, exit_thread, join_thread, own_number
from memfence.frontends.c.machine.values import ZERO, Known, Scalar, Unknown, Value
from memfence.records import Record

ONCE_RUNNING, ONCE_DONE = Known(1), Known(2)


def _create(path: Path, call: Call, arguments: list[Value]) -> None:
    function = number(path, arguments, 2)
    create_thread(path, call, number(path, arguments, 0), function, number(path, arguments, 3), "pthread")


def _join(path: Path, call: Call, arguments: list[Value]) -> None:
    join_thread(path, call, number(path, arguments, 0), number(path, arguments, 1))


def detach(path: Path, call: Call, arguments: list[Value]) -> None:
    """`pthread_detach`, `thrd_detach`."""
    detach_thread(path, call, number(path, arguments, 0))


def _exit(path: Path, call: Call, arguments: list[Value]) -> None:
    exit_thread(path, number(path, arguments, 0))


def _self(path: Path, call: Call, arguments: list[Value]) -> None:
    returned(path, call, own_number(path))


def _equal(path: Path, call: Call, arguments: list[Value]) -> None:
    returned(path, call, compare("eq", 64, number(path, arguments, 0), number(path, arguments, 1)))


def once(path: Path, call: Call, arguments: list[Value]) -> None:
    """The first caller runs the function, the others wait until it has returned."""
    function = number(path, arguments, 1)
    if not isinstance(function, Known) or function.value not in path.world.constants.functions:
        raise path.refuse(Code.UNSUPPORTED, "`pthread_once` with a function that is not known")
    once_with(path, call, arguments, function.value, (), 4, ONCE_DONE)


def once_with(
    path: Path,
    call: Call,
    arguments: list[Value],
    function: int,
    given: tuple[Value, ...],
    size: int,
    done: Known,
) -> None:
    """The same, where the function is known; `given` is what it gets. The flag has `size` bytes and is `done` then."""
    flag = number(path, arguments, 0)
    at_address(path, flag, size, call_name(call), lambda p, a: _once_at(p, call, _Flag(a, size, done), function, given))


class _Flag(Record):
    address: int
    size: int
    done: Known


def _once_at(path: Path, call: Call, flag: _Flag, function: int, given: tuple[Value, ...]) -> None:
    running = ("once", path.state.positions())
    if running in path.state.counts:  # the function has returned
        del path.state.counts[running]
        step = Atomically(path)
        step.write(flag.address, flag.done, flag.size)
        step.finish(call, ZERO)
        return
    first, later = path.fork(), path
    assert first is not None
    may_take = _take_once(first, call, flag, function, given, running)
    step = Atomically(later, drains=False)  # that it is done, is seen by a load
    step.wait_for(compare("eq", 8 * flag.size, step.read(flag.address, flag.size), flag.done))
    if may_take:
        step.finish_if_possible(call, ZERO)
    else:  # where it is not done either, the function that runs waits for itself
        step.finish(call, ZERO)


def _take_once(path: Path, call: Call, flag: _Flag, function: int, given: tuple[Value, ...], running: object) -> bool:
    """Run the function; False where it is known that somebody has begun to."""
    step = Atomically(path)
    step.wait_for(compare("eq", 8 * flag.size, step.read(flag.address, flag.size), ZERO))
    if step.is_stuck:
        path.ended = True
        return False
    step.write(flag.address, ONCE_RUNNING, flag.size)
    path.state.counts[running] = 1
    path.state.top.index -= 1  # come here again when the function has returned
    symbol = path.world.constants.functions[function]
    path.call(symbol, list(given), Call("!once", call.type, call.callee, (), call.place))
    if step.ops and not path.ended:
        path.emit(step.ops, locked=True)
    return True


def is_true(value: Scalar) -> bool:
    return not isinstance(value, Unknown) and value.value != 0


FUNCTIONS: dict[str, Handler] = {
    "pthread_create": _create,
    "pthread_join": _join,
    "pthread_detach": detach,
    "pthread_exit": _exit,
    "pthread_self": _self,
    "pthread_equal": _equal,
    "pthread_once": once,
    "call_once": once,
    "gettid": _self,
}
