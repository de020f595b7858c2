"""What an engine, or a strategy of several, answers to a task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from enum import StrEnum

from memfence.execution.trace import Trace
from memfence.records import Record
from memfence.tasks.evidence import Bound, Counterexample, CounterexampleRun, Evidence, Lasso, Limit, Outside
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle


class Verdict(StrEnum):
    """HOLDS: proved, the search was complete. HOLDS_UP_TO: nothing found within a named bound. VIOLATED: with a run
    that replayed. UNKNOWN: a limit was hit first."""

    HOLDS = "holds"
    HOLDS_UP_TO = "holds_up_to"
    VIOLATED = "violated"
    UNKNOWN = "unknown"

    @property
    def is_conclusive(self) -> bool:
        return self in (Verdict.HOLDS, Verdict.VIOLATED)


class FinalState(Record):
    """Values seen in final states, how many final states had them, and a run to one of these."""

    values: tuple[int, ...]
    count: int
    run: Callable[[], Trace] = field(compare=False)


class Tried(Record):
    """One engine that was asked on the way to an answer."""

    engine: str
    verdict: Verdict
    evidence: Evidence
    cost: Cost


class Answer(Record):
    """The verdict, why, and what it cost. `counts` are numbers that only some engines have.

    `tried`: the engines that were asked, in order; none where an engine answers for itself. `visited`: of a proof, the
    states that it rests on, in the engine's own form, where whoever writes it down can use them. `taken`: transitions,
    by process and number, that some run takes; of a complete search all of them. None where the engine does not count.
    """

    verdict: Verdict
    evidence: Evidence
    engine: str
    cost: Cost
    counts: tuple[tuple[str, int], ...] = ()
    final_states: tuple[FinalState, ...] = ()
    tried: tuple[Tried, ...] = ()
    visited: object = field(default=None, compare=False)
    taken: frozenset[tuple[int, int]] | None = field(default=None, compare=False)

    @property
    def is_conclusive(self) -> bool:
        return self.verdict.is_conclusive

    @property
    def stop(self) -> Stop:
        """The limit that ended the search; NOTHING_LEFT where none did."""
        return self.evidence.stop if isinstance(self.evidence, Limit) else Stop.NOTHING_LEFT

    @property
    def is_interrupted(self) -> bool:
        return self.stop is Stop.CANCELLED

    @property
    def trace(self) -> Trace | None:
        return self.evidence.trace if isinstance(self.evidence, CounterexampleRun | Lasso) else None

    @property
    def counterexample(self) -> Counterexample | None:
        """The execution that shows a violation."""
        return self.evidence if isinstance(self.evidence, Counterexample) else None

    @property
    def bound(self) -> int | None:
        """The bound that the verdict is subject to."""
        return self.evidence.model.bound if isinstance(self.evidence, Bound) else None

    def costing(self, cost: Cost) -> Answer:
        return replace(self, cost=cost)


def outside(engine: str, obstacle: Obstacle) -> Answer:
    """No answer, and no limit that would change this."""
    return Answer(Verdict.UNKNOWN, Outside(engine, obstacle), engine, Cost())
