"""`memfence.monitor`: one recorded execution, checked for store-buffer safety."""

from __future__ import annotations

from pathlib import Path

from memfence.questions.monitor import MonitorResult
from memfence.questions.monitor import monitor as ask


def monitor(trace: str | Path) -> MonitorResult:
    """Could the recorded SC execution in the file `trace` (`-`: standard input) have gone another way on hardware with
    store buffers? InputError if it cannot be read or is not a trace."""
    return ask(trace)
