"""All commands together. Start-up is part of every answer: nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys
from typing import Any

from memfence.cli.bench_command import bench
from memfence.cli.commands import app
from memfence.cli.compare_command import compare
from memfence.cli.exit_codes import Exit
from memfence.cli.explore_command import explore
from memfence.cli.fix_command import fix
from memfence.cli.interruption import report_interruption
from memfence.cli.monitor_command import monitor
from memfence.cli.streams import drop_output, prepare_streams, refuse_output
from memfence.cli.why_command import why
from memfence.version import VERSION

INTERRUPTED_IN_TYPER = 130
"""The code with which typer ends at a Ctrl-C; no command of ours has it."""

app.command(
    short_help="Where do fences go, and how few are enough?",
    epilog="Example: memfence fix examples/lost_wakeup.pml --model tso",
)(fix)
app.command(short_help="Every criterion side by side.", epilog="Example: memfence compare examples/peterson.pml")(
    compare
)
app.command(short_help="Is this fence needed?", epilog="Example: memfence why fixed.pml:14")(why)
app.command(
    short_help="Check one recorded execution for store-buffer safety.",
    epilog="Example: memfence monitor run.jsonl.gz",
)(monitor)
app.command(
    short_help="Run SC executions one by one, and monitor each.",
    epilog="Example: memfence explore examples/lost_wakeup.pml --preemptions 3",
)(explore)

app.add_typer(bench, name="bench", short_help="The tables of the papers, measured again.")


def run() -> None:
    """`memfence ...`: run the command and exit with its code; our own faults exit 70, never with a bare traceback."""
    if not prepare_streams():
        sys.exit(refuse_output("it is closed"))
    try:
        code = _exit_code()
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = report_interruption()
    except BrokenPipeError:
        # Whoever read our output has seen enough: `memfence ... | head`.
        drop_output()
        code = Exit.HOLDS
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
    try:
        app(prog_name="memfence")
    except SystemExit as ended:
        if ended.code == INTERRUPTED_IN_TYPER:
            raise KeyboardInterrupt from None
        return ended.code
    return Exit.HOLDS


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
