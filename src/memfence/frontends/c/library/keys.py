"""Keys of thread-specific data: a thread has a word of its own for each key."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.library.arguments import known, nothing, number, on_object
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import ZERO, Known, Value


def _create(path: Path, call: Call, arguments: list[Value]) -> None:
    if number(path, arguments, 1) != ZERO:
        raise path.refuse(Code.UNSUPPORTED, "a destructor of thread-specific data is not followed")
    key = path.state.count("keys")
    if path.process.number:
        raise path.refuse(Code.UNSUPPORTED, "a key of thread-specific data is created by a thread other than the first")

    def give(step: Atomically, address: int) -> Value | None:
        step.write(address, Known(key))
        return ZERO

    on_object(path, call, number(path, arguments, 0), 4, "pthread_key_create", give)


def _word(path: Path, arguments: list[Value]) -> int:
    """Where this thread keeps what it has for the key."""
    key = known(path, arguments, 0, "the key of thread-specific data")
    own = ("specific", path.process.number, key)
    return path.world.space.place(own, 8, f"specific{key}", "global").start


def _set(path: Path, call: Call, arguments: list[Value]) -> None:
    private.write(path.world, path.state, _word(path, arguments), 8, number(path, arguments, 1))
    returned(path, call, ZERO)


def _get(path: Path, call: Call, arguments: list[Value]) -> None:
    returned(path, call, private.read(path.world, path.state, _word(path, arguments), 8))


FUNCTIONS: dict[str, Handler] = {
    "pthread_key_create": _create,
    "pthread_key_delete": nothing,
    "pthread_setspecific": _set,
    "pthread_getspecific": _get,
}
