"""Condition variables, semaphores and barriers.

A condition variable is the set of the threads that wait for it, one bit each. A wait is two steps: release the mutex
and wait; once woken, take the mutex again. Nobody wakes without a signal, so that a lost wake-up is a deadlock; but
threads of which there is any number have no bit and may wake at any time, as POSIX allows.
"""

from __future__ import annotations

from memfence.frontends.c.library.arguments import call_name, number, on_object, storing
from memfence.frontends.c.library.locks import on_lock, release_mutex, take_mutex
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import at_address
from memfence.frontends.c.machine.arithmetic import choose, compare, compute
from memfence.frontends.c.machine.atomically import Atomically
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Unknown, Value

TIMED_OUT = 110
BUSY_AGAIN = 11
SERIAL = Known(-1)
NEEDED, ARRIVED, ROUND = 0, 4, 8
ROUNDS = 64


def _bit(path: Path) -> Known:
    return Known(1 << path.process.number)


def wait_on(path: Path, call: Call, arguments: list[Value], may_time_out: bool = False) -> None:
    """`pthread_cond_wait`: the first step here, the second when control comes here again."""
    condition, mutex = number(path, arguments, 0), number(path, arguments, 1)
    waiting = ("wait", path.state.positions())
    is_back = waiting in path.state.counts

    def first(p: Path, at: int) -> None:
        step = Atomically(p)
        at_address(p, mutex, 4, call_name(call), lambda q, m: _release(q, step, m, at, waiting))

    def second(p: Path, at: int) -> None:
        at_address(p, mutex, 4, call_name(call), lambda q, m: _wake(q, call, m, at, waiting, may_time_out))

    at_address(path, condition, 4, call_name(call), second if is_back else first)


def _release(path: Path, step: Atomically, mutex: int, condition: int, waiting: object) -> None:
    step.path = path
    release_mutex(step, mutex)
    if not path.process.thread.is_crowd:
        waiters = step.read(condition)
        step.write(condition, compute("or", 32, waiters, _bit(path)))
    path.state.counts[waiting] = 1
    path.state.top.index -= 1
    path.emit(step.ops, locked=True)


def _wake(path: Path, call: Call, mutex: int, condition: int, waiting: object, may_time_out: bool) -> None:
    del path.state.counts[waiting]
    if may_time_out:
        late = path.fork()
        assert late is not None
        step = Atomically(late)
        waiters = step.read(condition)
        step.write(condition, compute("and", 32, waiters, Known(~_bit(late).value)))
        take_mutex(step, mutex)
        step.finish(call, Known(TIMED_OUT))
    step = Atomically(path)
    if not path.process.thread.is_crowd:
        waiters = step.read(condition)
        step.wait_for(compare("eq", 32, compute("and", 32, waiters, _bit(path)), ZERO))
    take_mutex(step, mutex)
    step.finish(call, ZERO)


def _timed_wait(path: Path, call: Call, arguments: list[Value]) -> None:
    wait_on(path, call, arguments, may_time_out=True)


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
        waiters = step.read(address)
        is_waiting = compare("ne", 32, compute("and", 32, waiters, Known(1 << other)), ZERO)
        step.wait_for(is_waiting)
        step.write(address, compute("and", 32, waiters, Known(~(1 << other))))
        if step.is_stuck or (isinstance(waiters, Unknown) and not _may_have(waiters, 1 << other)):
            copy.ended = True
        else:
            step.finish(call, ZERO)
    step = Atomically(path)
    step.wait_for(compare("eq", 32, step.read(address), ZERO))
    if step.is_stuck:
        path.ended = True
    else:
        step.finish(call, ZERO)


def _may_have(waiters: Unknown, bit: int) -> bool:
    members = waiters.values.members(4096)
    return members is None or any(v & bit for v in members)


def _broadcast(step: Atomically, address: int) -> Value | None:
    step.write(address, ZERO)
    return ZERO


# Semaphores.


def _init_condition(step: Atomically, address: int) -> Value | None:
    step.write(address, ZERO)
    return ZERO


