"""A command that may be ended from within: a child does it, and this process has the last word about the exit code.

Ray ends the process that asks, with code 1 and without a word that could be caught, when the node of this machine dies.
That would read as a verdict. So with `--cluster` the command runs in a child, which says through a pipe with which code
it ends; where it does not come to that, there is no verdict.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

OPTION = "--cluster"
FORWARDED = (signal.SIGINT, signal.SIGTERM)
LOST = "the connection to the cluster was lost: its node on this machine ended"
DIES_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


def asks_other_machines(arguments: Sequence[str]) -> bool:
    """Whether the command line has the option."""
    return any(argument == OPTION or argument.startswith(f"{OPTION}=") for argument in arguments)


class Announcement:
    """How a child tells its exit code."""

    def __init__(self) -> None:
        self._end: int | None = None

    def begin(self) -> None:
        """Go on in a child; the parent stays here until that has ended, and then ends, too."""
        if not (hasattr(os, "fork") and hasattr(signal, "sigwaitinfo")):
            return
        reading, writing = os.pipe()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {*FORWARDED, signal.SIGCHLD})
        parent, child = os.getpid(), os.fork()
        if child:
            os.close(writing)
            _leave(_code_of(child, reading))
        os.close(reading)
        self._end = writing
        _end_with(parent)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def tell(self, code: object) -> None:
        """The child has an answer, which is printed by now."""
        if self._end is not None and isinstance(code, int):
            with suppress(OSError):
                os.write(self._end, str(int(code)).encode())


def _code_of(child: int, reading: int) -> int:
    """Wait for the child; signals that are meant for this process alone are handed on."""
    while True:
        about = signal.sigwaitinfo({*FORWARDED, signal.SIGCHLD})
        if about.si_signo != signal.SIGCHLD:
            if about.si_pid:  # 0: from the terminal, which tells the child, too
                with suppress(ProcessLookupError):
                    os.kill(child, about.si_signo)
            continue
        ended, _ = os.waitpid(child, os.WNOHANG)
        if ended:
            told = os.read(reading, 16)
            return int(told) if told else _report_loss()


def _report_loss() -> int:
    from memfence.cli.interruption import report_interruption

    return report_interruption(limit=LOST)


def _leave(code: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)


def _end_with(parent: int) -> None:
    """End this process with its parent, where the system knows how."""
    with suppress(Exception):
        import ctypes

        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)
