"""The entry point: from here on an interrupt has an answer.

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
        from memfence.cli.main import run as run_command

        run_command()
    except KeyboardInterrupt:
        from memfence.cli.interruption import report_interruption

        sys.exit(report_interruption())
