"""The open texts of an editor: what was found about each, and the searches that run for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from memfence.records import Record
from memfence.server.child import Question, ask
from memfence.tasks.usage import WrongUsage
from memfence.verbs.models import models_in

Object = dict[str, Any]
Verb = Literal["diagnose", "check", "fix", "why", "values"]


class Settings(Record):
    """What the editor's user chose, with the names of the command line."""

    model: str = "tso"
    criterion: str | None = None
    timeout_seconds: float = 20.0
    memory_megabytes: int = 1_000

    @staticmethod
    def of(given: Any) -> Settings:
        """From what the editor sent; what makes no sense is left at its default."""
        given = given if isinstance(given, dict) else {}
        model, criterion = given.get("model"), given.get("criterion")
        seconds, megabytes = given.get("timeoutSeconds"), given.get("memoryMegabytes")
        return Settings(
            model if _is_model(model) else USUAL.model,
            criterion if isinstance(criterion, str) else None,
            float(seconds) if isinstance(seconds, int | float) and 0 < seconds < 1e6 else USUAL.timeout_seconds,
            int(megabytes) if isinstance(megabytes, int) and megabytes > 0 else USUAL.memory_megabytes,
        )


USUAL = Settings()


def _is_model(given: Any) -> bool:
    """Whether this is the name of a model, of a cat file, or several with commas."""
    try:
        return isinstance(given, str) and bool(models_in(given))
    except WrongUsage:
        return False


@dataclass
class Document:
    """A text with its version, the answers that fit this very text, and the searches under way."""

    path: str
    text: str
    found: dict[str, Object] = field(default_factory=dict)
    running: dict[str, asyncio.Task[Object]] = field(default_factory=dict)

    def change(self, text: str) -> None:
        """Another text: nothing that was found is about it, and nobody waits for the searches."""
        if text != self.text:
            self.text = text
            self.found.clear()
            self.cancel()

    def cancel(self) -> int:
        """End every search; returns how many there were."""
        tasks = [task for task in self.running.values() if not task.done()]
        for task in tasks:
            task.cancel()
        self.running.clear()
        return len(tasks)


class Documents:
    """Everything that is open, by its address. At most `most_children` searches run at a time; others wait."""

    def __init__(self, most_children: int = 2) -> None:
        self.settings = Settings()
        self.open: dict[str, Document] = {}
        self._places = asyncio.Semaphore(most_children)

    async def answer(
        self, address: str, verb: Verb, progress: Callable[[Object], None] | None = None, **more: Any
    ) -> Object:
        """What is known, or else what a search finds. CancelledError where the text changes meanwhile."""
        document = self.open[address]
        name = f"{verb} {sorted(more.items())}" if more else verb
        if name in document.found:
            return document.found[name]
        task = document.running.get(name)
        if task is None or task.done():
            task = asyncio.ensure_future(self._ask(document, verb, progress, more))
            document.running[name] = task
        found = await task
        if document.running.get(name) is task:
            del document.running[name]
            document.found[name] = found
        return found

    async def _ask(
        self, document: Document, verb: Verb, progress: Callable[[Object], None] | None, more: Object
    ) -> Object:
        settings = self.settings
        options: Object = dict(more)
        if verb != "diagnose":
            options["model"] = settings.model
        if verb in ("check", "fix") and settings.criterion is not None:
            options["criterion"] = settings.criterion
        text = document.text
        async with self._places:
            return await ask(
                Question(verb, document.path, text, options, settings.timeout_seconds, settings.memory_megabytes),
                progress,
            )

    def close(self, address: str) -> None:
        """The text is no longer open."""
        document = self.open.pop(address, None)
        if document is not None:
            document.cancel()

    def cancel_all(self) -> int:
        """End every search of every text."""
        return sum(document.cancel() for document in self.open.values())
