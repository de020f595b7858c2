"""Condition variables, semaphores and barriers.

A condition variable is the set of the threads that wait for it, one bit each. A wait is two steps: release the mutex
and enter the set; once somebody has taken the thread out of it, take the mutex again.

POSIX, C11 and C++ allow a wait to end without a signal. Such a thread does not enter the set at all, so it goes on
whenever it gets the mutex: that covers every moment at which it could wake. It decides so when it begins to wait. A
thread that has entered the set waits for a signal, and only for that: a lost wake-up is a deadlock, since no program
may rely on waking by chance. Threads of which there is any number have no bit and may wake at any time.

A condition variable orders nothing, its mutex does: the accesses to the set are relaxed.
"""

from __future__ import annotations

from memfence.frontends.c.library import error_number
from memfence.frontends.c.library.arguments import Outcome, call_name, number, on_object
from memfence.frontends.c.library.error_number import failed_with
from memfence.frontends.c.library.locks import (
    LATE,
    SEMAPHORE,
    TIMED_OUT,
    on_either,
    on_lock,
    release_mutex,
    take_mutex,
    within_time,
)
from memfence.frontends.c.library.objects import DESTROYED, destroying, looked_at, may_be_destroyed, name_of
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import at_address
from memfence.frontends.c.machine.arithmetic import choose, compare, compute
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Scalar, Unknown, Value
from memfence.program.orders import MemoryOrder

SERIAL, INVALID = Known(-1), error_number.INVALID
NEEDED, ARRIVED = 0, 4
ROUND_BITS, ROUNDS = 10, 64
"""A barrier has the number of those that have arrived in its lowest bits, and the number of the round above."""
CONDITION, BARRIER = "condition variable", "barrier"
ACQUIRE, RELEASE = MemoryOrder.ACQUIRE, MemoryOrder.RELEASE
RELAXED = MemoryOrder.RELAXED
BY_CHANCE = "wakes without a signal"


def _bit(path: Path) -> Known:
    return Known(1 << path.process.number)


def wait_on(path: Path, call: Call, arguments: list[Value], late: Known | None = None) -> None:
    """`pthread_cond_wait`: the first step here, the second when control comes here again. `late`: what a wait returns
    whose time is up; None where it has all the time."""
    condition, mutex = number(path, arguments, 0), number(path, arguments, 1)
    waiting = ("wait", path.state.positions())
    is_back = waiting in path.state.counts

    def first(p: Path, at: int) -> None:
        at_address(p, mutex, 4, call_name(call), lambda q, m: _release(q, m, at, waiting))

    def second(p: Path, at: int) -> None:
        at_address(p, mutex, 4, call_name(call), lambda q, m: _wake(q, call, m, at, waiting, late))

    at_address(path, condition, 4, call_name(call), second if is_back else first)


def _release(path: Path, mutex: int, condition: int, waiting: object) -> None:
    path.state.counts[waiting] = 1
    path.state.top.index -= 1
    by_chance = path.fork()
    assert by_chance is not None
    step = Atomically(by_chance)
    release_mutex(step, mutex)
    if not by_chance.ended:
        by_chance.emit(step.ops, locked=True, remark=BY_CHANCE)
    if path.process.thread.is_parameterised:
        path.ended = True
        return
    step = Atomically(path)
    waiters = looked_at(step, condition, CONDITION, RELAXED)
    step.write(condition, compute("or", 32, waiters, _bit(path)), order=RELAXED)
    step.pause()
    release_mutex(step, mutex)
    if not path.ended:
        path.emit(step.ops, locked=True)


def _wake(path: Path, call: Call, mutex: int, condition: int, waiting: object, late: Known | None) -> None:
    del path.state.counts[waiting]
    if late is not None:
        _give_up(path, call, mutex, condition, late)
    step = Atomically(path)
    if not path.process.thread.is_parameterised:
        step.wait_for(_is_out(step.read(condition, order=RELAXED), _bit(path)))
        step.pause()
    take_mutex(step, mutex)
    if late is None:
        step.finish(call, ZERO)
    else:
        step.finish_if_possible(call, ZERO)


def _is_out(waiters: Scalar, bit: Known) -> Scalar:
    """Whether the thread is not in the set. Of a destroyed condition variable everybody was woken before."""
    is_out = compare("eq", 32, compute("and", 32, waiters, bit), ZERO)
    return compute("or", 1, is_out, compare("eq", 32, waiters, DESTROYED)) if may_be_destroyed(waiters) else is_out


