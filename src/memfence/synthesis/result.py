"""What fence synthesis answers: the edits, why each is needed, what they cost, and the patched text."""

from __future__ import annotations

from enum import StrEnum

from memfence.execution.overtaking import Overtaken
from memfence.execution.trace import Trace
from memfence.frontends.frontend import EditKind, EditStyle
from memfence.models.spec import ModelName
from memfence.program.ir import FencePoint, Program
from memfence.records import Record
from memfence.source import Span
from memfence.synthesis.clauses import Clause
from memfence.synthesis.evidence import FixEvidence
from memfence.synthesis.options import Minimise
from memfence.synthesis.patch import PatchedFile
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.plain_race import PlainRaces
from memfence.tasks.result import CheckResult
from memfence.tasks.shown import Shown


class FixVerdict(StrEnum):
    """FIXED: proved to hold with the edits. ALREADY_HOLDS: none is needed. IMPOSSIBLE: no edit helps, with the run that
    shows why. UNKNOWN: a limit was hit first, or what was found could not be proved."""

    FIXED = "fixed"
    ALREADY_HOLDS = "already_holds"
    IMPOSSIBLE = "impossible"
    UNKNOWN = "unknown"


class PlacedFence(Record):
    """One edit of the text, at the `point` that the front end knows.

    `at`: the statement next to it, which it follows, or precedes if `is_before`. `location`: the control point it
    leads to. `processes`: the instances it changes. `run`: a run of the unpatched program that only this one of the
    chosen edits stops, and `overtaken` the store and the access that it keeps in order there, if that is what it does.
    `style`: how it is written; as a `store`, it is the statement itself that changes.
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
    style: EditStyle = "fence"

    @property
    def at(self) -> Span:
        return self.point.span

    @property
    def text(self) -> str:
        """The statement next to it, as it is written."""
        return " ".join(self.at.text.split("\n", 1)[0].split()) if self.is_before else self.point.after


class FenceSet(Record):
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


class LowerBound(Record):
    """Why nothing with less `minimise` is enough: every edit there is, and clauses that each want one of them."""

    edits: tuple[FenceEdit, ...]
    chosen: tuple[int, ...]
    clauses: tuple[Clause, ...]


class FixStats(Record):
    """What it took: `clauses` learnt, `checks` made, states visited by all of them."""

    sites: int
    clauses: int
    checks: int
    states: int
    seconds: float
    peak_mb: float


class Fix(Shown, Record, kw_only=True, repr=False):
    """What every answer of `memfence fix` has.

    `checked`: the check that says which property was asked about, where it was not the criterion alone. `is_minimum`:
    nothing with less `minimise` is enough. `stop`: the limit that was hit, where there is no answer because of it.
    `races`: for C, the plain accesses that race. `asked_model`: another name of the model, if that was asked: "x86".
    """

    program: Program
    model: ModelName
    criterion: Criterion
    verdict: FixVerdict
    evidence: FixEvidence
    minimise: Minimise
    is_minimum: bool
    limits: Limits
    stats: FixStats
    stop: Stop = Stop.NOTHING_LEFT
    checked: CheckResult | None = None
    races: PlainRaces | None = None
    asked_model: str = ""

    @property
    def is_bounded(self) -> bool:
        """Whether the answer is about runs within bounds of the program only, as far as is known."""
        return self.program.is_cut_off and (self.checked is None or self.checked.verdict is not Verdict.HOLDS)


class FixResult(Fix, kw_only=True, repr=False):
    """The answer for fences.

    `chosen`: the edits (for UNKNOWN: the best candidate, if any). `sets`: every minimal set, if asked for, `are_all`
    unless the list was cut short. `in_one_step`: with `--via tso`, the minimum for PSO without the detour where its
    cost differs. `files`: those that the edits change; `patched`: the text of the program's first file with the edits;
    `diff`: for all of them. `trace`: for IMPOSSIBLE, a run that no edit stops. `bound`: for a minimum, why it is one.
    """

    chosen: FenceSet
    sets: tuple[FenceSet, ...] | None = None
    are_all: bool = False
    in_one_step: FenceSet | None = None
    files: tuple[PatchedFile, ...] = ()
    patched: str | None = None
    diff: str = ""
    trace: Trace | None = None
    bound: LowerBound | None = None
