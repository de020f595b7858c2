"""Persistence, trace-robustness, state-robustness, triangular-race and data-race freedom: criteria without a property.

A violation is shown as a run of the relaxed model; a race as the SC run up to it.
"""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.passes.shared_memory_form import other_communication, shared_memory_form
from memfence.program.ir import Program
from memfence.questions.safety import model_asked
from memfence.strategy.portfolio import decide
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult, stats_of
from memfence.tasks.task import Keeps, Task


def check_criterion(program: Program, criterion: Criterion, options: CheckOptions) -> CheckResult:
    """Decide one of the criteria that need no property."""
    criterion, model = Criterion(criterion), options.spec
    if criterion.is_about_accesses:
        program = in_form(program)
    else:
        model = model_asked(options)
    limits = options.started().limits
    answer = decide(Task(program, model, Keeps(criterion, options.abstract), limits))
    return CheckResult(program, options.model, criterion, (), answer, limits, stats_of(answer.cost, answer.counts))


def in_form(program: Program) -> Program:
    """`program` as the criteria about single accesses know it.

    They are not defined for what processes tell each other beside shared memory: InputError.
    """
    program = shared_memory_form(program)
    found = other_communication(program)
    if found is not None:
        what, span = found
        message = f"{what} has no meaning for this criterion: it is about single accesses of shared memory"
        hint = "use --criterion safety, or --ltl"
        raise InputError([Diagnostic(Code.UNSUPPORTED, message, Label(span), hint=hint)])
    return program
