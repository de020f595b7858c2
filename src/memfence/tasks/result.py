"""What a check answers to users: the verdict, the evidence behind it, what it cost and what was asked."""

from __future__ import annotations

from memfence.execution.trace import Trace
from memfence.models.spec import ModelName
from memfence.program.ir import Program, Property
from memfence.records import Record
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import ByDependencies, Complete, Counterexample, Cut, Evidence, Lasso, Limit, MayWait
from memfence.tasks.limits import Cost, Limits, peak_megabytes
from memfence.tasks.plain_race import PlainRaces
from memfence.tasks.shown import Shown
from memfence.tasks.vacuity import VacuityWarning


class Stats(Record):
    """What the search cost; `extra` are counts that only some engines have."""

    states: int
    transitions: int
    seconds: float
    peak_mb: float
    extra: tuple[tuple[str, int], ...] = ()


def stats_of(cost: Cost, counts: tuple[tuple[str, int], ...] = ()) -> Stats:
    extra = (("depth", cost.depth), ("state_bits", cost.state_bits), *counts)
    return Stats(cost.states, cost.transitions, cost.seconds, peak_megabytes(), extra)


class CheckResult(Shown, Record, repr=False):
    """The answer to one question about one program. `report.words.sentences` puts what the verdict covers into words.

    `properties`: what was asked, for safety; of temporal properties the one that decided. `final_states` pairs the
    observed values with how often they were met. `vacuity`: why a HOLDS may say less than it seems to. `races`: for C,
    the plain accesses that race; None: not asked. `asked_model`: another name of the model, if that was asked: "x86".
    """

    program: Program
    model: ModelName
    criterion: Criterion
    properties: tuple[Property, ...]
    answer: Answer
    limits: Limits
    stats: Stats
    final_states: tuple[tuple[tuple[int, ...], int], ...] | None = None
    vacuity: tuple[VacuityWarning, ...] = ()
    races: PlainRaces | None = None
    asked_model: str = ""

    @property
    def verdict(self) -> Verdict:
        """The engines' verdict; about a program that was cut off at bounds, a proof holds up to these."""
        found = self.answer.verdict
        return Verdict.HOLDS_UP_TO if found is Verdict.HOLDS and self.program.is_cut_off else found

    @property
    def evidence(self) -> Evidence:
        return self.answer.evidence

    @property
    def engine(self) -> str:
        return self.answer.engine

    @property
    def trace(self) -> Trace | None:
        """For a violation, the run that shows it."""
        return self.answer.trace

    @property
    def bound(self) -> int | None:
        """The buffer bound that the verdict is subject to."""
        return self.answer.bound

    @property
    def loop_start(self) -> int | None:
        """The trace is a lasso, whose steps from there on (counted from 0) repeat for ever."""
        return self.evidence.loop_start if isinstance(self.evidence, Lasso) else None


class ModelAnswer(Record):
    """The answer about `program` under the model called `name`. `check`: the whole result where runs were searched."""

    program: Program
    name: str
    answer: Answer
    check: CheckResult | None = None

    @property
    def verdict(self) -> Verdict:
        return self.answer.verdict if self.check is None else self.check.verdict

    @property
    def evidence(self) -> Evidence:
        return self.answer.evidence

    @property
    def shown(self) -> Counterexample | None:
        """The execution that it shows, be it of a program without dependencies."""
        evidence = self.evidence
        return evidence.without if isinstance(evidence, ByDependencies) else self.answer.counterexample

    @property
    def unrolled(self) -> int | None:
        """How often loops were gone round; None: no bound at all."""
        match self.shown or self.evidence:
            case Counterexample() | Complete() | Cut() | MayWait() | Limit() as found:
                return found.unrolled
        return None

    @property
    def variants(self) -> tuple[str, ...]:
        """Those of the model that the verdict is about, where only some show it."""
        return self.shown.variants if self.shown is not None else ()


class ModelsResult(Shown, Record, repr=False):
    """The answers for several models, in the order in which they were asked for.

    `properties`: what was asked besides assertions and errors; `not_asked`: what the program states besides.
    `criterion`: safety, or robustness. `states_nothing`: nothing could have failed but for run-time errors.
    """

    program: Program
    answers: tuple[ModelAnswer, ...]
    properties: tuple[Property, ...]
    not_asked: tuple[Property, ...]
    seconds: float
    states_nothing: bool = False
    criterion: Criterion = Criterion.SAFETY

    @property
    def verdict(self) -> Verdict:
        """The verdict that counts for all models together: the worst."""
        order = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS_UP_TO, Verdict.HOLDS)
        found = {answer.verdict for answer in self.answers}
        return next(verdict for verdict in order if verdict in found)
