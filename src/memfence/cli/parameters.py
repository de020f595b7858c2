"""The options of the table as parameters of typer."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from enum import Enum, StrEnum
from typing import Any

import typer

from memfence.cli import completion
from memfence.cli.quantities import quantity_of
from memfence.verbs.option import Option
from memfence.verbs.usage import is_more_than_absence


def parameter_of(option: Option) -> inspect.Parameter:
    """What typer reads from the command line for this option."""
    settings: dict[str, Any] = {"help": option.help, "show_default": option.shows_default}
    if option.metavar is not None:
        settings["metavar"] = option.metavar
    if option.unit is not None:
        settings["parser"] = quantity_of(option, option.unit)
    elif option.kind in (int, float):
        settings |= {"min": option.least, "max": option.most}
    if option.kind is float:
        settings["callback"] = _number
    if option.never:
        settings["callback"] = _refusing(option.never)
    if option.completed:
        settings["autocompletion"] = getattr(completion, option.completed)
    shown: Any
    if option.is_argument:
        shown = typer.Argument(option.default, **settings)
    else:
        flags = option.flags or (option.flag,)
        shown = typer.Option(option.default, *flags, hidden=bool(option.never), **settings)
    only_named = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(option.name, only_named, default=shown, annotation=kind_of(option))


def kind_of(option: Option) -> Any:
    """The type of what typer hands over."""
    kind: Any = _words(option) if option.choices else option.kind
    kind = list[kind] if option.repeats else kind
    return kind | None if option.default is None else kind


def _words(option: Option) -> Any:
    return StrEnum(option.name, {word.replace("-", "_"): word for word in option.choices})


def _number(value: float | None) -> float | None:
    """Refuse what is between all bounds because it is no number."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter(f"{value} is not a number")
    return value


def _refusing(reason: str) -> Callable[[Any], Any]:
    def refuse(value: Any) -> Any:
        if is_more_than_absence(value):
            raise typer.BadParameter(reason)
        return value

    return refuse


def plain(value: Any) -> Any:
    """What was typed, without typer's types."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.value if isinstance(value, Enum) else value