def _give_up(path: Path, call: Call, mutex: int, condition: int, late: Known) -> None:
    """The time is up: leave the set."""
    leaving = path.fork()
    assert leaving is not None
    step = Atomically(leaving)
    if not path.process.thread.is_parameterised:
        waiters = step.read(condition, order=RELAXED)
        left = compute("and", 32, waiters, Known(~_bit(leaving).value))
        if may_be_destroyed(waiters):
            left = choose(compare("eq", 32, waiters, DESTROYED), DESTROYED, left)
        step.write(condition, left, order=RELAXED)
        step.pause()
    take_mutex(step, mutex)
    step.finish_if_possible(call, late, LATE)


def timed_wait(late: Known) -> Handler:
    """A wait that returns `late` when its time is up, which may be at any moment."""

    def wait(path: Path, call: Call, arguments: list[Value]) -> None:
        wait_on(path, call, arguments, late)

    return wait


def _signal(path: Path, call: Call, arguments: list[Value]) -> None:
    at_address(path, number(path, arguments, 0), 4, call_name(call), lambda p, a: _signal_at(p, call, a))


def _signal_at(path: Path, call: Call, address: int) -> None:
    """Wake one of the waiters, any of them; nobody, if there is none."""
    numbers = [0, *sorted(path.world.thread_numbers.values())]
    for other in numbers:
        if other == path.process.number:
            continue
        copy = path.fork()
        assert copy is not None
        step = Atomically(copy)
        waiters = looked_at(step, address, CONDITION, RELAXED)
        is_waiting = compare("ne", 32, compute("and", 32, waiters, Known(1 << other)), ZERO)
        step.wait_for(is_waiting)
        step.write(address, compute("and", 32, waiters, Known(~(1 << other))), order=RELAXED)
        step.is_stuck |= isinstance(waiters, Unknown) and not _may_have(waiters, 1 << other)
        step.finish_if_possible(call, ZERO)
    step = Atomically(path, drains=False)
    step.wait_for(compare("eq", 32, looked_at(step, address, CONDITION, RELAXED), ZERO))
    step.finish_if_possible(call, ZERO)


def _may_have(waiters: Unknown, bit: int) -> bool:
    members = waiters.values.members(4096)
    return members is None or any(v & bit for v in members)


def _nobody_waits(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("eq", 32, looked_at(step, address, CONDITION, RELAXED), ZERO))
    return ZERO


def _wake_all(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("ne", 32, looked_at(step, address, CONDITION, RELAXED), ZERO))
    step.write(address, ZERO, order=RELAXED)
    return ZERO


# Semaphores.


def _init_semaphore(path: Path, call: Call, arguments: list[Value]) -> None:
    """A value above SEM_VALUE_MAX, which is negative as an `int`, is refused."""
    value = number(path, arguments, 2)

    def initialise(step: Atomically, address: int) -> Value | None:
        if isinstance(value, Known) and value.value >= 0:
            step.write(address, value)
            return ZERO
        fits = compare("sge", 32, value, ZERO)
        step.write(address, choose(fits, value, step.read_or_zero(address)))
        failed_with(step, fits, error_number.INVALID)
        return choose(fits, ZERO, Known(-1))

    on_object(path, call, number(path, arguments, 0), 4, call_name(call), initialise, drains=False)


def _init_condition(step: Atomically, address: int) -> Value | None:
    step.write(address, ZERO)
    return ZERO


def _down(step: Atomically, address: int) -> Value | None:
    value = looked_at(step, address, SEMAPHORE)
    step.wait_for(compare("sgt", 32, value, ZERO))
    step.write(address, compute("sub", 32, value, ONE))
    return ZERO


def _up(step: Atomically, address: int) -> Value | None:
    step.write(address, compute("add", 32, looked_at(step, address, SEMAPHORE), ONE))
    return ZERO


def _is_down(step: Atomically, address: int) -> Value | None:
    step.wait_for(compare("sle", 32, looked_at(step, address, SEMAPHORE), ZERO))
    failed_with(step, ZERO, error_number.AGAIN)
    return Known(-1)


def _destroy_semaphore(step: Atomically, address: int) -> Value | None:
    looked_at(step, address, SEMAPHORE)
    step.write(address, DESTROYED)
    return ZERO


def _value_of_semaphore(path: Path, call: Call, arguments: list[Value]) -> None:
    target = number(path, arguments, 1)

    def look(step: Atomically, address: int) -> Value | None:
        if isinstance(target, Known):
            step.write(target.value, looked_at(step, address, SEMAPHORE))
        return ZERO

    on_object(path, call, number(path, arguments, 0), 4, call_name(call), look, drains=False)


# Barriers.


