"""All commands together. Start-up is part of every answer: nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from memfence.cli.app import VERBS, app
from memfence.cli.exit_codes import Exit
from memfence.cli.interruption import report_interruption
from memfence.cli.streams import prepare_streams, refuse_output
from memfence.version import VERSION

INTERRUPTED_IN_TYPER = 130
"""The code with which typer ends at a Ctrl-C; no command of ours has it."""


def run() -> None:
    """`memfence ...`: run the command and exit with its code; our own faults exit 70, never with a bare traceback."""
    if not prepare_streams():
        sys.exit(refuse_output("it is closed"))
    try:
        code = _exit_code()
        if not sys.stdout.closed:  # as by a language server that was told to exit
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = report_interruption()
    except MemoryError:
        code = report_interruption(limit="out of memory")
    except OSError as problem:
        if problem.filename is not None:  # not a stream
            code = _report_fault(problem)
        else:
            code = refuse_output(problem.strerror or str(problem))
    except Exception as fault:
        code = _report_fault(fault)
    sys.exit(code)


def _exit_code() -> Any:
    """That of the command, which ends by SystemExit."""
    add_verbs(sys.argv[1:])
    try:
        app(prog_name="memfence")
    except SystemExit as ended:
        if ended.code == INTERRUPTED_IN_TYPER:
            raise KeyboardInterrupt from None
        return ended.code
    return Exit.HOLDS


def add_verbs(arguments: list[str]) -> None:
    """The verb that is called, or all of them where help is asked for, a shell completes or the word is none."""
    called = arguments[0] if arguments else ""
    for module in (VERBS[called],) if called in VERBS else dict.fromkeys(VERBS.values()):
        import_module(f"memfence.cli.{module}")


def _report_fault(fault: Exception) -> Exit:
    import platform
    import traceback

    sys.stderr.write(f"internal error: {type(fault).__name__}: {fault}\n")
    for frame in traceback.extract_tb(fault.__traceback__)[-5:]:
        sys.stderr.write(f"  at {frame.filename}:{frame.lineno} in {frame.name}\n")
    system = f"memfence {VERSION}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    sys.stderr.write(f"This is a fault of memfence ({system}), not of your program.\n")
    sys.stderr.write("Please report it with the command line, the input file and the lines above.\n")
    return Exit.INTERNAL
