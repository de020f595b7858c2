"""What fence synthesis answers: the edits, why each is needed, what they cost, and the patched text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from memfence.execution.overtaking import Overtaken
from memfence.execution.trace import Trace
from memfence.frontends.registry import EditKind
from memfence.program.ir import FencePoint, Program
from memfence.source import Span
from memfence.synthesis.options import Minimise


class FixVerdict(Enum):
    """FIXED: proved to hold with the edits. ALREADY_HOLDS: none is needed. IMPOSSIBLE: no edit helps, with the run that
    shows why. UNKNOWN: a limit was hit first, or what was found could not be proved."""

    FIXED = "fixed"
    ALREADY_HOLDS = "already_holds"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class PlacedFence:
    """One edit of the text, at the `point` that the front end knows.

    `at`: the statement next to it, which it follows, or precedes if `is_before`. `location`: the control point it
    leads to. `processes`: the instances it changes. `run`: a run of the unpatched program that only this one of the
    chosen edits stops, and `overtaken` the store and the access that it keeps in order there, if that is what it does.
    """

    kind: EditKind
    point: FencePoint
    is_before: bool
    location: str
    processes: tuple[str, ...]
    cost: int
    level: int
    run: Trace | None = None
    overtaken: Overtaken | None = None

    @property
    def at(self) -> Span:
        return self.point.span

    @property
    def text(self) -> str:
        """The statement next to it, as it is written."""
        return " ".join(self.at.text.split("\n", 1)[0].split()) if self.is_before else self.point.after


@dataclass(frozen=True, slots=True)
class FenceSet:
    """A set of edits that is enough."""

    fences: tuple[PlacedFence, ...]

    @property
    def count(self) -> int:
        """Edits of the text."""
        return len(self.fences)

    @property
    def instances(self) -> int:
        """Fence instructions over all processes."""
        return sum(len(fence.processes) for fence in self.fences)

    @property
    def cost(self) -> int:
        return sum(fence.cost for fence in self.fences)


@dataclass(frozen=True, slots=True)
class FixStats:
    """What it took: `clauses` learnt, `checks` made, states visited by all of them."""

    sites: int
    clauses: int
    checks: int
    states: int
    seconds: float
    peak_mb: float


@dataclass(frozen=True, slots=True)
class FixResult:
    """The answer of `memfence fix`.

    `chosen`: the edits (for UNKNOWN: the best candidate, if any). `is_minimum`: nothing with less `minimise` is
    enough. `sets`: every minimal set, if asked for, `are_all` unless the list was cut short. `in_one_step`: with
    `--via tso`, the minimum for PSO without the detour where its cost differs. `patched`, `diff`: the text with the
    edits. `trace`: for IMPOSSIBLE, a run that no edit stops. `scope` says what the verdict covers.
    """

    program: Program
    model: str
    criterion: str
    property: str
    verdict: FixVerdict
    minimise: Minimise
    chosen: FenceSet
    is_minimum: bool
    scope: str
    stats: FixStats
    sets: tuple[FenceSet, ...] | None = None
    are_all: bool = False
    in_one_step: FenceSet | None = None
    patched: str | None = None
    diff: str = ""
    trace: Trace | None = None
    limit: str | None = None
    advice: str | None = None
