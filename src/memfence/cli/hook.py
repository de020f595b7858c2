"""`memfence-hook [OPTIONS OF CHECK] FILE...`: what pre-commit calls, with all changed files at once.

Each file is checked by itself; the exit code is that of the worst.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from memfence.cli.exit_codes import Exit, worst


def run() -> None:
    """Check every file and exit."""
    sys.exit(check_all(sys.argv[1:]))


def check_all(arguments: Sequence[str]) -> Exit:
    """`arguments`: options of `memfence check`, then files; those at the end that exist are the files."""
    options, files = split(arguments)
    return worst(check_one([*options, file]) for file in files)


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Options and files."""
    count = len(arguments)
    while count and Path(arguments[count - 1]).is_file():
        count -= 1
    return list(arguments[:count]), list(arguments[count:])


def check_one(arguments: Sequence[str]) -> Exit:
    """`memfence check` with these arguments, in this process."""
    from memfence.cli.main import run as run_memfence

    before = sys.argv
    sys.argv = ["memfence", "check", *arguments]
    try:
        run_memfence()
    except SystemExit as ended:
        return Exit(int(ended.code or 0))
    finally:
        sys.argv = before
    return Exit.HOLDS
