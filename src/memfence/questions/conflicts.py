"""Options that do not go together with what is asked.

What the program states takes part in this: `fair` makes sense where the file has an `ltl` block, for example.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.registry import language_named
from memfence.models.spec import TSO
from memfence.program.crowd import instances_of
from memfence.program.ir import Program
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions, criterion_to_check, what_is_asked
from memfence.tasks.usage import WrongUsage

UNBOUNDED = ("symbolic", "dual")
"""Engines that answer safety questions only, with buffers of any length."""
NOTHING = ("false", "0")
"""`--forbid false` asks for everything to be explored; it says nothing that another criterion could leave out."""
ON_CLUSTER = (Criterion.SAFETY, Criterion.PERSISTENT, Criterion.ROBUST, Criterion.TRF, Criterion.DRF)
"""Criteria whose search the machines of a cluster can share."""
ABOUT_INFINITE_RUNS = ("fair", "define", "bound_per")


def refuse_other_models(criteria: Iterable[Criterion | None], options: CheckOptions) -> None:
    """Persistence and triangular races are about TSO; `drf` implies robustness under every model."""
    for criterion in criteria:
        if criterion is not None and criterion.is_about_tso and options.spec.reorders_stores:
            other = "`robust` or `state-robust`"
            raise WrongUsage("criterion", f"`{criterion}` speaks about TSO; for --model {options.model} ask {other}")


def refuse_unused(program: Program, options: CheckOptions, given: Collection[str] = ()) -> None:
    """Refuse what `options` say beside the question that they ask about `program`.

    `given`: the options that were given explicitly, even with their default value.
    """
    criterion = criterion_to_check(program, options)
    if program.any_number:
        refuse_other_questions(program, criterion, options)
    refuse_other_models([criterion], options)
    if options.abstract is not None and criterion is not Criterion.PERSISTENT:
        raise WrongUsage("abstract", "an abstraction exists for --criterion persistent only")
    _refuse_properties(criterion, options)
    if options.cluster is not None:
        _refuse_on_cluster(program, criterion, options)
    asked = what_is_asked(program, options)
    is_safety = criterion is Criterion.SAFETY
    is_temporal = is_safety and bool(asked.temporal)
    for option in ABOUT_INFINITE_RUNS:
        if option in given and not is_temporal:
            raise WrongUsage(option, "it needs a temporal property: --ltl, or one that FILE states")
    if options.engine in UNBOUNDED and not (is_safety and asked.asks_states):
        what = "a temporal property" if is_safety else f"`{criterion}`"
        message = f"the {options.engine} engine answers safety questions only; leave --engine out for {what}"
        raise WrongUsage("engine", message)
    if options.compact and (options.engine in UNBOUNDED or (is_temporal and not asked.asks_states)):
        raise WrongUsage(
            "compact", "it is for searches of states one by one, not for temporal properties, --engine symbolic or dual"
        )
    if options.buffer_bound is not None and not is_temporal:
        _refuse_bound(criterion, options)


def _refuse_on_cluster(program: Program, criterion: Criterion, options: CheckOptions) -> None:
    """A cluster shares explicit searches; what needs another engine is asked without it."""
    if options.compact:
        raise WrongUsage(
            "compact", "machines of a cluster keep the way to each state; use more of them, or no --cluster"
        )
    if program.any_number:
        raise WrongUsage("cluster", "a search for any number of threads is not shared between machines")
    if options.engine not in ("auto", "explicit"):
        raise WrongUsage("cluster", f"machines share explicit searches; the {options.engine} engine works on one")
    if criterion not in ON_CLUSTER:
        raise WrongUsage("cluster", f"the search that decides `{criterion}` is not shared between machines")


def _refuse_properties(criterion: Criterion, options: CheckOptions) -> None:
    asked = tuple(stated for stated in options.forbid if stated.text.strip() not in NOTHING)
    given = {
        "forbid": asked,
        "invariant": options.invariant,
        "final": options.final,
        "ltl": options.ltl,
        "deadlock": options.deadlock,
    }
    for option, value in given.items():
        if value and criterion is not Criterion.SAFETY:
            what = f"a property is for --criterion safety; `{criterion}` asks about every run as it is"
            raise WrongUsage(option, what)


def _refuse_bound(criterion: Criterion, options: CheckOptions) -> None:
    if options.engine in UNBOUNDED:
        what = f"the {options.engine} engine takes buffers of any length; use --engine explicit, or leave the bound out"
        raise WrongUsage("buffer_bound", what)
    if criterion.is_about_accesses:
        what = f"`{criterion}` is decided for buffers of any length; a bound goes with safety, state-robust or --ltl"
        raise WrongUsage("buffer_bound", what)


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
    language = language_named(program.language)
    is_of_user = model is not None and model.endswith(".cat")
    if language is None or not language.only_models or (model or TSO.name) in language.only_models or is_of_user:
        return
    where = f"`{model}`" if model is not None else "a model with store buffers"
    message = f"{language.title} have instructions that mean nothing under {where}"
    at = Label(program.source.span(0, min(1, len(program.source.text))))
    hint = f"use --model {language.only_models[0]}, where a command has it"
    raise InputError([Diagnostic(Code.OTHER_PROCESSOR, message, at, hint=hint)])


def needs_fixed_number(program: Program, what: str) -> Diagnostic:
    """`what` is not asked about any number of threads."""
    names = " and ".join(f"`{name}`" for name in program.any_number)
    message = f"{what} needs a fixed number of threads, but there is any number of {names}"
    hint = "write a number in place of `*`"
    first = program.processes[instances_of(program, program.any_number[0])[0]]
    at = first.span if first.span.source is program.source else program.source.span(0, 1)
    return Diagnostic(Code.FIXED_NUMBER, message, Label(at), hint=hint)