def _init_barrier(path: Path, call: Call, arguments: list[Value]) -> None:
    count = number(path, arguments, 2)
    if count == ZERO:
        returned(path, call, INVALID)
        return

    def initialise(step: Atomically, address: int) -> Value | None:
        step.write(address + NEEDED, count)
        step.write(address + ARRIVED, ZERO)
        return ZERO

    on_object(path, call, number(path, arguments, 0), 8, call_name(call), initialise, drains=False)


def _wait_at_barrier(path: Path, call: Call, arguments: list[Value]) -> None:
    at_address(path, number(path, arguments, 0), 8, call_name(call), lambda p, a: _barrier_at(p, call, a))


def _barrier_at(path: Path, call: Call, address: int) -> None:
    """Two steps: arrive; go on once the round is over. The last to arrive ends the round."""
    waiting = ("barrier", path.state.positions())
    entered = path.world.space.place(("barrier round", path.process.number), 4, "round entered", "global").start
    step = Atomically(path)
    if waiting in path.state.counts:
        del path.state.counts[waiting]
        before = private.number(path.world, path.state, entered, 4)
        private.forget(path.world, path.state, entered, entered + 4)
        step.wait_for(compare("ne", 32, _round(step.read(address + ARRIVED, order=ACQUIRE)), before))
        step.finish(call, ZERO)
        return
    last = path.fork()
    assert last is not None
    _last_arrives(last, call, address)
    arrived, needed = looked_at(step, address + ARRIVED, BARRIER, ACQUIRE), step.read(address + NEEDED)
    step.wait_for(compare("slt", 32, _number_with(arrived), needed))
    if step.is_stuck or path.ended:
        path.ended = True
        return
    private.write(path.world, path.state, entered, 4, _round(arrived))
    step.write(address + ARRIVED, compute("add", 32, arrived, ONE), order=RELEASE)
    path.state.counts[waiting] = 1
    path.state.top.index -= 1
    path.emit(step.ops, locked=True)


def _number_with(arrived: Scalar) -> Scalar:
    """How many have arrived, with the thread itself."""
    return compute("add", 32, compute("and", 32, arrived, Known((1 << ROUND_BITS) - 1)), ONE)


def _round(arrived: Scalar) -> Scalar:
    return compute("ashr", 32, arrived, Known(ROUND_BITS))


def _last_arrives(path: Path, call: Call, address: int) -> None:
    step = Atomically(path)
    arrived, needed = looked_at(step, address + ARRIVED, BARRIER, ACQUIRE), step.read(address + NEEDED)
    step.wait_for(compare("sge", 32, _number_with(arrived), needed))
    following = compute("and", 32, compute("add", 32, _round(arrived), ONE), Known(ROUNDS - 1))
    step.write(address + ARRIVED, compute("shl", 32, following, Known(ROUND_BITS)), order=RELEASE)
    step.finish_if_possible(call, SERIAL)


def _destroy_barrier(step: Atomically, address: int) -> Value | None:
    arrived = looked_at(step, address + ARRIVED, BARRIER)
    is_free = compare("eq", 32, _number_with(arrived), ONE)
    step.check(is_free, f"destruction of a barrier at which threads wait: {name_of(step, address)}")
    step.write(address + ARRIVED, DESTROYED)
    return ZERO


_destroy_condition = destroying(CONDITION, "destruction of a condition variable that threads wait for")

FUNCTIONS: dict[str, Handler] = {
    "pthread_cond_init": on_lock(_init_condition, drains=False),
    "pthread_cond_wait": wait_on,
    "pthread_cond_timedwait": timed_wait(TIMED_OUT),
    "pthread_cond_clockwait": timed_wait(TIMED_OUT),
    "pthread_cond_signal": _signal,
    "pthread_cond_broadcast": on_either(Outcome(_nobody_waits, drains=False), Outcome(_wake_all)),
    "pthread_cond_destroy": on_lock(_destroy_condition, drains=False),
    "sem_init": _init_semaphore,
    "sem_wait": on_lock(_down),
    "sem_post": on_lock(_up),
    "sem_trywait": on_either(Outcome(_is_down, drains=False), Outcome(_down)),
    "sem_timedwait": within_time(_down, SEMAPHORE, Known(-1)),
    "sem_clockwait": within_time(_down, SEMAPHORE, Known(-1)),
    "sem_destroy": on_lock(_destroy_semaphore, drains=False),
    "sem_getvalue": _value_of_semaphore,
    "pthread_barrier_init": _init_barrier,
    "pthread_barrier_wait": _wait_at_barrier,
    "pthread_barrier_destroy": on_lock(_destroy_barrier, 8, drains=False),
}
