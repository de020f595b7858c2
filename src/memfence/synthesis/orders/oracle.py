"""Whether a choice of stronger orders still leaves a violating execution: one formula for all choices, asked again and
again under assumptions about its edits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from memfence.axiomatic.code import Code, EventItem
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.engines.axiomatic.by_solver import goals_of
from memfence.engines.axiomatic.goals import Goal
from memfence.engines.axiomatic.solve import Activated, Executions, Found, LimitHit, OutOfTime
from memfence.engines.axiomatic.violations import as_seen_by, keeps_dependencies
from memfence.models.catalogue import states_of
from memfence.program.ir import Program, Property
from memfence.synthesis.orders.candidates import strengthened
from memfence.synthesis.orders.least import Choice
from memfence.synthesis.orders.places import OpNumber, OrderEdit, OrderPlace
from memfence.synthesis.orders.strengths import Strength
from memfence.tasks.limits import Limits

LEVELS: tuple[frozenset[Strength], ...] = (
    frozenset(),
    frozenset({"acquire"}),
    frozenset({"release"}),
    frozenset({"acquire", "release"}),
    frozenset({"acquire", "release", "seq_cst"}),
)
"""Every set of strengths that some order has."""


class OrderOracle:
    """All executions of `program` with every choice of `edits`, under all models at once.

    The program has a fence that does nothing wherever one may be written. Dependencies count only in assembly: a
    compiler may remove them, so what is enough must be enough without them.
    """

    def __init__(
        self,
        program: Program,
        places: Sequence[OrderPlace],
        edits: Sequence[OrderEdit],
        names: Iterable[str],
        properties: Sequence[Property],
        rounds: int,
        limits: Limits,
    ) -> None:
        self._edits = edits
        self._under: list[_Formula] = []
        levels = _at_all_levels(program, places)
        refused: NotUnrolled | None = None
        for name in dict.fromkeys(names):
            try:
                codes = [unroll(as_seen_by(name, changed, properties), rounds) for changed in levels]
            except NotUnrolled as unfit:
                if not states_of(name):
                    raise
                refused = unfit  # its states are searched for the proof; the others choose
                continue
            models = models_named(name, language=program.language)
            dependencies = keeps_dependencies(program, models)
            self._under += [
                _Formula(codes, model, places, edits, properties, limits, dependencies=dependencies) for model in models
            ]

        if not self._under and refused is not None:
            raise refused

    def violates(self, choice: Choice) -> bool:
        """Whether some model allows an execution that nobody wants, with these edits made; LimitHit."""
        for number, formula in enumerate(self._under):
            if formula.violates(choice):
                self._under.insert(0, self._under.pop(number))  # it will likely be the next one to fail, too
                return True
        return False


class _Formula:
    """One model. Edits are literals that questions assume to be true or false."""

    def __init__(
        self,
        codes: Sequence[Code],
        model: AxiomaticModel,
        places: Sequence[OrderPlace],
        edits: Sequence[OrderEdit],
        properties: Sequence[Property],
        limits: Limits,
        *,
        dependencies: bool,
    ) -> None:
        self._executions = Executions(codes[0], limits=limits)
        self._made = [self._executions.fresh_literal() for _ in edits]
        self._own = [
            {edit.strength: self._made[n] for n, edit in enumerate(edits) if edit.place == place}
            for place in range(len(places))
        ]
        tags = self._tags(codes, model, {op: n for n, place in enumerate(places) for op in place.ops})
        self._active: Activated = self._executions.add(model, tags=tags, dependencies=dependencies)
        self._goals: list[Goal] = [goal for goal, _ in goals_of(properties, self._active)]

    def violates(self, choice: Choice) -> bool:
        assumed = [literal if n in choice else -literal for n, literal in enumerate(self._made)]
        for goal in self._goals:
            answer = self._executions.find(self._active, goal, assuming=assumed)
            if isinstance(answer, OutOfTime):
                raise LimitHit(answer.stop)
            if isinstance(answer, Found):
                return True
        return False

    def _tags(
        self, codes: Sequence[Code], model: AxiomaticModel, place_of: Mapping[OpNumber, int]
    ) -> Callable[[int, int, EventItem], Mapping[str, int]]:
        """The tags of each event, under the condition that its place has an order which gives them."""

        def tags(thread: int, position: int, item: EventItem) -> Mapping[str, int]:
            origin = (item.origin.process, item.origin.transition, item.origin.op)
            own = self._own[place_of[origin]] if origin in place_of else {}
            ways: dict[str, list[int]] = {}
            for strengths, condition in self._conditions(own):
                code = codes[LEVELS.index(strengths)]
                stronger = code.threads[thread].items[position]
                assert isinstance(stronger, EventItem) and stronger.origin == item.origin
                for tag in model.tags(code.threads[thread], stronger):
                    ways.setdefault(tag, []).append(condition)
            return {tag: self._executions.clauses.any_of(conditions) for tag, conditions in ways.items()}

        return tags

    def _conditions(self, own: Mapping[Strength, int]) -> Iterable[tuple[frozenset[Strength], int]]:
        """For each set of strengths that can be added here: a level that adds it, and when just that is added."""
        seen: set[frozenset[Strength]] = set()
        for level in LEVELS:
            added = level & frozenset(own)
            if added in seen:
                continue
            seen.add(added)
            if "seq_cst" in added:  # it comes with the others
                yield level, own["seq_cst"]
                continue
            literals = [literal if strength in added else -literal for strength, literal in own.items()]
            yield level, self._executions.clauses.all_of(literals)


def _at_all_levels(program: Program, places: Sequence[OrderPlace]) -> list[Program]:
    """The program with the strengths of each level added everywhere: they differ in nothing but orders."""
    return [strengthened(program, [(place, level & frozenset(place.addable)) for place in places]) for level in LEVELS]
