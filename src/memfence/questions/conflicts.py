"""Questions that a program has no answer to: it is for another processor, or has any number of threads.

That options do not go with what is asked is said by `memfence.verbs`.
"""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.catalogue import language_named
from memfence.models.catalogue import ASSEMBLIES, MODELS, knows
from memfence.models.spec import TSO
from memfence.program.ir import Program
from memfence.program.parameterised import instances_of
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions, what_is_asked


def refuse_other_questions(program: Program, criterion: Criterion, options: CheckOptions) -> None:
    """InputError for a question that is not answered for any number of threads."""
    if criterion not in (Criterion.SAFETY, Criterion.ROBUST):
        raise InputError([needs_fixed_number(program, f"`{criterion}`")])
    if criterion is Criterion.SAFETY and what_is_asked(program, options).temporal:
        raise InputError([needs_fixed_number(program, "a temporal property")])


def refuse_other_processors(program: Program, model: str | None = None) -> None:
    """InputError for a program in the assembly of a processor that `model` does not describe.

    Without a `model`: that no machine with store buffers is.
    """
    if knows(model or TSO.name, program.language):
        return
    language = language_named(program.language)
    if language is None or program.language not in ASSEMBLIES:
        return
    possible = [one.name for one in MODELS if one.knows(program.language)]
    where = f"`{model}`" if model is not None else "a model with store buffers"
    message = f"{language.title} have instructions that mean nothing under {where}"
    at = Label(program.source.span(0, min(1, len(program.source.text))))
    hint = f"use --model {TSO.name if TSO.name in possible else possible[0]}, where a command has it"
    raise InputError([Diagnostic(Code.OTHER_PROCESSOR, message, at, hint=hint)])


def needs_fixed_number(program: Program, what: str) -> Diagnostic:
    """`what` is not asked about any number of threads."""
    names = " and ".join(f"`{name}`" for name in program.any_number)
    message = f"{what} needs a fixed number of threads, but there is any number of {names}"
    hint = "write a number in place of `*`"
    first = program.processes[instances_of(program, program.any_number[0])[0]]
    at = first.span if first.span.source is program.source else program.source.span(0, 1)
    return Diagnostic(Code.FIXED_NUMBER, message, Label(at), hint=hint)
