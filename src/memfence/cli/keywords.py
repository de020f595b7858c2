"""From what was typed to the keywords of the Python API: the same names, and only what was typed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import typer

from memfence import cache_folder
from memfence.cli.parameters import plain
from memfence.cli.progress import ProgressLine
from memfence.cli.refusal import refusing
from memfence.verbs.models import models_in
from memfence.verbs.options import option_of
from memfence.verbs.refusal import answered_as, refuse_unused
from memfence.verbs.usage import Usage


def typed(context: typer.Context) -> dict[str, Any]:
    """Every option that stood on the command line, even with its default value, by its name."""
    verb = _verb(context)
    return {
        name: plain(value)
        for name, value in context.params.items()
        if _was_typed(context, name) and option_of(verb, name) is not None
    }


def _verb(context: typer.Context) -> str:
    return context.command_path.partition(" ")[2]


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def understood(
    context: typer.Context, *, models: str | None = None, files: Sequence[object] = (), several: bool = False
) -> Usage:
    """What was typed, with the models that answer it; an option that means nothing there ends with exit code 2."""
    with refusing(json=False):
        named = () if models is None else models_in(models)
        names = tuple(map(str, files))
        usage = Usage(verb=_verb(context), said=typed(context), models=named, files=names, several=several)
        usage = replace(usage, models=answered_as(usage))
        refuse_unused(usage)
    return usage


def keywords_of(usage: Usage, progress: ProgressLine | None = None) -> dict[str, Any]:
    """The typed options as keywords of the API, but for those that only the command line has.

    From here on, programs in C are remembered from one command to the next, unless that is not wanted.
    """
    cache_folder.switch(on=usage.verb != "verify" and not usage.said.get("no_cache"))
    named = ((option_of(usage.verb, name), value) for name, value in usage.said.items())
    chosen: dict[str, Any] = {
        option.in_python: tuple(value) if isinstance(value, list) else value
        for option, value in named
        if option is not None and option.in_python
    }
    if "reduce" in chosen:
        chosen["reduce"] = _reductions(chosen["reduce"])
    if "define" in chosen:
        chosen["define"] = _definitions(chosen["define"])
    if progress is not None and progress.active:
        chosen["progress"] = progress
        progress.begin()
    return chosen


def without(keywords: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The keywords but for one that is said in another way."""
    return {known: value for known, value in keywords.items() if known != name}


def _reductions(text: str) -> tuple[str, ...]:
    from memfence.tasks.task import ALL_REDUCTIONS

    if text in ("all", "none"):
        return ALL_REDUCTIONS if text == "all" else ()
    chosen = tuple(name.strip() for name in text.split(","))
    for name in chosen:
        if name not in ALL_REDUCTIONS:
            known = ", ".join(ALL_REDUCTIONS)
            raise typer.BadParameter(
                f"`{name}` is no reduction; use all, none or some of {known}", param_hint="--reduce"
            )
    return tuple(name for name in ALL_REDUCTIONS if name in chosen)


def _definitions(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    for text in texts:
        if "=" not in text:
            raise typer.BadParameter(f"`{text}` is not NAME=EXPR", param_hint="--define")
    return tuple((name.strip(), meaning) for name, _, meaning in (text.partition("=") for text in texts))
