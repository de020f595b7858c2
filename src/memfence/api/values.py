"""The keywords of the Python API against the table of options: names, types, ranges and words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import ALL_REDUCTIONS
from memfence.tasks.usage import WrongUsage
from memfence.verbs.option import Option
from memfence.verbs.options import by_keyword, options_of
from memfence.verbs.usage import is_more_than_absence

ONLY_IN_PYTHON = frozenset({"progress", "deadline", "forced_include", "overflow"})
"""Keywords that no command has: they take Python's own values."""


def spell_out(keywords: dict[str, Any]) -> None:
    """Names of the command line become those of the fields: both are good."""
    for short, name in SHORTER.items():
        if short in keywords:
            keywords[name] = keywords.pop(short)


SHORTER = {
    option.name: option.in_python
    for option in options_of("check")
    if option.in_python and option.in_python.startswith(f"{option.name}_")
}
"""Where the option is shorter than the keyword, which names its unit."""


def refuse_unknown(verb: str, keywords: Mapping[str, Any], *, besides: Iterable[str] = ()) -> None:
    """ValueError, with the nearest one, for a keyword that the verb does not have."""
    known = {*by_keyword(verb), *ONLY_IN_PYTHON, *besides}
    for name in keywords:
        if name not in known:
            from difflib import get_close_matches  # only for mistakes: importing it takes a while

            near = get_close_matches(name, sorted(known), n=1)
            raise WrongUsage(name, "there is no such option" + (f"; did you mean {near[0]}?" if near else ""))


def refuse_values(verb: str, keywords: Mapping[str, Any]) -> None:
    """ValueError, with what is allowed, for a value that the option cannot have; None is as if it were not given."""
    rows = by_keyword(verb)
    for name, value in keywords.items():
        if name in rows and value is not None:
            _refuse_value(rows[name], name, value)
    unknown = [name for name in keywords.get("reduce") or () if name not in ALL_REDUCTIONS]
    if unknown:
        raise WrongUsage("reduce", f"`{unknown[0]}` is no reduction; use some of {', '.join(ALL_REDUCTIONS)}")


def _refuse_value(option: Option, name: str, value: Any) -> None:
    if option.choices:
        for one in value if option.repeats and not isinstance(value, str) else (value,):
            refuse_word(name, one, option.choices)
    elif option.kind in (int, float):
        _refuse_number(option, name, value)
    elif option.kind is bool and not isinstance(value, bool):
        raise WrongUsage(name, f"{value!r} is neither True nor False")


def refuse_word(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    """ValueError for what is not one of the words."""
    if value not in allowed:
        raise WrongUsage(name, f"{value!r} is not one of {', '.join(map(repr, allowed))}")


def _refuse_number(option: Option, name: str, value: Any) -> None:
    what = "a number of seconds" if name.endswith("_seconds") else "a number"
    kinds = (int,) if option.kind is int else (int, float)
    least, most = option.least or 0, option.most or 0
    if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
        raise WrongUsage(name, f"{value!r} is not {what} from {least} to {most}")


def refuse_seconds(seconds: Any) -> None:
    """ValueError for a time limit that is none, wherever it comes from."""
    if seconds is not None and not (isinstance(seconds, int | float) and 0 <= seconds < float("inf")):
        raise WrongUsage("timeout_seconds", f"{seconds!r} is not a number of seconds")


def criterion_named(name: Criterion | str) -> Criterion:
    """The criterion; ValueError with the allowed ones for a word that is none."""
    refuse_word("criterion", name, tuple(one.value for one in Criterion))
    return Criterion(name)


def said_in(verb: str, keywords: Mapping[str, Any], options: CheckOptions | None) -> dict[str, Any]:
    """What keywords and options say, by the names of the table; what is False or empty is not said."""
    rows = by_keyword(verb)
    said = {**({} if options is None else _changed(options)), **keywords}
    return {rows[name].name: value for name, value in said.items() if name in rows and is_more_than_absence(value)}


def _changed(options: CheckOptions) -> dict[str, Any]:
    """The fields that differ from what they are in options that say nothing."""
    usual = type(options)()
    names = (one.name for one in fields(options) if one.compare)
    return {name: getattr(options, name) for name in names if getattr(options, name) != getattr(usual, name)}