def _down(step: Atomically, address: int) -> Value | None:
    value = step.read(address)
    step.wait_for(compare("sgt", 32, value, ZERO))
    step.write(address, compute("sub", 32, value, ONE))
    return ZERO


def _up(step: Atomically, address: int) -> Value | None:
    step.write(address, compute("add", 32, step.read(address), ONE))
    return ZERO


def _try_down(step: Atomically, address: int) -> Value | None:
    value = step.read(address)
    free = compare("sgt", 32, value, ZERO)
    step.write(address, choose(free, compute("sub", 32, value, ONE), value))
    return choose(free, ZERO, Known(-1))


def _value_of_semaphore(path: Path, call: Call, arguments: list[Value]) -> None:
    target = number(path, arguments, 1)

    def look(step: Atomically, address: int) -> Value | None:
        if isinstance(target, Known):
            step.write(target.value, step.read(address))
        return ZERO

    on_object(path, call, number(path, arguments, 0), 4, call_name(call), look, drains=False)


# Barriers.


def _init_barrier(path: Path, call: Call, arguments: list[Value]) -> None:
    count = number(path, arguments, 2)

    def initialise(step: Atomically, address: int) -> Value | None:
        step.write(address + NEEDED, count)
        step.write(address + ARRIVED, ZERO)
        step.write(address + ROUND, ZERO)
        return ZERO

    on_object(path, call, number(path, arguments, 0), 12, call_name(call), initialise, drains=False)


def _wait_at_barrier(path: Path, call: Call, arguments: list[Value]) -> None:
    at_address(path, number(path, arguments, 0), 12, call_name(call), lambda p, a: _barrier_at(p, call, a))


def _barrier_at(path: Path, call: Call, address: int) -> None:
    """Two steps: arrive; go on once the round is over. The last to arrive ends the round."""
    waiting = ("barrier", path.state.positions())
    entered = path.world.space.place(("barrier round", path.process.number), 4, "round entered", "global").start
    step = Atomically(path)
    if waiting in path.state.counts:
        del path.state.counts[waiting]
        before = private.read(path.world, path.state, entered, 4)
        private.forget(path.world, path.state, entered, entered + 4)
        step.wait_for(compare("ne", 32, step.read(address + ROUND), before))
        step.finish(call, ZERO)
        return
    last = path.fork()
    assert last is not None
    _last_arrives(last, call, address)
    arrived, needed = step.read(address + ARRIVED), step.read(address + NEEDED)
    step.wait_for(compare("slt", 32, compute("add", 32, arrived, ONE), needed))
    if step.is_stuck:
        path.ended = True
        return
    private.write(path.world, path.state, entered, 4, step.read(address + ROUND))
    step.write(address + ARRIVED, compute("add", 32, arrived, ONE))
    path.state.counts[waiting] = 1
    path.state.top.index -= 1
    path.emit(step.ops, locked=True)


def _last_arrives(path: Path, call: Call, address: int) -> None:
    step = Atomically(path)
    arrived, needed = step.read(address + ARRIVED), step.read(address + NEEDED)
    current = step.read(address + ROUND)
    step.wait_for(compare("sge", 32, compute("add", 32, arrived, ONE), needed))
    if step.is_stuck:
        path.ended = True
        return
    step.write(address + ARRIVED, ZERO)
    step.write(address + ROUND, compute("and", 32, compute("add", 32, current, ONE), Known(ROUNDS - 1)))
    step.finish(call, SERIAL)


FUNCTIONS: dict[str, Handler] = {
    "pthread_cond_init": on_lock(_init_condition, drains=False),
    "pthread_cond_wait": wait_on,
    "pthread_cond_timedwait": _timed_wait,
    "pthread_cond_signal": _signal,
    "pthread_cond_broadcast": on_lock(_broadcast),
    "sem_init": storing(2),
    "sem_wait": on_lock(_down),
    "sem_post": on_lock(_up),
    "sem_trywait": on_lock(_try_down),
    "sem_getvalue": _value_of_semaphore,
    "pthread_barrier_init": _init_barrier,
    "pthread_barrier_wait": _wait_at_barrier,
}
