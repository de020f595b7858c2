"""The entry point: from here on an interrupt has an answer, and once there is an answer its exit code stands.

Importing the commands takes most of the time of a small check, so nothing is imported before this is arranged.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from memfence.cli.supervised import Announcement, asks_other_machines
from memfence.safe_points import may_end

SOON_SECONDS = 0.02
"""An interrupt that comes in the middle of foreign code is tried again."""
AGAIN = getattr(signal, "SIGVTALRM", None)
"""The signal of that second try; the alarm belongs to `--timeout`."""
INTERNAL = 70
"""`Exit.INTERNAL`, for when not even that can be imported."""
_beginning: list[FrameType | None] = [None]


def run() -> None:
    """`memfence ...`. SIGTERM, as sent by `kill` and `timeout`, is answered like Ctrl-C."""
    told = _begin_in_child(sys.argv[1:])
    _beginning.append(sys._getframe())
    for number in (signal.SIGINT, signal.SIGTERM, AGAIN):
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
    sys.unraisablehook = _tell_unless_it_comes_again
    # A large program is millions of objects that stay: looking for garbage among them, again and again, took as long
    # as reading it.
    gc.set_threshold(100_000, 50, 100)
    try:
        _run_command()
    except SystemExit as ended:
        _ignore_interrupts()
        told(ended.code)
        _leave_searches_behind(ended.code)
        raise


def _begin_in_child(arguments: list[str]) -> Callable[[object], None]:
    """Where libraries may end the process, go on in a child; the result is told with which code that ends."""
    announcement = Announcement()
    if asks_other_machines(arguments):
        announcement.begin()
    return announcement.tell


def _run_command() -> None:
    try:
        from memfence.cli.main import run as run_command

        run_command()
    except KeyboardInterrupt:
        _ignore_interrupts()
        from memfence.cli.interruption import report_interruption

        sys.exit(report_interruption())
    except SystemExit:
        raise
    except BaseException as fault:  # Python itself would end with 1, which is a verdict
        _ignore_interrupts()
        try:
            sys.stderr.write(f"internal error: {type(fault).__name__}: {fault}\n")
        except Exception:  # nobody reads it
            sys.stderr = None
        sys.exit(INTERNAL)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End what is done now; a moment later, where foreign code runs that would be left half done."""
    if AGAIN is None or may_end(frame, _beginning[-1]):
        raise KeyboardInterrupt
    signal.setitimer(signal.ITIMER_VIRTUAL, SOON_SECONDS)


def _tell_unless_it_comes_again(lost: Any) -> None:
    """An exception that a destructor has lost is told, unless it is an alarm: that rings again."""
    from memfence.deadline import TimeUp

    if isinstance(lost.exc_value, KeyboardInterrupt) and AGAIN is not None:
        signal.setitimer(signal.ITIMER_VIRTUAL, SOON_SECONDS)
    elif not isinstance(lost.exc_value, TimeUp):
        sys.__unraisablehook__(lost)


def _ignore_interrupts() -> None:
    """There is an answer. Another Ctrl-C while Python shuts down would end in a traceback, or change the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM, AGAIN):
        if number is not None:
            signal.signal(number, signal.SIG_IGN)


def _leave_searches_behind(code: object) -> None:
    """Exit at once if a search still runs that was given up when the time was over: Python would wait for its end."""
    import os
    import threading

    others = (thread for thread in threading.enumerate() if thread is not threading.main_thread())
    if isinstance(code, int) and any(not thread.daemon for thread in others):
        from contextlib import suppress

        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):  # closed, or nobody reads it: told already
                stream.flush()
        os._exit(code)
