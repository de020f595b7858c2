"""Functions without an effect that matters: output, time, yielding the processor."""

from __future__ import annotations

from memfence.frontends.c.library.arguments import nothing
from memfence.frontends.c.library.ending import PROCESS
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import Known, Value

QUIET = [
    "printf",
    "fprintf",
    "puts",
    "putchar",
    "fputs",
    "fputc",
    "putc",
    "perror",
    "fflush",
    "vprintf",
    "setbuf",
    "setvbuf",
    "fwrite",
    "sched_yield",
    "pthread_yield",
    "thrd_yield",
    "usleep",
    "sleep",
    "nanosleep",
    "thrd_sleep",
    "clock_nanosleep",
    "srand",
    "srandom",
    "setlocale",
    "pthread_attr_init",
    "pthread_attr_destroy",
    "pthread_attr_setstacksize",
    "pthread_attr_setdetachstate",
    "pthread_attr_setscope",
    "pthread_condattr_init",
    "pthread_condattr_destroy",
    "pthread_rwlockattr_init",
    "pthread_rwlockattr_destroy",
    "pthread_barrierattr_init",
    "pthread_barrierattr_destroy",
    "pthread_mutexattr_destroy",
    "pthread_mutexattr_setpshared",
    "pthread_condattr_setclock",
    "pthread_condattr_setpshared",
    "pthread_rwlockattr_setpshared",
    "pthread_rwlockattr_setkind_np",
    "pthread_setconcurrency",
    "pthread_attr_setschedpolicy",
    "pthread_setaffinity_np",
    "pthread_setname_np",
    "pthread_setcancelstate",
    "pthread_setcanceltype",
]


def _constant(value: int, note: str = "") -> Handler:
    """Always the same result; `note`: what a verdict must say of it."""

    def give(path: Path, call: Call, arguments: list[Value]) -> None:
        if note:
            path.world.note(note)
        returned(path, call, Known(value))

    return give


FUNCTIONS: dict[str, Handler] = {
    **dict.fromkeys(QUIET, nothing),
    "getpid": _constant(PROCESS),
    "time": _constant(0, "the clock stands still: `time` returns 0"),
    "clock": _constant(0, "the clock stands still: `clock` returns 0"),
    "sysconf": _constant(4, "`sysconf` returns 4"),
}
