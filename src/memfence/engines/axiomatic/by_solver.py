"""Executions that go wrong, one goal after the other, by a solver."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.axiomatic.code import Code
from memfence.axiomatic.model import AxiomaticModel
from memfence.engines.axiomatic.goals import Fails, Goal, Raises, ReachesCut, WaitsForEver
from memfence.engines.axiomatic.solve import Activated, Executions, Found, LimitHit, Nothing, OutOfTime
from memfence.engines.axiomatic.violations import RACE, Violation, goal_of
from memfence.program.ir import Property
from memfence.tasks.limits import Limits, Stop


def goals_of(properties: Sequence[Property], model: Activated) -> list[tuple[Goal, Property | None]]:
    """What no execution should reach: failing checks, the contrary of each property, races where the model has them.
    Whether threads wait for ever comes last: what else goes wrong tells more."""
    goals: list[tuple[Goal, Property | None]] = [(Fails(), None)]
    goals += [(goal, prop) for prop in properties if (goal := goal_of(prop)) is not None]
    goals += [(Raises(RACE), None)] if RACE in model.flags else []
    return sorted(goals, key=lambda pair: isinstance(pair[0], WaitsForEver))


def first_violation(
    code: Code,
    model: AxiomaticModel,
    properties: Sequence[Property],
    limits: Limits,
    *,
    dependencies: bool = True,
) -> Violation | Stop | bool:
    """An execution that violates something; else whether some execution is cut off, or the limit that was hit."""
    try:
        executions = Executions(code, limits=limits)
        active = executions.add(model, dependencies=dependencies)
    except LimitHit as hit:
        return hit.stop
    for goal, prop in goals_of(properties, active):
        match executions.find(active, goal):
            case Found(execution):
                return Violation(execution, prop, isinstance(goal, Raises))
            case OutOfTime(stop):
                return stop
            case Nothing():
                pass
    cut = executions.find(active, ReachesCut())
    return cut.stop if isinstance(cut, OutOfTime) else isinstance(cut, Found)


def may_wait(code: Code, model: AxiomaticModel, limits: Limits, *, dependencies: bool = True) -> bool:
    """Whether threads that could have gone another way may wait for ever, or nobody knows."""
    try:
        executions = Executions(code, limits=limits)
        active = executions.add(model, dependencies=dependencies)
    except LimitHit:
        return True
    return not isinstance(executions.find(active, WaitsForEver(undecided=True)), Nothing)
