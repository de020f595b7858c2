"""From what was typed to the keywords of the Python API: the same names, and only what was typed."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

import typer

from memfence.cli.progress import ProgressLine

SHORTER = {"timeout": "timeout_seconds", "memory": "memory_megabytes"}
"""Where the option is shorter than the keyword."""
NAMES = {**SHORTER, "every": "all"}
"""Where the parameter has another name than the keyword."""


def typed(context: typer.Context) -> dict[str, Any]:
    """Every parameter that stood on the command line, even with its default value, by its name."""
    return {name: value for name, value in context.params.items() if _was_typed(context, name)}


def _was_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def keywords_of(context: typer.Context, progress: ProgressLine, *, but: Iterable[str] = ()) -> dict[str, Any]:
    """The typed options as keywords of the API, but for those that only the command line has."""
    left_out = {*but, "file", "place", "json", "html", "sarif", "junit", "quiet", "verbose"}
    chosen = {NAMES.get(name, name): _plain(value) for name, value in typed(context).items() if name not in left_out}
    if "reduce" in chosen:
        chosen["reduce"] = _reductions(chosen["reduce"])
    if "define" in chosen:
        chosen["define"] = _definitions(chosen["define"])
    if progress.active:
        chosen["progress"] = progress
    return chosen


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else tuple(map(_plain, value)) if isinstance(value, list) else value


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
