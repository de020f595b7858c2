"""Options that do not go together: refused before anything is searched (exit code 2), never quietly ignored.

What the program states takes part in this: `--fair` makes sense where the file has an `ltl` block, for example.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memfence.program.ir import Program
    from memfence.tasks.options import CheckOptions, Criterion

ABOUT_TSO = ("persistent", "trf")
"""Criteria that are defined for TSO: an answer "under pso" would not be about PSO."""
UNBOUNDED = ("symbolic", "dual")
"""Engines that answer safety questions only, with buffers of any length."""

NOTHING = ("false", "0")
"""`--forbid false` asks for everything to be explored; it says nothing that another criterion could leave out."""


def typed(context: typer.Context, *names: str) -> list[str]:
    """The options among the parameters `names` that were typed, even with their default value: `--bound-per`."""
    options = {parameter.name: parameter.opts[-1] for parameter in context.command.params}
    return [options[name] for name in names if _was_typed(context, name)]


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def refuse_other_models(criteria: Iterable[str | None], model: str) -> None:
    """Persistence and triangular races are about TSO; `drf` implies robustness under every model."""
    for criterion in criteria:
        if model == "pso" and criterion in ABOUT_TSO:
            what = f"`{criterion}` speaks about TSO; for --model pso ask `robust` or `state-robust`"
            raise typer.BadParameter(what, param_hint="--criterion")


def refuse_unused(program: Program, options: CheckOptions, typed_options: Iterable[str] = ()) -> None:
    """Refuse what `options` say beside the question that they ask about `program`.

    `typed_options`: which of `--fair`, `--define` and `--bound-per` were given.
    """
    from memfence.tasks.options import criterion_to_check

    criterion = criterion_to_check(program, options)
    _refuse_properties(criterion, options)
    states, temporal = _asked(program, criterion, options)
    for option in typed_options:
        if not temporal:
            raise typer.BadParameter("it needs a temporal property: --ltl, or one that FILE states", param_hint=option)
    if options.engine in UNBOUNDED:
        _refuse_engine(criterion, options, states)
    if options.buffer_bound is not None and not temporal:
        _refuse_bound(criterion, options)


def _asked(program: Program, criterion: Criterion, options: CheckOptions) -> tuple[bool, bool]:
    """Whether states are asked about, and whether infinite runs are (see `analyses.safety.check_safety`)."""
    from memfence.program.ir import Ltl, PropertyAutomaton
    from memfence.tasks.options import properties_to_check

    if criterion != "safety":
        return False, False
    kinds = [isinstance(stated, Ltl | PropertyAutomaton) for stated in properties_to_check(program, options)]
    has_assertions = program.has_assertions and options.ltl is None
    return has_assertions or not all(kinds) or not kinds, any(kinds)


def _refuse_properties(criterion: Criterion, options: CheckOptions) -> None:
    asked = tuple(stated for stated in options.forbid if stated.text.strip() not in NOTHING)
    given = {
        "--forbid": asked, "--invariant": options.invariant, "--ltl": options.ltl, "--deadlock": options.deadlock
    }  # fmt: skip
    for option, value in given.items():
        if value and criterion != "safety":
            what = f"a property is for --criterion safety; `{criterion}` asks about every run as it is"
            raise typer.BadParameter(what, param_hint=option)


def _refuse_engine(criterion: Criterion, options: CheckOptions, states: bool) -> None:
    if states:
        return
    what = "a temporal property" if criterion == "safety" else f"`{criterion}`"
    message = f"the {options.engine} engine answers safety questions only; leave --engine out for {what}"
    raise typer.BadParameter(message, param_hint="--engine")


def _refuse_bound(criterion: Criterion, options: CheckOptions) -> None:
    if options.engine in UNBOUNDED:
        what = f"the {options.engine} engine takes buffers of any length; use --engine explicit, or leave the bound out"
        raise typer.BadParameter(what, param_hint="--buffer-bound")
    if criterion not in ("safety", "state-robust"):
        what = f"`{criterion}` is decided for buffers of any length; a bound goes with safety, state-robust or --ltl"
        raise typer.BadParameter(what, param_hint="--buffer-bound")
