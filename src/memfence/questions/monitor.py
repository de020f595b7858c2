"""Store-buffer safety of one recorded SC execution (Sober, Fig. 2): could it have gone another way on real hardware?"""

from __future__ import annotations

import sys
from io import BufferedReader, FileIO
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.monitor import BorderlineEvent, Monitored, monitor_stream
from memfence.records import Record
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.shown import Shown

STDIN = "-"


class MonitorResult(Shown, Record, repr=False):
    """HOLDS: no load of this execution could have seen a stale value; other executions of the program may differ.

    VIOLATED: the program is not store-buffer safe, because of `monitored.event`.
    """

    path: str
    verdict: Verdict
    monitored: Monitored

    @property
    def event(self) -> BorderlineEvent | None:
        return self.monitored.event


def monitor(path: str | Path) -> MonitorResult:
    """Monitor the trace in a file (`-`: standard input). InputError if it cannot be read or is not a trace."""
    name = str(path)
    if name == STDIN:
        monitored = monitor_stream("<stdin>", BufferedReader(FileIO(sys.stdin.fileno(), closefd=False)))
    else:
        try:
            with Path(path).open("rb") as stream:
                monitored = monitor_stream(name, stream)
        except OSError as error:
            at = Label(SourceText(name, "").span(0, 0))
            message = f"cannot read `{name}`: {error.strerror or error}"
            raise InputError([Diagnostic(Code.UNREADABLE, message, at)]) from None
    return MonitorResult(name, Verdict.HOLDS if monitored.event is None else Verdict.VIOLATED, monitored)
