"""Functions without an effect that matters: output, time, yielding the processor, destroying what needs no cleaning."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.library.arguments import nothing, number
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Check
from memfence.frontends.c.machine.values import ZERO, Known, Value
from memfence.program.expressions import FALSE

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
    "madvise",
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
    "pthread_mutex_destroy",
    "pthread_cond_destroy",
    "pthread_rwlock_destroy",
    "pthread_barrier_destroy",
    "pthread_spin_destroy",
    "sem_destroy",
    "mtx_destroy",
    "cnd_destroy",
    "pthread_detach",
    "thrd_detach",
    "pthread_setconcurrency",
    "pthread_attr_setschedpolicy",
    "pthread_setaffinity_np",
    "pthread_setname_np",
    "pthread_setcancelstate",
    "pthread_setcanceltype",
]


ASSERTION_FAILURES = ("__assert_fail", "__assert", "__assert_rtn", "_assert", "_wassert")
"""What `assert` calls where it fails, in the libraries of several systems."""


def _fail_with(text: str) -> Handler:
    def fail(path: Path, call: Call, arguments: list[Value]) -> None:
        path.stop("error", [Check(FALSE, text)])

    return fail


def _stop(kind: str) -> Handler:
    def stop(path: Path, call: Call, arguments: list[Value]) -> None:
        path.stop(kind)

    return stop


def _no_handler(what: str, argument: int) -> Handler:
    """A call that installs a function which the system runs later; without one, nothing happens."""

    def install(path: Path, call: Call, arguments: list[Value]) -> None:
        if number(path, arguments, argument) not in NO_HANDLERS:
            raise path.refuse(Code.UNSUPPORTED, f"{what} is not followed")
        returned(path, call, ZERO)

    return install


NO_HANDLERS = (ZERO, Known(1))
"""SIG_DFL or a null pointer, and SIG_IGN."""


def _constant(value: int, note: str = "") -> Handler:
    """Always the same result; `note`: what a verdict must say of it."""

    def give(path: Path, call: Call, arguments: list[Value]) -> None:
        if note:
            path.world.note(note)
        returned(path, call, Known(value))

    return give


FUNCTIONS: dict[str, Handler] = {
    **dict.fromkeys(QUIET, nothing),
    **dict.fromkeys(ASSERTION_FAILURES, _fail_with("assertion failed")),
    "abort": _stop("quit"),
    "exit": _stop("quit"),
    "_exit": _stop("quit"),
    "_Exit": _stop("quit"),
    "quick_exit": _stop("quit"),
    "getpid": _constant(1000),
    "time": _constant(0, "the clock stands still: `time` returns 0"),
    "clock": _constant(0, "the clock stands still: `clock` returns 0"),
    "sysconf": _constant(4, "`sysconf` returns 4"),
    "__errno_location": _constant(0),
    "signal": _no_handler("a signal handler", 1),
    "sigaction": _no_handler("a signal handler", 1),
    "atexit": _no_handler("a function that runs at exit", 0),
}
