"""What a check answers: a verdict, what it covers, how it was found and, for a violation, a run that was replayed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from memfence.execution.trace import Trace
from memfence.program.ir import Program
from memfence.tasks.limits import Limits, Stop

INTERRUPTED = Limits().describe(Stop.CANCELLED)


class Verdict(Enum):
    """HOLDS: proved, the search was complete. HOLDS_UP_TO: nothing found within a named bound. VIOLATED: with a run
    that replayed. UNKNOWN: a limit was hit first."""

    HOLDS = "holds"
    HOLDS_UP_TO = "holds_up_to"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Stats:
    """What the search cost; `extra` are counts that only some engines have."""

    states: int
    transitions: int
    seconds: float
    peak_mb: float
    extra: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The answer to one question about one program.

    `scope` says what the verdict covers, `bound` is the buffer bound if there was one, `limit` what was hit
    ("timeout 2 s"), `advice` what to try then. `final_states` pairs the observed values with how often they were met.
    `loop_start`: the trace is a lasso, whose steps from there on (counted from 0) repeat for ever.
    """

    program: Program
    model: str
    criterion: str
    verdict: Verdict
    property: str
    engine: str
    scope: str
    bound: int | None
    trace: Trace | None
    stats: Stats
    limit: str | None = None
    advice: str | None = None
    details: tuple[str, ...] = ()
    final_states: tuple[tuple[tuple[int, ...], int], ...] | None = None
    loop_start: int | None = None


def go_on_unless_interrupted(limit: str | None) -> None:
    """Between the questions of a list: Ctrl-C ends a search with a result, but is meant for the rest of them, too."""
    if limit == INTERRUPTED:
        raise KeyboardInterrupt
