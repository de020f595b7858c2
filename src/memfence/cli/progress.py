"""One line on stderr that says how the search is getting on; only where stderr is a terminal."""

from __future__ import annotations

import sys
from typing import TextIO

CLEAR = "\r\x1b[K"


class ProgressLine:
    """Call it with what the search knows now; `close` wipes the line. Silent if the stream is not a terminal."""

    def __init__(self, stream: TextIO | None = None, *, quiet: bool = False) -> None:
        self.stream = stream or sys.stderr
        self.active = self.stream.isatty() and not quiet
        self.shown = False
        self.engine = ""

    def searching(self, engine: str) -> None:
        """From now on this engine searches."""
        self.engine = f"{engine}: "

    def __call__(self, states: int, transitions: int, queue: int, seconds: float, megabytes: float) -> None:
        if not self.active:
            return
        rate = states / seconds if seconds > 0 else 0.0
        text = f"{self.engine}{states:,} states, {rate:,.0f}/s, queue {queue:,}, {megabytes:,.0f} MB, {seconds:.0f} s"
        self.stream.write(f"{CLEAR}{text}")
        self.stream.flush()
        self.shown = True

    def close(self) -> None:
        """Leave the line empty for whatever is printed next."""
        if self.shown:
            self.stream.write(CLEAR)
            self.stream.flush()
            self.shown = False
