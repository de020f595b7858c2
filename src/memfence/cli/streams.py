"""Standard output and error as we find them: closed, full, or not able to show every character."""

from __future__ import annotations

import codecs
import io
import os
import stat
import sys
import threading
from typing import Any, TextIO, cast

from memfence.cli.exit_codes import Exit

_PLAIN = {"│": "|", "─": "-", "┼": "+", "→": "->", "…": "..."}


def prepare_streams() -> bool:
    """Make both streams usable; False if there is nowhere to print an answer to."""
    if sys.stderr is None:
        sys.stderr = io.StringIO()  # closed: nobody will read it
    codecs.register_error("plain", _plainer)
    sys.stdout, sys.stderr = _prepared(sys.stdout), _prepared(sys.stderr)
    return sys.stdout is not None


class Listened(io.TextIOWrapper):
    """A stream whose reader may stop listening, as in `memfence ... | head`: the rest is dropped, and the command goes
    on to its files and its exit code as if all had been read."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            self._drop()
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            self._drop()

    def _drop(self) -> None:
        _to_nowhere(self)
        super().flush()


class OfMainThread:
    """Standard output for what the command itself says; what libraries print from threads of theirs is no part of the
    answer, and goes to standard error."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        is_ours = threading.current_thread() is threading.main_thread()
        return (self._stream if is_ours else sys.stderr).write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def keep_libraries_out() -> None:
    """From now on only the main thread writes to standard output."""
    sys.stdout = cast(TextIO, OfMainThread(sys.stdout))


def _prepared(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    stream.reconfigure(errors="plain")
    if type(stream) is not io.TextIOWrapper or not _is_pipe(stream):
        return stream
    encoding, is_error = stream.encoding, stream is sys.stderr
    return Listened(stream.detach(), encoding, "plain", line_buffering=is_error, write_through=is_error)


def _is_pipe(stream: TextIO) -> bool:
    try:
        return stat.S_ISFIFO(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def _plainer(problem: UnicodeError) -> tuple[str, int]:
    """What stands for characters that the stream cannot encode: lines of ASCII, else escapes that JSON knows, too."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    text = problem.object[problem.start : problem.end]
    return "".join(_PLAIN.get(char) or _escape(char) for char in text), problem.end


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def refuse_output(reason: str) -> Exit:
    """Nobody will see the answer. What is still buffered is dropped, lest Python tries again at its end."""
    sys.stderr.write(f"memfence: cannot write to standard output: {reason}\n")
    drop_output()
    return Exit.USAGE


def drop_output() -> None:
    """Send whatever is still to be written to nowhere."""
    if sys.stdout is not None:
        _to_nowhere(sys.stdout)


def _to_nowhere(stream: TextIO) -> None:
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
