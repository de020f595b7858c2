"""C++'s locks whose code is in the library: recursive and shared mutexes are those of POSIX under other names."""

from __future__ import annotations

from memfence.frontends.c.library.locks import FUNCTIONS as LOCKS
from memfence.frontends.c.library.locks import KIND, RECURSIVE, on_lock, on_mutex, trying
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.machine.atomically import Atomically
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Value

SHARED = "_ZNSt3__119__shared_mutex_base"
RECURSIVE_MUTEX = "_ZNSt3__115recursive_mutex"


def _make_recursive(step: Atomically, address: int) -> Value | None:
    step.write(address, ZERO)
    step.write(address + KIND, Known(RECURSIVE))
    return None


FUNCTIONS: dict[str, Handler] = {
    f"{SHARED}C1Ev": LOCKS["pthread_rwlock_init"],
    f"{SHARED}C2Ev": LOCKS["pthread_rwlock_init"],
    f"{SHARED}4lockEv": LOCKS["pthread_rwlock_wrlock"],
    f"{SHARED}6unlockEv": LOCKS["pthread_rwlock_unlock"],
    f"{SHARED}11lock_sharedEv": LOCKS["pthread_rwlock_rdlock"],
    f"{SHARED}13unlock_sharedEv": LOCKS["pthread_rwlock_unlock"],
    f"{RECURSIVE_MUTEX}C1Ev": on_lock(_make_recursive, 20, drains=False),
    f"{RECURSIVE_MUTEX}C2Ev": on_lock(_make_recursive, 20, drains=False),
    f"{RECURSIVE_MUTEX}D1Ev": LOCKS["pthread_mutex_destroy"],
    f"{RECURSIVE_MUTEX}D2Ev": LOCKS["pthread_mutex_destroy"],
    f"{RECURSIVE_MUTEX}4lockEv": LOCKS["pthread_mutex_lock"],
    f"{RECURSIVE_MUTEX}6unlockEv": LOCKS["pthread_mutex_unlock"],
    f"{RECURSIVE_MUTEX}8try_lockEv": on_mutex(trying(ONE, ZERO)),
}
