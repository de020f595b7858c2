"""Executions that violate something: what to look for under a model, and what is told of one that is found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memfence.axiomatic.candidates import candidate
from memfence.axiomatic.execution import Execution
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.synchronised import synchronised
from memfence.engines.axiomatic.goals import Ends, Goal, WaitsForEver
from memfence.models.cat.interpreter import Evaluation, judge
from memfence.models.cat.polarity import reached
from memfence.models.cat.relations import pairs_of
from memfence.models.cat.syntax import Base
from memfence.models.catalogue import ASSEMBLIES, states_of
from memfence.program.expressions import At, negate, walk
from memfence.program.ir import Final, NoDeadlock, Program, Property
from memfence.records import Record
from memfence.tasks.evidence import Counterexample, Forbidding

RACE = "data-race"
STRONGER = ("x86", "sc")
"""Models that an execution is compared with, the strongest last."""


def goal_of(prop: Property) -> Goal | None:
    """What an execution that violates the property reaches; None for properties of states and of infinite runs."""
    if isinstance(prop, NoDeadlock):
        return WaitsForEver()
    if not isinstance(prop, Final) or any(isinstance(node, At) for node in walk(prop.expr)):
        return None
    return Ends(negate(prop.expr) if prop.quantifier == "forall" else prop.expr)


def as_seen_by(name: str, program: Program, properties: Sequence[Property]) -> Program:
    """The program in terms that the model called `name` knows; NotUnrolled where there are none.

    It states the properties that are asked: a register that nobody asks about has no value at the end.
    """
    stating = replace(program, properties=tuple(properties))
    return stating if states_of(name) else synchronised(stating)


def keeps_dependencies(program: Program, models: Sequence[AxiomaticModel]) -> bool:
    """Whether the dependencies of the text can be relied upon, or do not matter."""
    return program.language in ASSEMBLIES or not any(map(_uses_dependencies, models))


class Violation(Record):
    """An execution that reaches a goal that none should."""

    execution: Execution
    violated: Property | None
    is_race: bool


def _uses_dependencies(model: AxiomaticModel) -> bool:
    used = (found.node for axiom in model.cat.axioms for found in reached(model.cat, axiom))
    return any(isinstance(node, Base) and node.name in ("addr", "data", "ctrl") for node in used)


def told(found: Violation, model: AxiomaticModel, rounds: int, *, dependencies: bool) -> Counterexample:
    """The violation as evidence, with what stronger models say of it."""
    pair = _first_race(found.execution, model, dependencies=dependencies)
    forbidding = tuple(_forbidding(found.execution))
    if found.is_race:
        return Counterexample(found.execution, model, found.violated, pair, forbidding, unrolled=rounds)
    return Counterexample(found.execution, model, found.violated, None, forbidding, pair, rounds)


def _first_race(execution: Execution, model: AxiomaticModel, *, dependencies: bool) -> tuple[int, int] | None:
    """Two events that race: one that reads from the other, if there are such; what comes after it follows from that."""
    seen = Evaluation(model.cat, candidate(execution, model, dependencies=dependencies))
    flags = (axiom for axiom in model.cat.axioms if axiom.is_flag and axiom.name == RACE)
    values = [seen.value(axiom.body) for axiom in flags]
    races = [pair for value in values if not isinstance(value, int) for pair in pairs_of(value)]
    sources = execution.decisions.read_from
    places = [event.place for event in execution.events]
    return min(races, key=lambda pair: sources.get(places[pair[1]]) != places[pair[0]], default=None)


def _forbidding(execution: Execution) -> Iterator[Forbidding]:
    """The axioms of stronger models that the execution contradicts, the strongest model last."""
    for name in STRONGER:
        model = models_named(name)[0]
        for finding in judge(model.cat, candidate(execution, model)).failed[:1]:
            yield Forbidding(name, finding)
