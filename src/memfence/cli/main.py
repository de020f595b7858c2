"""All commands together. Start-up is part of every answer: nothing heavy is imported before a command needs it."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from memfence.cli.app import VERBS, app
from memfence.cli.exit_codes import Exit, HandedOn
from memfence.cli.interruption import report_interruption
from memfence.cli.progress import close_progress
from memfence.cli.streams import keep_libraries_out, prepare_streams, refuse_output
from memfence.cli.supervised import asks_other_machines
from memfence.version import VERSION

INTERRUPTED_IN_TYPER = 130
"""The code with which typer ends at a Ctrl-C; no command of ours has it."""


COMPLETION = "_MEMFENCE_COMPLETE"
"""Set where a shell asks what may come next."""
PARSERS = ("typer", "click")


class EndedFromOutside(Exception):
    """A library ended the process in the middle of a command: there is no verdict."""


def run() -> None:
    """`memfence ...`: run the command and exit with its code; our own faults exit 70, never with a bare traceback."""
    if not prepare_streams():
        sys.exit(refuse_output("it is closed"))
    if asks_other_machines(sys.argv):
        keep_libraries_out()
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
    except BaseException as fault:
        code = _report_fault(fault)
    sys.exit(code)


def _exit_code() -> int:
    """That of the command. 0 and 1 are verdicts: only a command of ours gives them, as an `Exit`."""
    add_verbs(sys.argv[1:])
    try:
        app(prog_name="memfence")
    except SystemExit as ended:
        return _trusted(ended)
    return Exit.HOLDS


def _trusted(ended: SystemExit) -> int:
    """The code with which a command ended, or the parser of the command line; everything else is raised as a fault."""
    code, reason = ended.code, ended.__context__
    if isinstance(code, Exit | HandedOn):
        return code
    if code == INTERRUPTED_IN_TYPER:
        raise KeyboardInterrupt from None
    if _is_of_parser(ended):
        if code in (None, 0):
            return Exit.HOLDS
        if code == Exit.USAGE:
            return Exit.USAGE
        if COMPLETION in os.environ and isinstance(code, int):
            return code
        if isinstance(reason, OSError):  # a stream that nobody listens to any more
            raise OSError(reason.errno, reason.strerror) from None
    cause = None if reason is None else reason.__cause__ or reason
    raise EndedFromOutside(f"a library ended the command with code {code!r}, without a verdict") from cause


def _is_of_parser(ended: SystemExit) -> bool:
    """Whether the parser of the command line made the process end, and not what was called by it."""
    trace = ended.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    module = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__"))
    return module.partition(".")[0] in PARSERS


def add_verbs(arguments: list[str]) -> None:
    """The verb that is called, or all of them where help is asked for, a shell completes or the word is none."""
    called = arguments[0] if arguments else ""
    is_alone = called in VERBS and called != "help"
    for module in (VERBS[called],) if is_alone else dict.fromkeys(VERBS.values()):
        import_module(f"memfence.cli.{module}")


def _report_fault(fault: BaseException) -> Exit:
    import platform
    import traceback

    close_progress()
    sys.stderr.write(f"internal error: {type(fault).__name__}: {fault}\n")
    if fault.__cause__ is not None:
        sys.stderr.write(f"  because of {type(fault.__cause__).__name__}: {fault.__cause__}\n")
    for frame in traceback.extract_tb((fault.__cause__ or fault).__traceback__)[-5:]:
        sys.stderr.write(f"  at {frame.filename}:{frame.lineno} in {frame.name}\n")
    system = f"memfence {VERSION}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    sys.stderr.write(f"This is a fault of memfence ({system}), not of your program.\n")
    sys.stderr.write("Please report it with the command line, the input file and the lines above.\n")
    return Exit.INTERNAL
