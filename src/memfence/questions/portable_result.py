"""What a check under axiomatic models answers: one verdict for each model, and what it rests on."""

from __future__ import annotations

from typing import Literal

from memfence.axiomatic.execution import Execution, Place
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unrolling.refusal import Unfit
from memfence.models.cat.interpreter import Finding
from memfence.program.ir import Program, Property
from memfence.records import Record
from memfence.source import Span
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Stop
from memfence.tasks.result import CheckResult
from memfence.tasks.shown import Shown

Stronger = Literal["sc", "x86"]


class Forbidding(Record):
    """A stronger model under which the execution is impossible, and the axiom that says so, with events by number."""

    model: Stronger
    finding: Finding


class Counterexample(Record):
    """An execution that the model allows and that shows the violation.

    `violated`: the condition on final states; None where a check in the code fails. `race`: two events, by number, that
    race; then the execution shows undefined behaviour. `after_race`: two that race in an execution that shows something
    else: it comes of that. `forbidden_by`: stronger models that forbid it.
    """

    execution: Execution
    model: AxiomaticModel
    violated: Property | None
    race: tuple[int, int] | None
    forbidden_by: tuple[Forbidding, ...]
    after_race: tuple[int, int] | None = None

    @property
    def failed(self) -> Place | None:
        """The check that fails."""
        return self.execution.failed[0] if self.execution.failed else None


class Complete(Record):
    """Every execution was looked at: no loop goes round more often than it was unrolled."""


class Cut(Record):
    """Every execution in which no loop goes round more often than it was unrolled."""


class ByDependencies(Record):
    """Nothing is found where the dependencies of the text are kept; this, where a compiler removes them."""

    without: Counterexample


class OutOfReach(Record):
    """The program cannot be asked about so."""

    why: Unfit
    span: Span


class MayWait(Record):
    """Nothing fails, but a thread waits where it could have gone another way (`span`): for ever, or not?"""

    span: Span


class Stopped(Record):
    """A limit was hit before anything was known."""

    stop: Stop


class ByRuns(Record):
    """The model has states: what the search among them found."""

    result: CheckResult


ModelEvidence = Counterexample | Complete | Cut | ByDependencies | MayWait | OutOfReach | Stopped | ByRuns


class ModelAnswer(Record):
    """The verdict under the model called `name`; `unrolled`: how often loops were gone round; None: no bound at all.

    `variants`: those of the model that the verdict is about, where only some show it.
    """

    name: str
    verdict: Verdict
    evidence: ModelEvidence
    unrolled: int | None = None
    variants: tuple[str, ...] = ()


class PortableResult(Shown, Record, repr=False):
    """The answers for all models, in the order in which they were asked for.

    `properties`: what was asked besides assertions and errors; `not_asked`: what the program states besides.
    `states_nothing`: nothing could have failed but for run-time errors.
    """

    program: Program
    answers: tuple[ModelAnswer, ...]
    properties: tuple[Property, ...]
    not_asked: tuple[Property, ...]
    seconds: float
    states_nothing: bool = False

    @property
    def verdict(self) -> Verdict:
        """The verdict that counts for all models together: the worst."""
        order = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS_UP_TO, Verdict.HOLDS)
        found = {answer.verdict for answer in self.answers}
        return next(verdict for verdict in order if verdict in found)
