"""Mutexes, read-write locks and spin locks: each operation is one locked step.

To initialise one, and to give a spin lock back, x86 needs no locked instruction: those are stores.

A mutex is its owner's thread number plus one at offset 0, how often it was taken at offset 4, and its kind at offset 16
(where glibc has it, so that static initialisers mean what they say). A read-write lock is its writer at offset 0 and
the number of its readers at offset 4.
"""

from __future__ import annotations

from memfence.frontends.c.library.arguments import call_name, number, on_object, storing
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.arithmetic import choose, compare, compute
from memfence.frontends.c.machine.atomically import Atomically
from memfence.frontends.c.machine.crowd import refuse_identity
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Value

OWNER, TAKEN, KIND = 0, 4, 16
RECURSIVE, ERROR_CHECKING = 1, 2
WRITER, READERS = 0, 4
BUSY = 16
NO_STRANGER = "of any number of threads, none unlocks what another one has locked"


def me(path: Path) -> Known:
    """How this thread signs what it owns. Threads of which there is any number sign alike."""
    if path.process.thread.is_crowd:
        path.world.assumed.add(NO_STRANGER)
    return Known(path.process.number + 1)


def _is_recursive(step: Atomically, address: int) -> bool:
    found = step.read_or_zero(address + KIND) == Known(RECURSIVE)
    if found:
        refuse_identity(step.path, "a recursive mutex tells its owner from others")
    return found


def take_mutex(step: Atomically, address: int) -> Value | None:
    """Wait until the mutex is free, and take it."""
    owner = step.read(address + OWNER)
    mine = me(step.path)
    if _is_recursive(step, address):
        is_mine = compare("eq", 32, owner, mine)
        free = compare("eq", 32, owner, ZERO)
        step.wait_for(compute("or", 1, is_mine, free))
        taken = step.read(address + TAKEN)
        step.write(address + TAKEN, choose(is_mine, compute("add", 32, taken, ONE), ONE))
    else:
        step.wait_for(compare("eq", 32, owner, ZERO))
    step.write(address + OWNER, mine)
    return ZERO


def release_mutex(step: Atomically, address: int) -> Value | None:
    """Give the mutex back; an error if another thread, or nobody, owns it."""
    owner = step.read(address + OWNER)
    step.check(compare("eq", 32, owner, me(step.path)), "unlock of a mutex that this thread does not hold")
    if _is_recursive(step, address):
        left = compute("sub", 32, step.read(address + TAKEN), ONE)
        step.write(address + TAKEN, left)
        step.write(address + OWNER, choose(compare("eq", 32, left, ZERO), ZERO, me(step.path)))
    else:
        step.write(address + OWNER, ZERO)
    return ZERO


def try_mutex(step: Atomically, address: int) -> Value | None:
    """Take the mutex if it is free; EBUSY otherwise."""
    owner = step.read(address + OWNER)
    free = compare("eq", 32, owner, ZERO)
    step.write(address + OWNER, choose(free, me(step.path), owner))
    return choose(free, ZERO, Known(BUSY))


def _init(step: Atomically, address: int) -> Value | None:
    step.write(address + OWNER, ZERO)
    return ZERO


def _init_mutex(path: Path, call: Call, arguments: list[Value]) -> None:
    attributes = number(path, arguments, 1)

    def initialise(step: Atomically, address: int) -> Value | None:
        step.write(address + OWNER, ZERO)
        if attributes != ZERO and isinstance(attributes, Known):
            step.write(address + KIND, step.read(attributes.value))
        return ZERO

    on_object(path, call, number(path, arguments, 0), 4, call_name(call), initialise, drains=False)


def _read_lock(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("eq", 32, step.read(address + WRITER), ZERO))
    step.write(address + READERS, compute("add", 32, step.read(address + READERS), ONE))
    return ZERO


def _write_lock(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("eq", 32, step.read(address + WRITER), ZERO))
    step.wait_for(compare("eq", 32, step.read(address + READERS), ZERO))
    step.write(address + WRITER, me(step.path))
    return ZERO


def _unlock_either(step: Atomically, address: int) -> Value | None:
    writer, readers = step.read(address + WRITER), step.read(address + READERS)
    is_writer = compare("eq", 32, writer, me(step.path))
    held = compute("or", 1, is_writer, compare("sgt", 32, readers, ZERO))
    step.check(held, "unlock of a read-write lock that nobody holds")
    step.write(address + WRITER, choose(is_writer, ZERO, writer))
    step.write(address + READERS, choose(is_writer, readers, compute("sub", 32, readers, ONE)))
    return ZERO


def _try_read(step: Atomically, address: int) -> Value | None:
    free = compare("eq", 32, step.read(address + WRITER), ZERO)
    readers = step.read(address + READERS)
    step.write(address + READERS, choose(free, compute("add", 32, readers, ONE), readers))
    return choose(free, ZERO, Known(BUSY))


def _try_write(step: Atomically, address: int) -> Value | None:
    writer, readers = step.read(address + WRITER), step.read(address + READERS)
    free = compute("and", 1, compare("eq", 32, writer, ZERO), compare("eq", 32, readers, ZERO))
    step.write(address + WRITER, choose(free, me(step.path), writer))
    return choose(free, ZERO, Known(BUSY))


def on_lock(body: object, size: int = 4, *, drains: bool = True) -> Handler:
    """The function that does `body` with the lock that its first argument points to."""

    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        lock = number(path, arguments, 0)
        on_object(path, call, lock, size, call_name(call), body, drains=drains)  # type: ignore[arg-type]

    return run


FUNCTIONS: dict[str, Handler] = {
    "pthread_mutex_init": _init_mutex,
    "pthread_mutex_lock": on_lock(take_mutex),
    "pthread_mutex_unlock": on_lock(release_mutex),
    "pthread_mutex_trylock": on_lock(try_mutex),
    "pthread_mutexattr_init": on_lock(_init, drains=False),
    "pthread_mutexattr_settype": storing(1),
    "pthread_spin_init": on_lock(_init, drains=False),
    "pthread_spin_lock": on_lock(lambda step, address: _spin_lock(step, address)),
    "pthread_spin_unlock": on_lock(lambda step, address: _spin_unlock(step, address), drains=False),
    "pthread_spin_trylock": on_lock(try_mutex),
    "pthread_rwlock_init": on_lock(lambda step, address: _init_rwlock(step, address), drains=False),
    "pthread_rwlock_rdlock": on_lock(_read_lock),
    "pthread_rwlock_wrlock": on_lock(_write_lock),
    "pthread_rwlock_tryrdlock": on_lock(_try_read),
    "pthread_rwlock_trywrlock": on_lock(_try_write),
    "pthread_rwlock_unlock": on_lock(_unlock_either),
}


def _spin_lock(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("eq", 32, step.read(address), ZERO))
    step.write(address, me(step.path))
    return ZERO


def _spin_unlock(step: Atomically, address: int) -> Value | None:
    step.check(
        compare("eq", 32, step.read(address), me(step.path)), "unlock of a spin lock that this thread does not hold"
    )
    step.write(address, ZERO)
    return ZERO


def _init_rwlock(step: Atomically, address: int) -> Value | None:
    step.write(address + WRITER, ZERO)
    step.write(address + READERS, ZERO)
    return ZERO
