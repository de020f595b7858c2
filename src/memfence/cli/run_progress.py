"""One line on stderr that says how an exploration is getting on; only where stderr is a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.cli.progress import CLEAR, ProgressLine

if TYPE_CHECKING:
    from memfence.binary.records import RunProgress


class RunProgressLine:
    """Call it with what the process reports; `close` wipes the line."""

    def __init__(self, *, quiet: bool) -> None:
        self._line = ProgressLine(quiet=quiet)

    @property
    def active(self) -> bool:
        return self._line.active

    def __call__(self, progress: RunProgress) -> None:
        rate = progress.executions / progress.seconds if progress.seconds > 0 else 0.0
        text = f"{progress.executions:,} executions, {rate:,.0f}/s, depth {progress.depth:,}, {progress.seconds:.0f} s"
        self._line.stream.write(f"{CLEAR}{text}")
        self._line.stream.flush()
        self._line.shown = True

    def close(self) -> None:
        self._line.close()
