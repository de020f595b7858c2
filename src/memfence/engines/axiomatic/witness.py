"""What a search found, done again without it: no verdict rests on an execution that was not carried out and judged."""

from __future__ import annotations

from memfence.axiomatic.candidates import candidate
from memfence.axiomatic.code import Code
from memfence.axiomatic.execution import Decisions, Execution
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.replay import NotAnExecution, carry_out
from memfence.engines.axiomatic.goals import Goal, Raises, is_reached
from memfence.models.cat.interpreter import judge


class WitnessRefused(Exception):
    """An internal error: a search found what the code does not do, or what the model forbids."""


def witness(
    code: Code, decisions: Decisions, goal: Goal, model: AxiomaticModel | None, *, dependencies: bool = True
) -> Execution:
    """The execution that is decided; WitnessRefused where it is not what was asked for.

    `model`: whose text allows it, and raises the flag that the goal is about; None where nobody can judge.
    """
    try:
        execution = carry_out(code, decisions)
    except NotAnExecution as error:
        raise WitnessRefused(str(error)) from error
    if not is_reached(goal, execution):
        raise WitnessRefused(f"{goal} is not reached")
    if model is not None:
        judgement = judge(model.cat, candidate(execution, model, dependencies=dependencies))
        if not judgement.is_allowed:
            raise WitnessRefused(f"{model.name} forbids it: {judgement.failed[0].axiom.name}")
        if isinstance(goal, Raises) and goal.flag not in [flag.axiom.name for flag in judgement.flags]:
            raise WitnessRefused(f"{model.name} does not raise {goal.flag}")
    return execution
