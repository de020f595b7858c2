"""Questions about all executions of unrolled code under axiomatic models: one formula, one solver, many questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import assert_never

from memfence.axiomatic.code import Code
from memfence.axiomatic.execution import Decisions, Execution
from memfence.axiomatic.library import is_coherent
from memfence.axiomatic.model import AxiomaticModel
from memfence.deadline import Deadline, TimeUp
from memfence.engines.axiomatic.base import Base, TagLiterals
from memfence.engines.axiomatic.chains import demand_chains
from memfence.engines.axiomatic.clauses import FALSE, TRUE, Clauses
from memfence.engines.axiomatic.core import Core
from memfence.engines.axiomatic.decode import decisions_of
from memfence.engines.axiomatic.goals import (
    Anything,
    Ends,
    Fails,
    FinalState,
    Goal,
    Raises,
    ReachesCut,
    WaitsForEver,
    value_at_end,
)
from memfence.engines.axiomatic.relations import Relations
from memfence.engines.axiomatic.sat import Assignment, Sat, limit_hit
from memfence.engines.axiomatic.stuck import waits_for_ever
from memfence.engines.axiomatic.vectors import constant, is_equal
from memfence.engines.axiomatic.witness import witness
from memfence.program.expressions import TRUE as TRUE_EXPR
from memfence.program.expressions import Expr
from memfence.records import Record
from memfence.tasks.limits import Limits, Stop


class Activated(Record):
    """A model in a formula: where `active` is true, its axioms are; `flags`: where each flag is raised."""

    model: AxiomaticModel
    active: int
    flags: dict[str, int]
    dependencies: bool = True
    has_own_tags: bool = True


class Found(Record):
    """An execution that was carried out, and that the interpreter allows."""

    execution: Execution


class Nothing(Record):
    """There is no such execution."""


class OutOfTime(Record):
    """The search had to stop before it knew."""

    stop: Stop


Answer = Found | Nothing | OutOfTime


class Outcome(Record):
    """Values in a final state, and an execution that ends so."""

    values: tuple[int, ...]
    execution: Execution


class LimitHit(Exception):
    """The formula is not even made: a limit was hit before."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.name)
        self.stop = stop


def _watching(limits: Limits) -> Callable[[], None]:
    deadline = Deadline(limits.seconds)

    def watch() -> None:
        stop = limit_hit(limits, deadline)
        if stop is not None:
            raise LimitHit(stop)

    return watch


class Executions:
    """All executions of the code. Models are added to it; each question names the one that it is about."""

    def __init__(self, code: Code, *, limits: Limits | None = None) -> None:
        """LimitHit, here and in `add`, where the formula takes too much time or memory."""
        self.code = code
        self.core = Core(code, Clauses(_watching(limits or Limits())))
        self.clauses = self.core.clauses
        self.final = FinalState(self.core)
        self._sat = Sat(self.clauses, limits or Limits())

    def fresh_literal(self) -> int:
        """A literal for tags: assume it, or its negation, in each question."""
        return self.clauses.fresh()

    def add(self, model: AxiomaticModel, *, tags: TagLiterals | None = None, dependencies: bool = True) -> Activated:
        """Have the model's axioms in the formula, where its literal is assumed.

        `tags`: instead of the model's, and under conditions. Without dependencies, `addr`, `data` and `ctrl` are empty.
        NoFormula for a model whose recursive definitions are used where more of them would allow more.
        """
        relations = Relations(Base(self.core, model, tags=tags, dependencies=dependencies))
        active = self.clauses.fresh()
        relations.demand_axioms(active)
        if is_coherent(model):
            demand_chains(self.core, active)
        return Activated(model, active, relations.flags(), dependencies, tags is None)

    def literal_of(self, goal: Goal, model: Activated) -> int:
        """Where it is true, the goal is reached."""
        match goal:
            case Anything():
                return 1
            case Fails():
                return self.clauses.any_of(self.core.events.failing.values())
            case ReachesCut():
                return self.clauses.any_of(self.core.events.cut.values())
            case Ends(condition):
                return self.clauses.both(self.final.all_ended, self.final.terms.is_true(condition))
            case Raises(flag):
                return model.flags.get(flag, FALSE)
            case WaitsForEver(undecided):
                return waits_for_ever(self.core, undecided=undecided)
            case _:
                assert_never(goal)

    def find(
        self, model: Activated, goal: Goal, *, assuming: Sequence[int] = (), judge_by: AxiomaticModel | None = None
    ) -> Answer:
        """An execution that the model allows and that reaches the goal, where the assumed literals are true.

        `judge_by`: the model that those literals amount to, where tags are under conditions.
        """
        try:
            found = self._sat.solve([model.active, self.literal_of(goal, model), *assuming])
        except LimitHit as hit:
            return OutOfTime(hit.stop)
        match found:
            case None:
                return Nothing()
            case Stop():
                return OutOfTime(found)
            case Assignment():
                by = judge_by or (model.model if model.has_own_tags else None)
                decisions = decisions_of(self.core, found)
                return Found(witness(self.code, decisions, goal, by, dependencies=model.dependencies))
            case _:
                assert_never(found)

    def outcomes(self, model: Activated, observed: Sequence[Expr]) -> Iterator[Outcome]:
        """The values of the expressions in all final states (where nothing has failed), each with an execution.

        TimeUp if there is no time.
        """
        vectors = [self.final.terms.value(expr) for expr in observed]
        asking = self.clauses.fresh()
        while True:
            answer = self.find(model, Ends(TRUE_EXPR), assuming=(asking, -self.literal_of(Fails(), model)))
            if isinstance(answer, OutOfTime):
                raise TimeUp(self._sat.limits.deadline.seconds or 0.0)
            if isinstance(answer, Nothing):
                return
            values = tuple(value_at_end(expr, answer.execution) for expr in observed)
            yield Outcome(values, answer.execution)
            equal = (is_equal(self.clauses, vector, constant(n)) for vector, n in zip(vectors, values, strict=True))
            self.clauses.add(-asking, *(-literal for literal in equal))

    def all(self, model: Activated, goal: Goal = Anything()) -> Iterator[Execution]:  # noqa: B008
        """Every execution that reaches the goal: those with the same choices, sources and orders of writes are one."""
        asking = self.clauses.fresh()
        while True:
            answer = self.find(model, goal, assuming=(asking,))
            if isinstance(answer, OutOfTime):
                raise TimeUp(self._sat.limits.deadline.seconds or 0.0)
            if isinstance(answer, Nothing):
                return
            yield answer.execution
            self.clauses.add(-asking, *(-literal for literal in self._literals_of(answer.execution.decisions)))

    def _literals_of(self, decisions: Decisions) -> Iterator[int]:
        """Literals that are all true in executions with these decisions, and in no others."""
        number, memory, events = self.core.number_of, self.core.memory, self.core.events
        for read, write in decisions.read_from.items():
            yield memory.read_from[number[write], number[read]]
        for order in decisions.order.values():
            for a, b in pairwise(order):
                yield memory.coherence(events.list[number[a]], events.list[number[b]])
        for place, value in decisions.chosen.items():
            yield is_equal(self.clauses, events.chosen[place], constant(value))
        for vector, value in zip(events.initial, decisions.initial, strict=True):
            yield is_equal(self.clauses, vector, constant(value))
        for place, value in decisions.values.items():
            seen = events.list[number[place]].value
            yield TRUE if seen is None else is_equal(self.clauses, seen, constant(value))
