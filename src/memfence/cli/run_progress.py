"""One line on stderr that says how an exploration is getting on; only where stderr is a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.cli.progress import Line

if TYPE_CHECKING:
    from memfence.binary.records import RunProgress


class RunProgressLine(Line):
    """Call it with what the process reports."""

    def __call__(self, progress: RunProgress) -> None:
        rate = progress.executions / progress.seconds if progress.seconds > 0 else 0.0
        text = f"{progress.executions:,} executions, {rate:,.0f}/s, depth {progress.depth:,}, {progress.seconds:.0f} s"
        self.say(text)
