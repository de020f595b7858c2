"""`memfence ...` within the process of the tests: what it prints and its exit code, without the time to start Python.

For tests of what commands say. Tests of what a process does (signals, limits, closed streams, start-up) start one.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryFile
from unittest import mock

from memfence.cli.main import run

ROOT = Path(__file__).resolve().parents[2]


def memfence(
    *arguments: object, folder: Path = ROOT, given: str | bytes = b"", environment: Mapping[str, str] | None = None
) -> CompletedProcess[str]:
    """Run the command in `folder`, with `given` on standard input; lines are 100 columns wide."""
    output, errors = _stream(), _stream()
    with redirect_stdout(output), redirect_stderr(errors):
        code = _run(arguments, folder, given, environment or {})
    return CompletedProcess([*map(str, arguments)], code, _written(output), _written(errors))


def memfence_shown(*arguments: str, folder: Path, environment: Mapping[str, str]) -> CompletedProcess[str]:
    """The same, with errors among the output, as a terminal shows them."""
    both = _stream()
    with redirect_stdout(both), redirect_stderr(both):
        code = _run(arguments, folder, b"", environment)
    return CompletedProcess([*arguments], code, _written(both), "")


def _run(arguments: Sequence[object], folder: Path, given: str | bytes, environment: Mapping[str, str]) -> int:
    """The exit code of the command, which prints to the streams that Python has at the moment."""
    with TemporaryFile() as piped:  # a real one: some commands read it by its number
        piped.write(given.encode() if isinstance(given, str) else given)
        piped.seek(0)
        with (
            chdir(folder),
            mock.patch.object(sys, "argv", ["memfence", *map(str, arguments)]),
            mock.patch.object(sys, "stdin", io.TextIOWrapper(piped, encoding="utf-8")),
            mock.patch.dict(os.environ, {"COLUMNS": "100", **environment}),
        ):
            return _exit_code()


def _exit_code() -> int:
    try:
        run()
    except SystemExit as ended:
        return int(ended.code or 0)
    raise AssertionError("a command ends by SystemExit")


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    written = stream.buffer
    assert isinstance(written, io.BytesIO)
    return written.getvalue().decode()
