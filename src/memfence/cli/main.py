"""The entry point. Start-up is part of every answer: nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys

from memfence.cli.bench_command import bench
from memfence.cli.commands import app
from memfence.cli.compare_command import compare
from memfence.cli.exit_codes import Exit
from memfence.cli.explore_command import explore
from memfence.cli.fix_command import fix
from memfence.cli.monitor_command import monitor
from memfence.cli.why_command import why
from memfence.version import VERSION

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
    try:
        app(prog_name="memfence")
    except KeyboardInterrupt:
        sys.stderr.write("\nUNKNOWN: interrupted\n")
        sys.exit(Exit.UNKNOWN)
    except BrokenPipeError:
        # Whoever read our output has seen enough: `memfence ... | head`.
        sys.stderr.close()
        sys.exit(Exit.HOLDS)
    except Exception as fault:
        _report_fault(fault)
        sys.exit(Exit.INTERNAL)


def _report_fault(fault: Exception) -> None:
    import platform
    import traceback

    sys.stderr.write(f"internal error: {type(fault).__name__}: {fault}\n")
    for frame in traceback.extract_tb(fault.__traceback__)[-5:]:
        sys.stderr.write(f"  at {frame.filename}:{frame.lineno} in {frame.name}\n")
    system = f"memfence {VERSION}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    sys.stderr.write(f"This is a fault of memfence ({system}), not of your program.\n")
    sys.stderr.write("Please report it with the command line, the input file and the lines above.\n")
