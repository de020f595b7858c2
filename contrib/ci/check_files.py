"""Checks files one by one for CI: `check_files.py [--sarif DIR] [OPTIONS OF CHECK] -- FILE...`.

Each file is a program of its own, checked by the memfence of this Python; with --sarif, one report per file goes into DIR.
The exit code is that of the worst file.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FROM_BAD_TO_GOOD = (70, 2, 3, 1, 4, 0)
"""Exit codes of memfence: internal error, wrong usage, bad input, violated, unknown, holds."""


def main(arguments: Sequence[str]) -> int:
    """Check every file; the exit code."""
    if "--" not in arguments:
        sys.stderr.write("usage: check_files.py [--sarif DIR] [OPTIONS OF CHECK] -- FILE...\n")
        return 2
    split = arguments.index("--")
    options, files = list(arguments[:split]), arguments[split + 1 :]
    folder = None
    if "--sarif" in options:
        at = options.index("--sarif")
        folder = Path(options[at + 1])
        folder.mkdir(parents=True, exist_ok=True)
        del options[at : at + 2]
    codes = [check(file, options, folder) for file in files]
    if not codes:
        sys.stderr.write("no files to check\n")
        return 2
    return min(codes, key=lambda code: FROM_BAD_TO_GOOD.index(code) if code in FROM_BAD_TO_GOOD else -1)


def check(file: str, options: Sequence[str], folder: Path | None) -> int:
    """`memfence check` of one file."""
    report = [] if folder is None else ["--sarif", str(folder / f"{file.replace('/', '_')}.sarif")]
    sys.stdout.flush()
    return subprocess.run([sys.executable, "-m", "memfence", "check", file, *options, *report]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
