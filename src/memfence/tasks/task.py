"""A question that engines can answer: a program, a memory model, a goal, and what may be spent on it."""

from __future__ import annotations

from dataclasses import field, replace

from memfence.models.fairness import Condition
from memfence.models.spec import Axioms, ModelSpec
from memfence.program.expressions import Expr
from memfence.program.ir import Program, Property
from memfence.records import Record
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits

ALL_REDUCTIONS = ("dead", "fuse", "order", "slice", "symmetry")


class Safety(Record, kw_only=True):
    """Nothing bad happens: no `bad` state, no failing step, no deadlock. `final_values` are to be listed, for every
    final state."""

    bad: Expr | None = None
    failures: bool = True
    deadlock: bool = False
    final_values: tuple[Expr, ...] = ()

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (() if self.bad is None else (self.bad,)) + self.final_values


class Keeps(Record):
    """The criterion holds. `flatten`: prove it process by process, the others flattened after so many steps."""

    criterion: Criterion
    flatten: int | None = None


class BuchiEdge(Record):
    """Possible where all atoms in `positive` and none in `negative` hold; `marks` are visited by it (bit masks)."""

    target: int
    positive: int
    negative: int
    marks: int


class NoAcceptedRun(Record):
    """No infinite run is accepted by the automaton and meets all `conditions` again and again.

    `edges` go by state; each of `marks` has to be visited again and again, too. The masks of edges are over `atoms`.
    `stutters`: the automaton cannot tell how often a state is repeated.
    """

    edges: tuple[tuple[BuchiEdge, ...], ...]
    initial: int
    marks: int
    atoms: tuple[Expr, ...]
    conditions: tuple[Condition, ...]
    stutters: bool = False


class GoodExecutions(Record):
    """No execution fails a check, violates one of `properties` or has a race of which the model speaks.

    `unrolled`: of those with loops unrolled so often; None: as often as needed, or as time allows.
    """

    properties: tuple[Property, ...]
    unrolled: int | None = None


Goal = Safety | Keeps | NoAcceptedRun | GoodExecutions


class Task(Record):
    """Does `program` reach its `goal` under `model`? The bound of the model is part of the question, if it has one.

    Executions are asked about under `Axioms`, runs under a `ModelSpec`.

    `settles`: where all runs are too many, an answer about the most likely ones is welcome.
    """

    program: Program
    model: ModelSpec | Axioms
    goal: Goal
    limits: Limits = field(default_factory=Limits)
    reductions: frozenset[str] = frozenset(ALL_REDUCTIONS)
    settles: bool = False

    @property
    def spec(self) -> ModelSpec:
        """The model of runs, for engines that answer no other questions."""
        assert isinstance(self.model, ModelSpec)
        return self.model

    def within(self, **changes: object) -> Task:
        """The same question with other limits."""
        return replace(self, limits=self.limits.within(**changes))

    @property
    def is_over(self) -> bool:
        """Whether the time of the user is up."""
        return self.limits.deadline.passed
