"""What C++ programs need of their library beyond its headers: new and delete, threads, mutexes, static guards."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.library.arguments import nothing, number
from memfence.frontends.c.library.heap import ALIGNED_NEW
from memfence.frontends.c.library.heap import FUNCTIONS as HEAP
from memfence.frontends.c.library.locks import RELEASE, TAKE, destroy_mutex, on_lock, on_mutex, trying
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.library.threads import once_with
from memfence.frontends.c.library.waiting import FUNCTIONS as WAITING
from memfence.frontends.c.library.waiting import wait_on
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.access import at_address
from memfence.frontends.c.machine.arithmetic import compare
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.threads import join_thread
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Value


def _join(path: Path, call: Call, arguments: list[Value]) -> None:
    """`std::thread::join`: the handle is the first word of the object, 0 afterwards."""

    def act(p: Path, address: int) -> None:
        step = Atomically(p)
        handle = step.read(address, 8)
        if step.ops:
            raise p.refuse(Code.UNSUPPORTED, "a `std::thread` that several threads use")
        step.write(address, ZERO, 8)
        join_thread(p, call, handle, ZERO)

    at_address(path, number(path, arguments, 0), 8, "std::thread::join", act)


def _detach(path: Path, call: Call, arguments: list[Value]) -> None:
    """`std::thread::detach`: the handle is 0 afterwards."""

    def act(p: Path, address: int) -> None:
        step = Atomically(p)
        step.write(address, ZERO, 8)
        step.finish(call)

    at_address(path, number(path, arguments, 0), 8, "std::thread::detach", act)


def _destroy_thread(path: Path, call: Call, arguments: list[Value]) -> None:
    """`std::thread::~thread`: an error while the thread can still be joined."""

    def act(p: Path, address: int) -> None:
        step = Atomically(p)
        step.check(compare("eq", 64, step.read(address, 8), ZERO), "std::terminate, since a thread was not joined")
        step.finish(call)

    at_address(path, number(path, arguments, 0), 8, "std::thread::~thread", act)


def _wait_with_lock(path: Path, call: Call, arguments: list[Value]) -> None:
    """`std::condition_variable::wait`: the mutex is what the first word of the `unique_lock` points to."""

    def act(p: Path, address: int) -> None:
        step = Atomically(p)
        mutex = step.read(address, 8)
        if step.ops:
            raise p.refuse(Code.UNSUPPORTED, "a `std::unique_lock` that several threads use")
        wait_on(p, call, [number(p, arguments, 0), mutex])

    at_address(path, number(path, arguments, 1), 8, "std::condition_variable::wait", act)


def _first_argument(path: Path, call: Call, arguments: list[Value]) -> None:
    returned(path, call, number(path, arguments, 0))


def _guard_acquire(path: Path, call: Call, arguments: list[Value]) -> None:
    """`__cxa_guard_acquire`: 1 for the thread that initialises; the others wait."""

    def act(p: Path, address: int) -> None:
        first = p.fork()
        assert first is not None
        is_stuck = True
        for way, wanted, result in ((first, ZERO, ONE), (p, ONE, ZERO)):
            step = Atomically(way)
            offset = 0 if result == ZERO else 1
            step.wait_for(compare("eq", 8, step.read(address + offset, 1), wanted))
            if result == ONE:
                step.wait_for(compare("eq", 8, step.read(address, 1), ZERO))
                step.write(address + 1, ONE, 1)
            is_stuck = is_stuck and step.is_stuck
            if is_stuck and way is p:  # being initialised, and nobody else can do that: it waits for itself
                step.finish(call, result)
            else:
                step.finish_if_possible(call, result)

    at_address(path, number(path, arguments, 0), 8, "__cxa_guard_acquire", act)


def _guard_release(path: Path, call: Call, arguments: list[Value]) -> None:
    def act(p: Path, address: int) -> None:
        step = Atomically(p)
        step.write(address, ONE, 1)
        step.finish(call, None)

    at_address(path, number(path, arguments, 0), 8, "__cxa_guard_release", act)


def _call_once(path: Path, call: Call, arguments: list[Value]) -> None:
    """What is left of `std::call_once` in the library: the flag, and a function with its argument."""
    function = number(path, arguments, 2)
    if not isinstance(function, Known) or function.value not in path.world.constants.functions:
        raise path.refuse(Code.UNSUPPORTED, "`std::call_once` with a function that is not known")
    once_with(path, call, arguments, function.value, (arguments[1],), 8, Known(-1))


def _thread_data(path: Path, call: Call, arguments: list[Value]) -> None:
    placed = path.world.space.place(("thread data", path.process.number), 8, "thread_data", "global")
    returned(path, call, Known(placed.start))


STD = "_ZNSt3__1"

FUNCTIONS: dict[str, Handler] = {
    "_Znwm": HEAP["malloc"],
    "_Znam": HEAP["malloc"],
    "_ZnamSt11align_val_t": HEAP[ALIGNED_NEW],
    "_ZnwmRKSt9nothrow_t": HEAP["malloc"],
    "_ZnamRKSt9nothrow_t": HEAP["malloc"],
    "_ZnwmSt11align_val_tRKSt9nothrow_t": HEAP[ALIGNED_NEW],
    "_ZnamSt11align_val_tRKSt9nothrow_t": HEAP[ALIGNED_NEW],
    **dict.fromkeys(
        (
            "_ZdlPv",
            "_ZdlPvm",
            "_ZdaPv",
            "_ZdaPvm",
            "_ZdlPvSt11align_val_t",
            "_ZdlPvmSt11align_val_t",
            "_ZdaPvSt11align_val_t",
            "_ZdaPvmSt11align_val_t",
            "_ZdlPvRKSt9nothrow_t",
            "_ZdaPvRKSt9nothrow_t",
        ),
        HEAP["free"],
    ),
    f"{STD}6thread4joinEv": _join,
    f"{STD}6thread6detachEv": _detach,
    f"{STD}6threadD1Ev": _destroy_thread,
    f"{STD}6threadD2Ev": _destroy_thread,
    f"{STD}15__thread_structC1Ev": _first_argument,
    f"{STD}15__thread_structD1Ev": nothing,
    f"{STD}19__thread_local_dataEv": _thread_data,
    f"{STD}5mutex4lockEv": on_mutex(TAKE),
    f"{STD}5mutex6unlockEv": on_mutex(RELEASE),
    f"{STD}5mutex8try_lockEv": on_mutex(trying(ONE, ZERO)),
    f"{STD}5mutexD1Ev": on_lock(destroy_mutex, drains=False),
    f"{STD}5mutexD2Ev": on_lock(destroy_mutex, drains=False),
    f"{STD}18condition_variable10notify_oneEv": WAITING["pthread_cond_signal"],
    f"{STD}18condition_variable10notify_allEv": WAITING["pthread_cond_broadcast"],
    f"{STD}18condition_variable4waitERNS_11unique_lockINS_5mutexEEE": _wait_with_lock,
    f"{STD}18condition_variableD1Ev": WAITING["pthread_cond_destroy"],
    f"{STD}18condition_variableD2Ev": WAITING["pthread_cond_destroy"],
    f"{STD}11__call_onceERVmPvPFvS2_E": _call_once,
    "__cxa_guard_acquire": _guard_acquire,
    "__cxa_guard_release": _guard_release,
}
