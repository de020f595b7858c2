"""C11's `<threads.h>`: the same objects as POSIX, other names, other results."""

from __future__ import annotations

from memfence.frontends.c.library.arguments import call_name, number, on_object
from memfence.frontends.c.library.keys import FUNCTIONS as KEYS
from memfence.frontends.c.library.locks import (
    KIND,
    MUTEX,
    OWNER,
    RECURSIVE,
    RELEASE,
    TAKE,
    destroy_mutex,
    on_lock,
    on_mutex,
    trying,
    within_time,
)
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.library.threads import FUNCTIONS as THREADS
from memfence.frontends.c.library.threads import detach
from memfence.frontends.c.library.waiting import FUNCTIONS as WAITING
from memfence.frontends.c.library.waiting import timed_wait, wait_on
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.threads import create_thread, exit_thread, join_thread, own_number
from memfence.frontends.c.machine.values import ZERO, Known, Value

THRD_BUSY = Known(1)
THRD_TIMEDOUT = Known(4)
MTX_RECURSIVE = 1


def _create(path: Path, call: Call, arguments: list[Value]) -> None:
    function = number(path, arguments, 1)
    create_thread(path, call, number(path, arguments, 0), function, number(path, arguments, 2), "c11")


def _join(path: Path, call: Call, arguments: list[Value]) -> None:
    join_thread(path, call, number(path, arguments, 0), number(path, arguments, 1), 4)


def _exit(path: Path, call: Call, arguments: list[Value]) -> None:
    exit_thread(path, number(path, arguments, 0))


def _current(path: Path, call: Call, arguments: list[Value]) -> None:
    returned(path, call, own_number(path))


def _init_mutex(path: Path, call: Call, arguments: list[Value]) -> None:
    kind = number(path, arguments, 1)

    def initialise(step: Atomically, address: int) -> Value | None:
        step.write(address + OWNER, ZERO)
        if isinstance(kind, Known) and kind.value & MTX_RECURSIVE:
            step.write(address + KIND, Known(RECURSIVE))
        return ZERO

    on_object(path, call, number(path, arguments, 0), 4, call_name(call), initialise, drains=False)


FUNCTIONS: dict[str, Handler] = {
    "thrd_create": _create,
    "thrd_join": _join,
    "thrd_detach": detach,
    "thrd_exit": _exit,
    "thrd_current": _current,
    "thrd_equal": THREADS["pthread_equal"],
    "tss_create": KEYS["pthread_key_create"],
    "tss_delete": KEYS["pthread_key_delete"],
    "tss_get": KEYS["pthread_getspecific"],
    "tss_set": KEYS["pthread_setspecific"],
    "mtx_init": _init_mutex,
    "mtx_lock": on_mutex(TAKE),
    "mtx_unlock": on_mutex(RELEASE),
    "mtx_trylock": on_mutex(trying(ZERO, THRD_BUSY)),
    "mtx_timedlock": within_time(TAKE, MUTEX, THRD_TIMEDOUT),
    "mtx_destroy": on_lock(destroy_mutex, drains=False),
    "cnd_init": WAITING["pthread_cond_init"],
    "cnd_wait": wait_on,
    "cnd_timedwait": timed_wait(THRD_TIMEDOUT),
    "cnd_signal": WAITING["pthread_cond_signal"],
    "cnd_broadcast": WAITING["pthread_cond_broadcast"],
    "cnd_destroy": WAITING["pthread_cond_destroy"],
}
