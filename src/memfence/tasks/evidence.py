"""Why an answer is what it is: data that a report turns into words, and a checker into a check.

VIOLATED comes with a `Run` or `Lasso`, HOLDS with one of the proofs, HOLDS_UP_TO with a `Bound`, `FewSwitches` or
`FewThreads`, UNKNOWN with a `Limit` or with what lies `Outside` the engine.
"""

from __future__ import annotations

from enum import Enum, auto

from memfence.execution.trace import Trace
from memfence.models.spec import ModelSpec
from memfence.records import dataclass
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Stop
from memfence.tasks.obstacle import Obstacle

# What a run shows


@dataclass(frozen=True, slots=True)
class BadState:
    """The last state is one that the goal calls bad."""


@dataclass(frozen=True, slots=True)
class BadFinalState:
    """The last state is a final one that refutes what was said about final states."""


@dataclass(frozen=True, slots=True)
class StepFails:
    """The last step fails: an assertion, or a run-time error."""


@dataclass(frozen=True, slots=True)
class Deadlocked:
    """No step is possible in the last state, and not every process has ended."""


@dataclass(frozen=True, slots=True)
class Overtakes:
    """`attacker` delays its store to `delayed`; its access of `variable`, maybe in the same step, comes first."""

    attacker: int
    delayed: int
    variable: int
    is_store: bool
    is_one_step: bool


@dataclass(frozen=True, slots=True)
class Races:
    """Two processes are about to access `variable`; `unfenced` is the store that makes the race triangular."""

    process: int
    other: int
    variable: int
    unfenced: int | None


@dataclass(frozen=True, slots=True)
class Strays:
    """SC does not reach the last state, or does not fail like this."""


Finding = BadState | BadFinalState | StepFails | Deadlocked | Overtakes | Races | Strays


class Route(Enum):
    """How a run was found; only a DIRECT search gives shortest ones for sure."""

    DIRECT = auto()
    TWO_PROCESSES = auto()
    UNBOUNDED = auto()
    BACKWARD = auto()
    BACKWARD_ONLY = auto()
    """By the backward search, and no shorter one was found within its budget."""
    UNDER_SC = auto()
    FEW_SWITCHES = auto()


@dataclass(frozen=True, slots=True)
class Run:
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


@dataclass(frozen=True, slots=True)
class Lasso:
    """An infinite run: `trace` up to step `loop_start`, then the rest of it for ever.

    Where `loop_start` is the number of steps, nothing happens any more. Registers whose value makes no difference may
    differ after the first round; from then on nothing does.
    """

    trace: Trace
    loop_start: int


# Proofs


@dataclass(frozen=True, slots=True)
class Exhausted:
    """Every state of the model was visited; `pending`: no buffer ever held more, so that no bound was met.

    `fair`: the answer is about infinite runs, and only weakly fair ones if this is true.
    """

    model: ModelSpec
    pending: int | None = None
    fair: bool | None = None


class Closure(Enum):
    """What was closed under the steps of the program until nothing was added."""

    AUTOMATA = auto()
    """Forwards, sets of buffer contents as automata (Linden and Wolper)."""
    DUAL = auto()
    """Backwards, minimal constraints of the dual semantics (Abdulla, Atig, Bouajjani and Ngo)."""
    SETS = auto()
    """Forwards, older pending stores as sets of values (partial coherence: Kuperstein, Vechev and Yahav)."""


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """A search over sets of states came to its end, for buffers of any length."""

    closure: Closure


@dataclass(frozen=True, slots=True)
class AnyNumber:
    """A backward search over multisets of process parts came to its end: however many instances of `templates` there
    are, with buffers of any length under `model`. `parts`: no constraint needed more processes."""

    templates: tuple[str, ...]
    model: ModelSpec
    parts: int


@dataclass(frozen=True, slots=True)
class Invariant:
    """Each process by itself never comes to the bad locations, whatever its loads give."""

    model: ModelSpec


@dataclass(frozen=True, slots=True)
class NoAttack:
    """From no SC-reachable state does an attack, or a race, start. `flattened`: seen process by process, the others
    flattened after so many steps."""

    flattened: int | None = None


@dataclass(frozen=True, slots=True)
class Implied:
    """A stronger criterion holds; `under_sc`: and SC gives the same answer to the question itself."""

    by: Criterion
    under_sc: bool


@dataclass(frozen=True, slots=True)
class NoExecution:
    """Of all executions of these `events` (writes, reads, fences), the axioms of `model` allow none that goes wrong."""

    model: ModelSpec
    events: int


@dataclass(frozen=True, slots=True)
class ScItself:
    """The question compares the model with SC, and the model is SC."""


# Neither


@dataclass(frozen=True, slots=True)
class Bound:
    """Nothing was found within the bound of `model`, and some store had to wait because of it.

    `fair` as in `Exhausted`.
    """

    model: ModelSpec
    fair: bool | None = None


@dataclass(frozen=True, slots=True)
class FewSwitches:
    """Nothing was found among the runs with at most so many `deviations`, as `passes.few_switches` counts them.

    `pending`: and no more pending stores a buffer than these, where some store had to wait. `steps`: and no more steps
    than these, where there was no end of them.
    """

    deviations: int
    pending: int | None = None
    steps: int | None = None


@dataclass(frozen=True, slots=True)
class FewThreads:
    """Proved for 1 to `threads` instances of `templates`, as many of each; nothing is known of more."""

    templates: tuple[str, ...]
    threads: int


@dataclass(frozen=True, slots=True)
class Limit:
    """The search stopped before its end, after so many states. `under_sc`: it was a search of SC states.

    `found`: what was asked for is reachable, but no run to it was found in time.
    """

    stop: Stop
    states: int
    under_sc: bool = False
    found: bool = False


@dataclass(frozen=True, slots=True)
class Torn:
    """A step of these processes has several stores, and whether others may see it half-way was not decided."""

    processes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Outside:
    """The engine does not answer such questions."""

    engine: str
    obstacle: Obstacle


Proof = Exhausted | Fixpoint | AnyNumber | Invariant | NoAttack | Implied | NoExecution | ScItself
Evidence = Run | Lasso | Proof | Bound | FewSwitches | FewThreads | Limit | Torn | Outside
