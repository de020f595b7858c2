"""Standard output and error as we find them: closed, full, or not able to show every character."""

from __future__ import annotations

import codecs
import io
import os
import sys

from memfence.cli.exit_codes import Exit

_PLAIN = {"│": "|", "─": "-", "┼": "+", "→": "->", "…": "..."}


def prepare_streams() -> bool:
    """Make both streams usable; False if there is nowhere to print an answer to."""
    if sys.stderr is None:
        sys.stderr = io.StringIO()  # closed: nobody will read it
    codecs.register_error("plain", _plainer)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")
    return sys.stdout is not None


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
    if sys.stdout is None:
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        pass
