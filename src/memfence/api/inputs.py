"""What every verb takes: a program in any form, properties as text, options as keywords."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from memfence.api.model import Model
from memfence.deadline import Deadline
from memfence.diagnostics import Diagnostic, InputError
from memfence.pipeline import load, load_text, read_standard_input
from memfence.program.expressions import FALSE, Expr
from memfence.program.ir import Final, Forbidden, Invariant, Ltl, Program
from memfence.program.load_options import COptions, LoadOptions
from memfence.program.text.properties import parse_expression
from memfence.questions.conflicts import needs_fixed_number, refuse_other_processors
from memfence.records import Record
from memfence.source import SourceText
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import ALL_REDUCTIONS
from memfence.tasks.usage import WrongUsage

STANDARD_INPUT = "-"
LARGEST_BOUND = 65_535
"""Stores in a buffer: more than any search could follow."""
STATING = ("forbid", "invariant", "final", "ltl", "deadlock", "criterion")
"""Keywords that say what is asked, in place of what the program states."""

Source = Program | Model | SourceText | str | Path
"""A loaded program, one that was written in Python, a text, or the path of a file (`-`: standard input).

A string is a text, and no path, if it has a line break, or a brace and no file of that name exists.
"""

SHORTER = {"timeout": "timeout_seconds", "memory": "memory_megabytes"}
"""Where the option of the command line is shorter than the field: both names are good."""
FOR_C = tuple(one.name for one in fields(COptions) if one.name != "deadlock")
LOADING = (*(one.name for one in fields(LoadOptions) if one.name != "c"), *FOR_C)
"""Keywords that say how to read the program; they make no sense for one that is loaded already."""
OptionsT = TypeVar("OptionsT", bound=CheckOptions)


class Asked(Record):
    """A program with the options that were asked about it; `given` are the names of those that were said."""

    program: Program
    given: frozenset[str]


def read_program(
    source: Source,
    keywords: dict[str, Any],
    deadline: Deadline,
    *,
    for_any_number: bool = False,
    for_every_processor: bool = False,
) -> Program:
    """The program that `source` stands for; takes the keywords about loading out of `keywords`.

    InputError if it is no program, has any number of threads and the verb is not `for_any_number`, or is assembly that
    no model with store buffers knows and the verb is not `for_every_processor`. TimeUp if reading it takes too long.
    """
    program = _read(source, keywords, deadline)
    if not for_every_processor:
        refuse_other_processors(program)
    if program.any_number and not for_any_number:
        raise InputError([needs_fixed_number(program, "this")])
    return program


def _read(source: Source, keywords: dict[str, Any], deadline: Deadline) -> Program:
    how = {name: keywords.pop(name) for name in LOADING if name in keywords}
    if isinstance(source, Program):
        if any(value not in (None, False, ()) for value in how.values()):
            raise WrongUsage(next(iter(how)), "the program is loaded already")
        return source
    for_c = {name: how.pop(name) for name in FOR_C if name in how}
    options = LoadOptions(**how, c=COptions(**for_c))
    with deadline.enforced(grace=0):
        program = _loaded(source, options)
    if options.c.also and program.language != "c":
        raise WrongUsage("also", "only programs in C and C++ consist of several files")
    return program


def _loaded(source: Model | SourceText | str | Path, options: LoadOptions) -> Program:
    if isinstance(source, Model):
        return load_text(source.source, options)
    if isinstance(source, SourceText):
        return load_text(source, options)
    if str(source) == STANDARD_INPUT:
        return load_text(read_standard_input(), options)
    if isinstance(source, str) and _is_text(source):
        return load_text(SourceText("<text>", source), options)
    return load(source, options)


def _is_text(source: str) -> bool:
    return "\n" in source or ("{" in source and not Path(source).exists())


def with_stated(source: Source, keywords: dict[str, Any]) -> None:
    """Add what a program that was written in Python states; what the caller asks for replaces it.

    Names of the command line become those of the fields. ValueError for a time limit that is none: it has to run before
    anything is read.
    """
    spell_out(keywords)
    _refuse_seconds(keywords.get("timeout_seconds"))
    if isinstance(source, Model) and not any(name in keywords for name in STATING):
        keywords.update(source.properties)


def spell_out(keywords: dict[str, Any]) -> None:
    """Names of the command line become those of the fields."""
    for short, name in SHORTER.items():
        if short in keywords:
            keywords[name] = keywords.pop(short)


def criterion_named(name: Criterion | str) -> Criterion:
    """The criterion; ValueError with the allowed ones for a word that is none."""
    if name not in list(Criterion):
        raise WrongUsage("criterion", f"{name!r} is not one of {', '.join(repr(one.value) for one in Criterion)}")
    return Criterion(name)


def refuse_unknown(names: Iterable[str], known: Iterable[str], loading: Iterable[str] = LOADING) -> None:
    """ValueError, with the nearest one, for a keyword that is neither `known` nor about `loading` programs."""
    allowed = sorted({*known, *loading})
    for name in names:
        if name not in allowed:
            from difflib import get_close_matches  # only for mistakes: importing it takes a while

            near = get_close_matches(name, allowed, n=1)
            raise WrongUsage(name, "there is no such option" + (f"; did you mean {near[0]}?" if near else ""))


def options_for(
    kind: type[OptionsT], program: Program, options: OptionsT | None, keywords: Mapping[str, Any], deadline: Deadline
) -> OptionsT:
    """`options` with `keywords` on top: properties may be texts, values are checked against what is allowed."""
    refuse_unknown(keywords, (one.name for one in fields(kind)))
    changes = {name: value for name, value in keywords.items() if value is not None}
    _refuse_values(kind, changes)
    changes |= _properties(program, changes)
    base = kind() if options is None else options
    return replace(base, **changes, deadline=base.deadline or deadline)


def _refuse_values(kind: type[CheckOptions], values: Mapping[str, Any]) -> None:
    """ValueError with the allowed values, where an option takes one of a few."""
    hints = _hints(kind)
    for name, value in values.items():
        allowed = [choice for choice in get_args(hints[name]) if isinstance(choice, str)]
        is_choice = isinstance(value, str) or name == "model"
        if allowed and is_choice and value not in allowed:
            known = f"{value!r} is not one of {', '.join(map(repr, allowed))}"
            hint = "; memfence.check_models asks about others" if name == "model" else ""
            raise WrongUsage(name, known + hint)
    if "criterion" in values:
        criterion_named(values["criterion"])
    bound = values.get("buffer_bound")
    if bound is not None and not 1 <= bound <= LARGEST_BOUND:
        raise WrongUsage("buffer_bound", f"{bound} is not a number from 1 to {LARGEST_BOUND}")
    unknown = [name for name in values.get("reduce", ()) if name not in ALL_REDUCTIONS]
    if unknown:
        raise WrongUsage("reduce", f"`{unknown[0]}` is no reduction; use some of {', '.join(ALL_REDUCTIONS)}")
    _refuse_seconds(values.get("timeout_seconds"))


@cache
def _hints(kind: type[CheckOptions]) -> dict[str, Any]:
    return get_type_hints(kind)


def _refuse_seconds(seconds: float | None) -> None:
    if seconds is not None and not (isinstance(seconds, int | float) and 0 <= seconds < float("inf")):
        raise WrongUsage("timeout_seconds", f"{seconds!r} is not a number of seconds")


def _properties(program: Program, given: Mapping[str, Any]) -> dict[str, Any]:
    """The properties among the keywords, parsed; InputError with the mistakes of all of them."""
    mistakes: list[Diagnostic] = []

    def parsed(text: str, option: str) -> Expr:
        try:
            return parse_expression(text, program, option)
        except InputError as error:
            mistakes.extend(error.diagnostics)
            return FALSE

    found: dict[str, Any] = {}
    if "forbid" in given:
        texts = _several(given["forbid"])
        found["forbid"] = tuple(Forbidden(parsed(t, "--forbid"), t) if isinstance(t, str) else t for t in texts)
    if "invariant" in given:
        texts = _several(given["invariant"])
        found["invariant"] = tuple(Invariant(parsed(t, "--invariant"), t) if isinstance(t, str) else t for t in texts)
    if "final" in given:
        texts = _several(given["final"])
        found["final"] = tuple(Final("forall", parsed(t, "--final"), t) if isinstance(t, str) else t for t in texts)
    if isinstance(given.get("ltl"), str):
        text = given["ltl"]
        found["ltl"] = Ltl("ltl", text, SourceText("--ltl", text).span(0, len(text)))
    if isinstance(given.get("define"), Mapping):
        found["define"] = tuple(given["define"].items())
    if mistakes:
        raise InputError(mistakes)
    return found


def _several(value: Any) -> Iterable[Any]:
    return (value,) if isinstance(value, str | Forbidden | Invariant | Final) else value
