"""One line on stderr that says how the search is getting on; only where stderr is a terminal."""

from __future__ import annotations

import sys
import threading
from typing import Self, TextIO

from memfence.deadline import Deadline

CLEAR = "\r\x1b[K"
SILENT_SECONDS = 1.0
"""Where nothing has been said for so long, the line says what is being done, and for how long."""
READING = "reading"


class Line:
    """A line that is written over again and again, and wiped at the end. Silent if the stream is not a terminal.

    From `begin` on it speaks by itself where the search says nothing: while a text is read, or executions are solved.
    """

    open: Line | None = None
    """The one that may be on the terminal now."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self.stream = stream or sys.stderr
        self.active = self.stream.isatty() and not quiet
        self.shown = False
        self._phase, self._since = READING, Deadline()
        self._said = self._since
        self._closed = threading.Event()
        self._writing = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self) -> None:
        """Reading begins; from now on somebody who waits sees what for."""
        self._since = self._said = Deadline()
        Line.open = self
        threading.Thread(target=self._speak, daemon=True).start()

    def say(self, text: str) -> None:
        """Show this text in place of the last one."""
        if not self.active:
            return
        with self._writing:
            self._write(text)

    def close(self) -> None:
        """Leave the line empty for whatever is printed next."""
        with self._writing:
            self._closed.set()
            if Line.open is self:
                Line.open = None
            if self.shown:
                self.stream.write(CLEAR)
                self.stream.flush()
                self.shown = False

    def _write(self, text: str) -> None:
        self.stream.write(f"{CLEAR}{text}")
        self.stream.flush()
        self.shown, self._said = True, Deadline()

    def _speak(self) -> None:
        while not self._closed.wait(SILENT_SECONDS / 4):
            with self._writing:
                if self._said.elapsed >= SILENT_SECONDS and not self._closed.is_set():
                    self._write(f"{self._phase}, {self._since.elapsed:.0f} s")


class ProgressLine(Line):
    """Call it with what the search knows now."""

    _engine = ""

    def searching(self, engine: str) -> None:
        """From now on this engine searches."""
        self._engine = f"{engine}: "
        self._phase, self._since = engine, Deadline()

    def __call__(self, states: int, transitions: int, queue: int, seconds: float, megabytes: float) -> None:
        rate = states / seconds if seconds > 0 else 0.0
        text = f"{self._engine}{states:,} states, {rate:,.0f}/s, queue {queue:,}, {megabytes:,.0f} MB, {seconds:.0f} s"
        self.say(text)


def close_progress() -> None:
    """Wipe the line that is on the terminal, if there is one: something is about to be printed."""
    if Line.open is not None:
        Line.open.close()
