"""The asking side: start a child for a question, wait with a limit, end it when nobody wants the answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import field
from typing import Any

from memfence.records import Record

Object = dict[str, Any]
GRACE_SECONDS = 10.0
"""A search ends by itself when its time is up; one that does not is ended so much later."""
LONGEST_LINE = 64_000_000
BROKE_DOWN = "the search broke down: it may have used all the memory it is allowed"


class Question(Record):
    """What a child is asked, and how much it may use. `folder`: where the child works, and `path` makes sense.

    `is_confined`: whatever the text says, the child reads no files but those of the folder.
    """

    verb: str
    path: str
    text: str
    options: Object = field(default_factory=dict)
    timeout_seconds: float = 30.0
    memory_megabytes: int = 1_000
    folder: str | None = None
    is_confined: bool = False

    def line(self) -> bytes:
        """The request as the worker reads it."""
        timed: Object = {"timeout_seconds": self.timeout_seconds}
        if self.verb in ("check", "fix", "why", "compare", "tell"):
            timed["memory_megabytes"] = self.memory_megabytes
        request = {
            "verb": self.verb,
            "path": self.path,
            "text": self.text,
            "options": {**self.options, **timed},
            "timeout_seconds": self.timeout_seconds,
            "memory_megabytes": self.memory_megabytes,
            "is_confined": self.is_confined,
        }
        return json.dumps(request).encode() + b"\n"


async def ask(question: Question, progress: Callable[[Object], None] | None = None) -> Object:
    """The answer of a child process of its own. Cancelling the call ends the child; so does a time that is long over.

    A child that breaks down gives `{"limit": ...}`: it says nothing about the program.
    """
    conversation = Conversation()
    try:
        return await conversation.ask(question, progress)
    finally:
        await conversation.end()


class Conversation:
    """A child that answers one question after the other, such as the steps of a simulation."""

    def __init__(self) -> None:
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def ask(self, question: Question, progress: Callable[[Object], None] | None = None) -> Object:
        """The answer. A child that broke down, or was interrupted, is replaced by another at the next question."""
        async with self._turn:
            is_answered = False
            try:
                async with asyncio.timeout(question.timeout_seconds + GRACE_SECONDS):
                    if self._child is None:
                        self._child = await _start(question.folder)
                    found = await _listen(self._child, question, progress)
                is_answered = "limit" not in found
                return found
            except TimeoutError:
                return {"limit": f"the time of {question.timeout_seconds:g} s was up"}
            except (OSError, ValueError):
                return {"limit": BROKE_DOWN}
            finally:
                if not is_answered:
                    await self.end()

    async def end(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is not None:
            _end(child)
            await asyncio.shield(child.wait())


async def _start(folder: str | None) -> asyncio.subprocess.Process:
    """`-P`: modules that lie about in the folder are none of ours."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "memfence.server.worker",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        limit=LONGEST_LINE, start_new_session=True, cwd=folder,
    )  # fmt: skip


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
    return {"limit": BROKE_DOWN}


def _end(child: asyncio.subprocess.Process) -> None:
    """End the child and what it started: they are a group of their own."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()
