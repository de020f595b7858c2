"""The asking side: start a child for a question, wait with a limit, end it when nobody wants the answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
GRACE_SECONDS = 10.0
"""A search ends by itself when its time is up; one that does not is ended so much later."""
LONGEST_LINE = 64_000_000


@dataclass(frozen=True, slots=True)
class Question:
    """What a child is asked, and how much it may use."""

    verb: str
    path: str
    text: str
    options: Object = field(default_factory=dict)
    timeout_seconds: float = 30.0
    memory_megabytes: int = 1_000

    def line(self) -> bytes:
        """The request as the worker reads it."""
        timed = {} if self.verb == "values" else {"timeout_seconds": self.timeout_seconds}
        if self.verb in ("check", "fix", "why", "compare"):
            timed |= {"memory_megabytes": self.memory_megabytes}
        request = {
            "verb": self.verb,
            "path": self.path,
            "text": self.text,
            "options": {**self.options, **timed},
            "timeout_seconds": self.timeout_seconds,
            "memory_megabytes": self.memory_megabytes,
        }
        return json.dumps(request).encode() + b"\n"


async def ask(question: Question, progress: Callable[[Object], None] | None = None) -> Object:
    """The answer of a child process. Cancelling the call ends the child; so does a time that is long over.

    A child that breaks down gives `{"limit": ...}`: it says nothing about the program.
    """
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "memfence.server.worker",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        limit=LONGEST_LINE, start_new_session=True,
    )  # fmt: skip
    try:
        async with asyncio.timeout(question.timeout_seconds + GRACE_SECONDS):
            return await _listen(child, question, progress)
    except TimeoutError:
        return {"limit": f"the time of {question.timeout_seconds:g} s was up"}
    except (OSError, ValueError):
        return {"limit": "the search broke down: it may have used all the memory it is allowed"}
    finally:
        _end(child)
        await asyncio.shield(child.wait())


async def _listen(
    child: asyncio.subprocess.Process, question: Question, progress: Callable[[Object], None] | None
) -> Object:
    assert child.stdin is not None and child.stdout is not None
    child.stdin.write(question.line())
    await child.stdin.drain()  # left open: its end would end the child
    while line := await child.stdout.readline():
        value = json.loads(line)
        if "answer" in value:
            found: Object = value["answer"]
            return found
        if progress is not None:
            progress(value["progress"])
    return {"limit": "the search broke down: it may have used all the memory it is allowed"}


def _end(child: asyncio.subprocess.Process) -> None:
    """End the child and what it started: they are a group of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
