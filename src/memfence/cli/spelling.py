"""Commands for typer: what a command declares by name and type, spelled out by the table of options.

A command lists the options that it reads among its parameters; all else about them is in the table. Groups among the
parameters are spelled out option by option, and handed over filled in. `Output` is a group that every verb fills with
those of its options that are about printing and reports.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

from memfence.cli.output import PRINTED, Output
from memfence.cli.parameters import parameter_of, plain
from memfence.cli.places import refuse_overwriting
from memfence.report.formats.table import FORMATS
from memfence.verbs.options import option_of, options_of

Called = Callable[..., None]


def spelled_out(command: Called, name: str) -> Called:
    """The command for typer: with one parameter for each option of the verb called `name`."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if _is_group(kind)}
    own = [
        _parameter(name, parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY))
        for parameter in inspect.signature(command).parameters.values()
        if parameter.name not in groups
    ]
    shown = [*own, *(parameter for group in groups.values() for parameter in _parameters(name, group))]
    shown += [parameter_of(option) for option in options_of(name) if option.never]

    @wraps(command)
    def called(**values: Any) -> None:
        values = {name: plain(value) for name, value in values.items()}
        refuse_overwriting(shown, values)
        filled = {name: _filled(group, values) for name, group in groups.items()}
        command(**{name: value for name, value in values.items() if name in hints}, **filled)

    vars(called)["__signature__"] = inspect.Signature(shown)
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in shown}
    return called


def _parameter(verb: str, declared: inspect.Parameter) -> inspect.Parameter:
    """As the table has it; what it does not have, such as the file, as it is declared."""
    option = option_of(verb, declared.name)
    return declared if option is None else parameter_of(option)


def _is_group(kind: Any) -> bool:
    return isinstance(kind, type) and is_dataclass(kind)


def _parameters(verb: str, group: Any) -> Iterator[inspect.Parameter]:
    if group is Output:
        known = (option_of(verb, name) for name in (*PRINTED, *(form.name for form in FORMATS)))
        yield from (parameter_of(option) for option in known if option is not None)
        return
    hints = get_type_hints(group, include_extras=True)
    for one in fields(group):
        kind = hints[one.name]
        if _is_group(kind):
            yield from _parameters(verb, kind)
        else:
            declared = inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
            yield _parameter(verb, declared)


def _filled(group: Any, values: dict[str, Any]) -> Any:
    if group is Output:
        places = {form.name: values[form.name] for form in FORMATS if form.name in values}
        return Output(**{name: bool(values.get(name)) for name in PRINTED}, places=places)
    hints = get_type_hints(group)
    return group(
        **{
            one.name: _filled(hints[one.name], values) if _is_group(hints[one.name]) else values[one.name]
            for one in fields(group)
        }
    )
