"""One visitor of the page: the program, what is asked about it, and the search that runs for it."""

from __future__ import annotations

import asyncio
import base64
import binascii
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.report.describe.check_data import error_object
from memfence.server.child import Conversation, Question, ask
from memfence.server.ui.folder import LARGEST_CHARACTERS, Folder
from memfence.source import SourceText

Object = dict[str, Any]
LONGEST_SECONDS = 600.0
MOST_MEGABYTES = 2_000
MOST_SEARCHES = 4
"""So many searches of all visitors run at a time; others wait for their turn."""


class Hall:
    """What all visitors share: the folder, and the places for searches."""

    def __init__(self, folder: Folder, most_searches: int = MOST_SEARCHES) -> None:
        self.folder = folder
        self.places = asyncio.Semaphore(most_searches)


@dataclass
class Board:
    """The program and the options of one visitor. A new question replaces the one that runs."""

    hall: Hall
    name: str = "program.pml"
    text: str = ""
    model: str = "tso"
    criterion: str = ""
    forbid: str = ""
    seconds: float = 30.0
    choices: list[int] = field(default_factory=list)
    every_step: bool = False
    folder: Folder | None = None
    _search: asyncio.Task[Object] | None = None
    _talk: Conversation = field(default_factory=Conversation)
    _reading: Conversation = field(default_factory=Conversation)

    async def ask(self, verb: str, progress: Callable[[Object], None] | None = None) -> Object | None:
        """The answer; None where the visitor cancelled it, asked something else or left."""
        self.cancel()
        task = asyncio.ensure_future(self._ask(verb, progress))
        self._search = task
        try:
            return await task
        except asyncio.CancelledError:
            return None
        finally:
            if self._search is task:
                self._search = None

    async def _ask(self, verb: str, progress: Callable[[Object], None] | None) -> Object:
        refused = self._refusal()
        if refused is not None:
            return refused
        options: Object = {}
        if verb != "compare":
            options["model"] = self.model
        if verb in ("check", "fix"):
            options |= {"criterion": self.criterion or None, "forbid": [self.forbid] if self.forbid.strip() else None}
        async with self.hall.places:
            return await ask(self._question(verb, options), progress)

    @property
    def place(self) -> Folder:
        """The folder that the program stands in: that of the page, or that of the examples."""
        return self.folder or self.hall.folder

    def _question(self, verb: str, options: Object) -> Question:
        self.place.path(self.name)
        seconds = min(max(1.0, float(self.seconds or 1)), LONGEST_SECONDS)
        folder = str(self.place.root)
        return Question(verb, self.name, self.text, options, seconds, MOST_MEGABYTES, folder, is_confined=True)

    def _refusal(self) -> Object | None:
        if len(self.text) <= LARGEST_CHARACTERS:
            return None
        at = Label(SourceText(self.name, self.text).span(0, 1))
        message = f"the program is longer than {LARGEST_CHARACTERS:,} characters"
        return error_object(InputError([Diagnostic(Code.TOO_LARGE, message, at)]))

    @property
    def is_searching(self) -> bool:
        return self._search is not None

    def cancel(self) -> None:
        """End the search, if one runs."""
        if self._search is not None:
            self._search.cancel()
            self._search = None

    async def read(self) -> Object:
        """The mistakes of the text, without disturbing a search."""
        return self._refusal() or await self._reading.ask(self._question("diagnose", {}))

    async def walk(self, choices: list[int]) -> Object:
        """The simulation after these choices; they are kept where they are possible."""
        refused = self._refusal()
        if refused is not None:
            return refused
        options = {"model": self.model, "choices": choices, "every_step": self.every_step}
        found = await self._talk.ask(self._question("walk", options))
        if "choices" in found:
            self.choices = list(choices)
        return found

    def open(self, name: str, text: str) -> None:
        """Another program; a search about the one before ends."""
        self.cancel()
        self.name, self.text = name, text

    async def leave(self) -> None:
        """The visitor is gone: nothing that was started for it goes on."""
        self.cancel()
        await self._talk.end()
        await self._reading.end()


def packed(name: str, text: str) -> str:
    """The program as a part of an address."""
    return base64.urlsafe_b64encode(zlib.compress(f"{name}\n{text}".encode(), 9)).decode().rstrip("=")


def unpacked(part: str) -> tuple[str, str] | None:
    """The name and the text in a part of an address; None where there is none. Never longer than a program may be."""
    try:
        content = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
        text = zlib.decompressobj().decompress(content, 4 * LARGEST_CHARACTERS).decode()
    except (binascii.Error, zlib.error, UnicodeDecodeError, ValueError):
        return None
    name, line_end, rest = text.partition("\n")
    parts = name.split("/")
    is_name = "\\" not in name and "\0" not in name and not any(one in ("", ".", "..") for one in parts)
    return (name, rest) if line_end and is_name and len(rest) <= LARGEST_CHARACTERS else None
