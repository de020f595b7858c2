"""Mutexes, read-write locks and spin locks: each operation is one step, locked where it takes or gives back.

To initialise or destroy one, and to give a spin lock back, x86 needs no locked instruction: those are stores. Nor does
a thread that takes a mutex once more, or is told that it cannot have the lock or is not its owner: the C library sees
that by a load. Only where a mutex or spin lock is tried, it does so by a locked instruction in any case.

A mutex is its owner's thread number plus one at offset 0, how often it was taken at offset 4, and its kind at offset 16
(where glibc has it, so that static initialisers mean what they say). A read-write lock is the number of its readers, or
a number below that of a destroyed one for its writer. A destroyed lock is -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memfence.frontends.c.library import error_number
from memfence.frontends.c.library.arguments import Body, Outcome, call_name, in_one_of, number, on_object, storing
from memfence.frontends.c.library.error_number import failed_with
from memfence.frontends.c.library.objects import destroying, looked_at
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.access import at_address
from memfence.frontends.c.machine.arithmetic import choose, compare, compute
from memfence.frontends.c.machine.atomically import Atomically
from memfence.frontends.c.machine.parameterised import refuse_identity
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Scalar, Value
from memfence.program.orders import MemoryOrder

OWNER, TAKEN, KIND = 0, 4, 16
PLAIN, RECURSIVE, ERROR_CHECKING = 0, 1, 2
ByKind = Mapping[int, Sequence[Outcome]]
"""What may come of a function of mutexes, by the kind of the mutex."""
BUSY, DEADLOCK, NOT_PERMITTED = Known(16), Known(35), Known(1)
TIMED_OUT = Known(110)
LATE = "times out"
MUTEX, SPIN_LOCK, READ_WRITE_LOCK = "mutex", "spin lock", "read-write lock"
SEMAPHORE = "semaphore"
NO_STRANGER = "of any number of threads, none unlocks what another one has locked"


def me(path: Path) -> Known:
    """How this thread signs what it owns. Threads of which there is any number sign alike."""
    if path.process.thread.is_parameterised:
        path.world.assumed.add(NO_STRANGER)
    return Known(path.process.number + 1)


def _kind(step: Atomically, address: int) -> int:
    """Whether the mutex is one of those that tell their owner from others."""
    kind = step.read_or_zero(address + KIND)
    if kind not in (Known(RECURSIVE), Known(ERROR_CHECKING)):
        return PLAIN
    refuse_identity(step.path, "a recursive mutex tells its owner from others")
    return RECURSIVE if kind == Known(RECURSIVE) else ERROR_CHECKING


def take_mutex(step: Atomically, address: int) -> Value | None:
    """Wait until the mutex is free, and take it: all outcomes in one step."""
    owner = looked_at(step, address + OWNER, MUTEX)
    mine, kind = me(step.path), _kind(step, address)
    free = compare("eq", 32, owner, ZERO)
    result: Scalar = ZERO
    if kind:
        is_mine = compare("eq", 32, owner, mine)
        step.wait_for(compute("or", 1, is_mine, free))
        if kind == RECURSIVE:
            _count_up(step, address, is_mine)
        else:
            result = choose(is_mine, DEADLOCK, ZERO)
    else:
        step.wait_for(free)
    step.write(address + OWNER, mine)
    return result


def _count_up(step: Atomically, address: int, is_mine: Scalar) -> None:
    """Once more, or for the first time."""
    taken = step.read(address + TAKEN)
    step.write(address + TAKEN, choose(is_mine, compute("add", 32, taken, ONE), ONE))


# A step for each outcome. Conditions on who has the mutex come first.


def _wait_until_mine(step: Atomically, address: int, *, is_mine: bool = True) -> None:
    owner = looked_at(step, address + OWNER, MUTEX)
    step.wait_for(compare("eq" if is_mine else "ne", 32, owner, me(step.path)))


def _take_plain(step: Atomically, address: int) -> Value | None:
    """Wait until nobody has the mutex, and take it."""
    step.wait_for(compare("eq", 32, looked_at(step, address + OWNER, MUTEX), ZERO))
    step.write(address + OWNER, me(step.path))
    return ZERO


def _take_first(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("eq", 32, looked_at(step, address + OWNER, MUTEX), ZERO))
    step.write(address + TAKEN, ONE)
    step.write(address + OWNER, me(step.path))
    return ZERO


def _take_more(step: Atomically, address: int) -> Value | None:
    """Take a recursive mutex that this thread has already."""
    _wait_until_mine(step, address)
    step.write(address + TAKEN, compute("add", 32, step.read(address + TAKEN), ONE))
    return ZERO


def _notice_own(step: Atomically, address: int) -> Value | None:
    _wait_until_mine(step, address)
    return DEADLOCK


def _release_own(step: Atomically, address: int) -> Value | None:
    _wait_until_mine(step, address)
    step.write(address + OWNER, ZERO)
    return ZERO


def _release_last(step: Atomically, address: int) -> Value | None:
    """Give back a recursive mutex for good."""
    _wait_until_mine(step, address)
    step.wait_for(compare("eq", 32, step.read(address + TAKEN), ONE))
    step.write(address + TAKEN, ZERO)
    step.write(address + OWNER, ZERO)
    return ZERO


def _release_one(step: Atomically, address: int) -> Value | None:
    """Give back a recursive mutex that was taken more often."""
    _wait_until_mine(step, address)
    taken = step.read(address + TAKEN)
    step.wait_for(compare("ne", 32, taken, ONE))
    step.write(address + TAKEN, compute("sub", 32, taken, ONE))
    return ZERO


def _notice_other(step: Atomically, address: int) -> Value | None:
    """Another thread has it, or nobody."""
    _wait_until_mine(step, address, is_mine=False)
    return NOT_PERMITTED


TAKE: ByKind = {
    PLAIN: (Outcome(_take_plain),),
    RECURSIVE: (Outcome(_take_more, drains=False), Outcome(_take_first)),
    ERROR_CHECKING: (Outcome(_notice_own, drains=False), Outcome(_take_plain)),
}


def on_mutex(outcomes: ByKind) -> Handler:
    """The function that has these outcomes for a mutex."""

    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        at_address(path, number(path, arguments, 0), 4, call_name(call), lambda p, a: act(p, call, a))

    def act(path: Path, call: Call, address: int) -> None:
        in_one_of(path, call, address, outcomes[_kind(Atomically(path), address)])

    return run


def release_mutex(step: Atomically, address: int) -> Value | None:
    """Give the mutex back. One that another thread, or nobody, owns: EPERM, or an error where it does not look. All
    outcomes are in one step."""
    owner, kind = looked_at(step, address + OWNER, MUTEX), _kind(step, address)
    is_mine = compare("eq", 32, owner, me(step.path))
    if kind == ERROR_CHECKING:
        step.write(address + OWNER, choose(is_mine, ZERO, owner))
        return choose(is_mine, ZERO, NOT_PERMITTED)
    if kind == RECURSIVE:
        taken = step.read(address + TAKEN)
        left = choose(is_mine, compute("sub", 32, taken, ONE), taken)
        step.write(address + TAKEN, left)
        is_free = compute("and", 1, is_mine, compare("eq", 32, left, ZERO))
        step.write(address + OWNER, choose(is_free, ZERO, owner))
        return choose(is_mine, ZERO, NOT_PERMITTED)
    step.check(is_mine, "unlock of a mutex that this thread does not hold")
    step.write(address + OWNER, ZERO)
    return ZERO


RELEASE: ByKind = {
    PLAIN: (Outcome(release_mutex),),
    RECURSIVE: (
        Outcome(_notice_other, drains=False),
        Outcome(_release_one, drains=False),
        Outcome(_release_last),
    ),
    ERROR_CHECKING: (Outcome(_notice_other, drains=False), Outcome(_release_own)),
}


def trying(succeeded: Known, busy: Known) -> ByKind:
    """Take the mutex if it is free. The numbers are what the function returns."""

    def attempt(step: Atomically, address: int) -> Value | None:
        return _attempted(step, looked_at(step, address + OWNER, MUTEX), address, succeeded, busy)

    def more(step: Atomically, address: int) -> Value | None:
        _take_more(step, address)
        return succeeded

    def first(step: Atomically, address: int) -> Value | None:
        _take_first(step, address)
        return succeeded

    def others(step: Atomically, address: int) -> Value | None:
        owner = looked_at(step, address + OWNER, MUTEX)
        is_mine, is_free = compare("eq", 32, owner, me(step.path)), compare("eq", 32, owner, ZERO)
        step.wait_for(compare("eq", 1, compute("or", 1, is_mine, is_free), ZERO))
        return busy

    return {
        PLAIN: (Outcome(attempt),),
        RECURSIVE: (Outcome(more, drains=False), Outcome(first), Outcome(others)),
        ERROR_CHECKING: (Outcome(attempt),),
    }


def _attempted(step: Atomically, owner: Scalar, address: int, succeeded: Known, busy: Known) -> Scalar:
    free = compare("eq", 32, owner, ZERO)
    step.write(address, choose(free, me(step.path), owner))
    return choose(free, succeeded, busy)


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


# Read-write locks.


def _writer(path: Path) -> Known:
    """What a read-write lock is while this thread writes: below what a destroyed one is."""
    return Known(-1 - me(path).value)


def _read_lock(step: Atomically, address: int) -> Value | None:
    content = looked_at(step, address, READ_WRITE_LOCK)
    step.wait_for(compare("sge", 32, content, ZERO))
    step.write(address, compute("add", 32, content, ONE))
    return ZERO


def _write_lock(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("eq", 32, looked_at(step, address, READ_WRITE_LOCK), ZERO))
    step.write(address, _writer(step.path))
    return ZERO


def _unlock_either(step: Atomically, address: int) -> Value | None:
    content = looked_at(step, address, READ_WRITE_LOCK)
    is_writer = compare("eq", 32, content, _writer(step.path))
    held = compute("or", 1, is_writer, compare("sgt", 32, content, ZERO))
    step.check(held, "unlock of a read-write lock that nobody holds")
    step.write(address, choose(is_writer, ZERO, compute("sub", 32, content, ONE)))
    return ZERO


def _no_reading(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("slt", 32, looked_at(step, address, READ_WRITE_LOCK), ZERO))
    return BUSY


def _no_writing(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("ne", 32, looked_at(step, address, READ_WRITE_LOCK), ZERO))
    return BUSY


# Locks that are taken only for some time.


def within_time(take: Body | ByKind, what: str, late: Known) -> Handler:
    """The function that does `take`, or returns `late` where the lock is not free when the time is up."""
    outcomes = take if isinstance(take, Mapping) else {PLAIN: (Outcome(take),)}

    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        at_address(path, number(path, arguments, 0), 4, call_name(call), lambda p, a: act(p, call, a))

    def act(path: Path, call: Call, address: int) -> None:
        leaving = path.fork()
        assert leaving is not None
        step = Atomically(leaving)
        content = looked_at(step, address, what, MemoryOrder.RELAXED)
        step.wait_for(compare("eq" if what == SEMAPHORE else "ne", 32, content, ZERO))
        if late == Known(-1):
            failed_with(step, ZERO, error_number.TIMED_OUT)
        step.finish_if_possible(call, late, LATE)
        kind = _kind(Atomically(path), address) if what == MUTEX else PLAIN
        in_one_of(path, call, address, outcomes[kind], waits=False)

    return run


def on_lock(body: object, size: int = 4, *, drains: bool = True) -> Handler:
    """The function that does `body` with the lock that its first argument points to."""

    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        lock = number(path, arguments, 0)
        on_object(path, call, lock, size, call_name(call), body, drains=drains)  # type: ignore[arg-type]

    return run


def on_either(*outcomes: Outcome) -> Handler:
    """The function that has these outcomes for the object that its first argument points to."""

    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        pointer = number(path, arguments, 0)
        at_address(path, pointer, 4, call_name(call), lambda p, a: in_one_of(p, call, a, outcomes))

    return run


def _try_spin(step: Atomically, address: int) -> Value | None:
    return _attempted(step, looked_at(step, address, SPIN_LOCK), address, ZERO, BUSY)


def _spin_lock(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("eq", 32, looked_at(step, address, SPIN_LOCK), ZERO))
    step.write(address, me(step.path))
    return ZERO


def _spin_unlock(step: Atomically, address: int) -> Value | None:
    owner = looked_at(step, address, SPIN_LOCK)
    step.check(compare("eq", 32, owner, me(step.path)), "unlock of a spin lock that this thread does not hold")
    step.write(address, ZERO)
    return ZERO


destroy_mutex = destroying(MUTEX, "destruction of a locked mutex")
destroy_spin_lock = destroying(SPIN_LOCK, "destruction of a locked spin lock")
destroy_read_write_lock = destroying(READ_WRITE_LOCK, "destruction of a locked read-write lock")

FUNCTIONS: dict[str, Handler] = {
    "pthread_mutex_init": _init_mutex,
    "pthread_mutex_lock": on_mutex(TAKE),
    "pthread_mutex_timedlock": within_time(TAKE, MUTEX, TIMED_OUT),
    "pthread_mutex_clocklock": within_time(TAKE, MUTEX, TIMED_OUT),
    "pthread_mutex_unlock": on_mutex(RELEASE),
    "pthread_mutex_trylock": on_mutex(trying(ZERO, BUSY)),
    "pthread_mutex_destroy": on_lock(destroy_mutex, drains=False),
    "pthread_mutexattr_init": on_lock(_init, drains=False),
    "pthread_mutexattr_settype": storing(1),
    "pthread_spin_init": on_lock(_init, drains=False),
    "pthread_spin_lock": on_lock(_spin_lock),
    "pthread_spin_unlock": on_lock(_spin_unlock, drains=False),
    "pthread_spin_trylock": on_lock(_try_spin),
    "pthread_spin_destroy": on_lock(destroy_spin_lock, drains=False),
    "pthread_rwlock_init": on_lock(_init, drains=False),
    "pthread_rwlock_rdlock": on_lock(_read_lock),
    "pthread_rwlock_wrlock": on_lock(_write_lock),
    "pthread_rwlock_tryrdlock": on_either(Outcome(_no_reading, drains=False), Outcome(_read_lock)),
    "pthread_rwlock_trywrlock": on_either(Outcome(_no_writing, drains=False), Outcome(_write_lock)),
    "pthread_rwlock_timedrdlock": within_time(_read_lock, READ_WRITE_LOCK, TIMED_OUT),
    "pthread_rwlock_timedwrlock": within_time(_write_lock, READ_WRITE_LOCK, TIMED_OUT),
    "pthread_rwlock_clockrdlock": within_time(_read_lock, READ_WRITE_LOCK, TIMED_OUT),
    "pthread_rwlock_clockwrlock": within_time(_write_lock, READ_WRITE_LOCK, TIMED_OUT),
    "pthread_rwlock_unlock": on_lock(_unlock_either),
    "pthread_rwlock_destroy": on_lock(destroy_read_write_lock, drains=False),
}
