"""The memory-model policies that the core was compiled with, by number."""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.encode import separator_of, uses_sfence
from memfence.models.buffering import Buffering
from memfence.models.spec import ModelSpec
from memfence.program.facts.effects import stored_variables
from memfence.program.ir import Program

_POLICIES = {Buffering.NOWHERE: 0, Buffering.PER_PROCESS: 1, Buffering.PER_VARIABLE: 3}
_PER_VARIABLE_OF_A_PROCESS = 2


def policy_of(model: ModelSpec, program: Program) -> tuple[int, int]:
    """The number of the policy, and its bound (0 where there are no buffers). The core explores bounded models only.

    InputError where `program` leaves no value for the separators that its sfences put into the buffers of PSO.
    """
    assert model.is_bounded or not model.has_buffers, "an explicit search needs a bound"
    if model.reorders_stores:
        _require_room_for_separators(program)
    number = _PER_VARIABLE_OF_A_PROCESS if model.per_variable else _POLICIES[model.buffering]
    return number, model.bound or 0


def _require_room_for_separators(program: Program) -> None:
    for process in program.processes:
        for number in stored_variables(process) if uses_sfence(process) else ():
            variable = program.variables[number]
            if separator_of(variable.domain) is None:
                what = (
                    f"`{variable.name}` takes every 32-bit value; beside an sfence, PSO needs one that it does not take"
                )
                hint = "declare a smaller range, or use --int-bits"
                raise InputError([Diagnostic(Code.TOO_LARGE, what, Label(variable.span), hint=hint)])
