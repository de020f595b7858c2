"""The entry point: from here on an interrupt has an answer, and once there is an answer its exit code stands.

Importing the commands takes most of the time of a small check, so nothing is imported before this is arranged.
"""

from __future__ import annotations

import gc
import signal
import sys


def run() -> None:
    """`memfence ...`. SIGTERM, as sent by `kill` and `timeout`, is answered like Ctrl-C."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A large program is millions of objects that stay: looking for garbage among them, again and again, took as long
    # as reading it.
    gc.set_threshold(100_000, 50, 100)
    try:
        _run_command()
    except SystemExit as ended:
        _ignore_interrupts()
        _leave_searches_behind(ended.code)
        raise


def _run_command() -> None:
    try:
        from memfence.cli.main import run as run_command

        run_command()
    except KeyboardInterrupt:
        _ignore_interrupts()
        from memfence.cli.interruption import report_interruption

        sys.exit(report_interruption())


def _ignore_interrupts() -> None:
    """There is an answer. Another Ctrl-C while Python shuts down would end in a traceback, or change the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):
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
