"""Which parameters of a command are files that it reads, and which are files that it writes; no file is both.

What is written is marked by its metavariable, so that a new option is known here without a list.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer

WRITTEN = "OUT"
"""The metavariable of an option that names a file to write begins with it."""
READ_TOO = ("model", "include")
"""Options that may name a file, though they are texts: a cat file, a header."""


def refuse_overwriting(shown: Iterable[inspect.Parameter], values: Mapping[str, Any]) -> None:
    """Refuse an output that is an input of the same command, or another output (exit code 2)."""
    parameters = [(parameter, about_of(parameter)) for parameter in shown if values.get(parameter.name) is not None]
    outputs = [(_option(p, about), Path(values[p.name])) for p, about in parameters if is_written(about)]
    if not outputs:
        return
    from memfence.cli.report_files import require_apart

    inputs = [(name, path) for p, about in parameters for name, path in _inputs(p, about, values[p.name])]
    require_apart(inputs, outputs)


def is_written(about: Any) -> bool:
    """Whether the parameter names a file that is written."""
    is_option = not isinstance(about, typer.models.ArgumentInfo)
    return is_option and str(getattr(about, "metavar", None) or "").startswith(WRITTEN)


def about_of(parameter: inspect.Parameter) -> Any:
    described = next(iter(getattr(parameter.annotation, "__metadata__", ())), None)
    is_told = isinstance(parameter.default, typer.models.OptionInfo | typer.models.ArgumentInfo)
    return parameter.default if is_told else described


def _inputs(parameter: inspect.Parameter, about: Any, value: Any) -> Iterator[tuple[str, Path]]:
    is_argument = isinstance(about, typer.models.ArgumentInfo)
    if is_written(about) or not (is_argument or "Path" in str(parameter.annotation) or parameter.name in READ_TOO):
        return
    name = str(about.metavar).strip("[].") if is_argument else _option(parameter, about)
    for one in value if isinstance(value, list | tuple) else (value,):
        text = str(one)
        place, _, line = text.rpartition(":")  # as in `why FILE:LINE`
        yield name.partition("[")[0], Path(place if line.isdecimal() and place else text)


def _option(parameter: inspect.Parameter, about: Any) -> str:
    return max(about.param_decls or (f"--{parameter.name.replace('_', '-')}",), key=len)
