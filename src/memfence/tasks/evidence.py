"""Why an answer is what it is: data that a report turns into words, and a checker into a check.

VIOLATED comes with a `CounterexampleRun`, a `Lasso` or a `Counterexample`, HOLDS with one of the proofs, HOLDS_UP_TO
with a `Bound`, `DelayBound`, `FewThreads` or `Cut`, UNKNOWN with a `Limit` or with what lies `Outside` the engine.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from memfence.execution.trace import Trace
from memfence.models.fairness import Fairness
from memfence.models.spec import ModelSpec
from memfence.records import Record
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Stop
from memfence.tasks.obstacle import Obstacle

if TYPE_CHECKING:
    from memfence.axiomatic.execution import Execution, Place
    from memfence.axiomatic.model import AxiomaticModel
    from memfence.axiomatic.unrolling.refusal import Unfit
    from memfence.models.cat.interpreter import Finding as CatFinding
    from memfence.program.ir import Property
    from memfence.source import Span

# What a run shows


class BadState(Record):
    """The last state is one that the goal calls bad."""


class BadFinalState(Record):
    """The last state is a final one that refutes what was said about final states."""


class StepFails(Record):
    """The last step fails: an assertion, or a run-time error."""


class Deadlocked(Record):
    """No step is possible in the last state, and not every process has ended."""


class Overtakes(Record):
    """`attacker` delays its store to `delayed`; its access of `variable`, maybe in the same step, comes first."""

    attacker: int
    delayed: int
    variable: int
    is_store: bool
    is_one_step: bool


class Races(Record):
    """Two processes are about to access `variable`; `unfenced` is the store that makes the race triangular."""

    process: int
    other: int
    variable: int
    unfenced: int | None


class NonScState(Record):
    """SC does not reach the last state, or does not fail like this."""


class NoScRun(Record):
    """No SC run has the same program order, and what else the criterion compares."""


Finding = BadState | BadFinalState | StepFails | Deadlocked | Overtakes | Races | NonScState | NoScRun


class Route(Enum):
    """How a run was found; only a DIRECT search gives shortest ones for sure."""

    DIRECT = auto()
    TWO_PROCESSES = auto()
    TSO_UNDERAPPROXIMATION = auto()
    """Under PSO, by a search of TSO."""
    UNBOUNDED = auto()
    BACKWARD = auto()
    BACKWARD_ONLY = auto()
    """By the backward search, and no shorter one was found within its budget."""
    UNDER_SC = auto()
    DELAY_BOUNDED = auto()
    FROM_EXECUTION = auto()


class CounterexampleRun(Record):
    """A run, replayed by the reference model, that shows `finding`. `is_shortest`: proved, no other is shorter.

    `fails_under_sc`: some run of SC shows a finding of this kind, too, so that no fence can help. `threads`: how many
    instances of which templates it has, where there could be any number.
    """

    trace: Trace
    finding: Finding
    route: Route = Route.DIRECT
    is_shortest: bool = False
    fails_under_sc: bool = False
    threads: tuple[tuple[str, int], ...] = ()


class Lasso(Record):
    """An infinite run: `trace` up to step `loop_start`, then the rest of it for ever.

    Where `loop_start` is the number of steps, nothing happens any more. Registers whose value makes no difference may
    differ after the first round; from then on nothing does.
    """

    trace: Trace
    loop_start: int


class Forbidding(Record):
    """A stronger model under which an execution is impossible, and the axiom that says so, with events by number."""

    model: str
    finding: CatFinding


class Counterexample(Record):
    """An execution that the model allows and that shows the violation, with loops `unrolled` so often.

    `violated`: the condition on final states; None where a check in the code fails. `race`: two events, by number, that
    race; then the execution shows undefined behaviour. `after_race`: two that race in an execution that shows something
    else: it comes of that. `forbidden_by`: stronger models that forbid it. `variants`: the readings of C's orders that
    show the like, where not all do. `beyond_sc`: nothing fails, but SC does not allow the execution, and of two events
    by number the first one comes too early.
    """

    execution: Execution
    model: AxiomaticModel
    violated: Property | None
    race: tuple[int, int] | None
    forbidden_by: tuple[Forbidding, ...]
    after_race: tuple[int, int] | None = None
    unrolled: int = 1
    variants: tuple[str, ...] = ()
    beyond_sc: tuple[int, int] | None = None

    @property
    def failed(self) -> Place | None:
        """The check that fails."""
        return self.execution.failed[0] if self.execution.failed else None


# Proofs


class Exhausted(Record):
    """Every state of the model was visited; `pending`: no buffer ever held more, so that no bound was met.

    `fair`: the answer is about infinite runs, and only those in which processes are so fair.
    """

    model: ModelSpec
    pending: int | None = None
    fair: Fairness | None = None


class Closure(Enum):
    """What was closed under the steps of the program until nothing was added."""

    AUTOMATA = auto()
    """Forwards, sets of buffer contents as automata (Linden and Wolper)."""
    DUAL = auto()
    """Backwards, minimal constraints of the dual semantics (Abdulla, Atig, Bouajjani and Ngo)."""
    SETS = auto()
    """Forwards, older pending stores as sets of values (partial coherence: Kuperstein, Vechev and Yahav)."""


class Fixpoint(Record):
    """A search over sets of states came to its end, for buffers of any length. `fair` as in `Exhausted`."""

    closure: Closure
    fair: Fairness | None = None


class Parameterised(Record):
    """A backward search over multisets of process parts came to its end: however many instances of `templates` there
    are, with buffers of any length under `model`. `parts`: no constraint needed more processes."""

    templates: tuple[str, ...]
    model: ModelSpec
    parts: int


class Invariant(Record):
    """Each process by itself never comes to the bad locations, whatever its loads give."""

    model: ModelSpec


class NoAttack(Record):
    """From no SC-reachable state does an attack, or a race, start. `flattened`: seen process by process, the others
    flattened after so many steps. `by_text`: seen in the text of each process, without visiting every state."""

    flattened: int | None = None
    by_text: bool = False


class Implied(Record):
    """A stronger criterion holds; `under_sc`: and SC gives the same answer to the question itself."""

    by: Criterion
    under_sc: bool


class NoExecution(Record):
    """Of all executions of these `events` (writes, reads, fences), the axioms of `model` allow none that goes wrong."""

    model: ModelSpec
    events: int


class Complete(Record):
    """Every execution was looked at: no loop goes round more often than it was unrolled.

    Where the verdict is bounded all the same, notes of the program say by what.
    """

    unrolled: int


class EveryOrder(Record):
    """Every run was followed; each of the `orders` in which processes do things is one of SC, too."""

    orders: int


class OnlySc(Record):
    """Every execution that the model allows is one of SC, whatever loops do, and nothing races. `is_safe`: and no run
    of SC goes wrong."""

    model: str
    is_safe: bool = False


class ScItself(Record):
    """The question compares the model with SC, and the model is SC."""


# Neither


class Bound(Record):
    """Nothing was found within the bound of `model`, and some store had to wait because of it.

    `fair` as in `Exhausted`.
    """

    model: ModelSpec
    fair: Fairness | None = None


class DelayBound(Record):
    """Nothing was found among the runs with at most so many `delays`, as `passes.delay_bounding` counts them.

    `pending`: and no more pending stores a buffer than these, where some store had to wait. `steps`: and no more steps
    than these, where there was no end of them.
    """

    delays: int
    pending: int | None = None
    steps: int | None = None


class Cut(Record):
    """Every execution was looked at in which no loop goes round more often than it was unrolled."""

    unrolled: int


class FewThreads(Record):
    """Proved for 1 to `threads` instances of `templates`, as many of each; nothing is known of more."""

    templates: tuple[str, ...]
    threads: int


class Limit(Record):
    """The search stopped before its end, after so many states. `under_sc`: it was a search of SC states.

    `found`: what was asked for is reachable, but no run to it was found in time. `unrolled`: executions were looked for
    with loops unrolled so often.
    """

    stop: Stop
    states: int
    under_sc: bool = False
    found: bool = False
    unrolled: int | None = None


class Torn(Record):
    """A step of these processes has several stores, and whether others may see it half-way was not decided."""

    processes: tuple[int, ...]


class SeesThePast(Record):
    """The access of this process at this place may see a past that SC does not, or races: the model may allow more."""

    process: int
    span: Span
    is_race: bool


class ByDependencies(Record):
    """Nothing is found where the dependencies of the text are kept; this, where a compiler removes them."""

    without: Counterexample


class MayWait(Record):
    """Nothing fails, but a thread waits where it could have gone another way (`span`): for ever, or not?"""

    span: Span
    unrolled: int


class OutOfReach(Record):
    """The program cannot be asked about under axioms."""

    why: Unfit
    span: Span


class Outside(Record):
    """The engine does not answer such questions."""

    engine: str
    obstacle: Obstacle


Proof = (
    Exhausted
    | Fixpoint
    | Parameterised
    | Invariant
    | NoAttack
    | Implied
    | NoExecution
    | Complete
    | EveryOrder
    | OnlySc
    | ScItself
)
Shows = CounterexampleRun | Lasso | Counterexample
Unknown = Limit | Torn | SeesThePast | ByDependencies | MayWait | OutOfReach | Outside
Evidence = Shows | Proof | Bound | DelayBound | FewThreads | Cut | Unknown
