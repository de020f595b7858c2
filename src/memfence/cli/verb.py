"""A verb of the command line: its line in the list of commands, an example, and its options, by groups.

Groups among the parameters of a command are spelled out for typer, option by option, and handed over filled in.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from memfence.cli.app import app
from memfence.cli.unproved import REASONS, refused_verify

Command = Callable[..., None]


def verb(summary: str | None = None, *, example: str, **settings: Any) -> Callable[[Command], Command]:
    """Add a command; without a summary, the first line of its docstring is one. `settings` are those of typer."""

    def added(command: Command) -> Command:
        shown = app.command(short_help=summary, epilog=f"Example: memfence {example}", **settings)
        return shown(_spelled_out(command, settings.get("name") or command.__name__))

    return added


def _spelled_out(command: Command, name: str) -> Command:
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if _is_group(kind)}
    own = [
        parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in inspect.signature(command).parameters.items()
        if name not in groups
    ]
    shown = [*own, *(parameter for group in groups.values() for parameter in _parameters(group))]
    if name in REASONS:
        shown.append(refused_verify(name))

    @wraps(command)
    def called(**values: Any) -> None:
        filled = {name: _filled(group, values) for name, group in groups.items()}
        command(**{name: value for name, value in values.items() if name in hints}, **filled)

    vars(called)["__signature__"] = inspect.Signature(shown)
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return called


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and is_dataclass(kind)


def _parameters(group: Any) -> Iterator[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    for one in fields(group):
        kind = hints[one.name]
        if _is_group(kind):
            yield from _parameters(kind)
        else:
            yield inspect.Parameter(
                one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name]
            )


def _filled(group: Any, values: dict[str, Any]) -> Any:
    hints = get_type_hints(group)
    return group(
        **{
            one.name: _filled(hints[one.name], values) if _is_group(hints[one.name]) else values[one.name]
            for one in fields(group)
        }
    )
