"""What every verb takes: a program in any form, properties as text, options as keywords.

A verb begins with `understand`, which refuses keywords that mean nothing, reads the program by `read_program`, and puts
keywords and options together by `options_for`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from memfence.api.model import Model
from memfence.api.values import refuse_seconds, refuse_unknown, refuse_values, said_in, spell_out
from memfence.deadline import Deadline
from memfence.diagnostics import Diagnostic, InputError
from memfence.failures import Allow, allowed_words
from memfence.pipeline import load, load_text, read_standard_input
from memfence.program.expressions import FALSE, Expr
from memfence.program.ir import Final, Forbidden, Invariant, Ltl, Program
from memfence.program.load_options import COptions, LoadOptions
from memfence.program.text.properties import parse_expression
from memfence.questions.conflicts import needs_fixed_number, refuse_other_processors, refuse_other_questions
from memfence.source import SourceText
from memfence.tasks.options import CheckOptions, criterion_to_check
from memfence.tasks.usage import WrongUsage
from memfence.verbs.models import models_in
from memfence.verbs.refusal import refuse_unused
from memfence.verbs.usage import Usage

STANDARD_INPUT = "-"
STATING = ("forbid", "invariant", "final", "ltl", "deadlock", "criterion")
"""Keywords that say what is asked, in place of what the program states."""

Source = Program | Model | SourceText | str | Path
"""A loaded program, one that was written in Python, a text, or the path of a file (`-`: standard input).

A string is a text, and no path, if it has a line break, or a brace and no file of that name exists.
"""

FOR_C = tuple(one.name for one in fields(COptions) if one.name != "deadlock")
LOADING = (*(one.name for one in fields(LoadOptions) if one.name != "c"), *FOR_C)
"""Keywords that say how to read the program; they make no sense for one that is loaded already."""
OptionsT = TypeVar("OptionsT", bound=CheckOptions)


def understand(
    verb: str,
    source: Source,
    keywords: dict[str, Any],
    options: CheckOptions | None = None,
    *,
    models: tuple[str, ...] = (),
    given: Mapping[str, Any] | None = None,
    besides: Mapping[str, Any] | None = None,
    known: Iterable[str] = (),
) -> Usage:
    """What is asked of the verb, before anything is read. ValueError for keywords that are none or mean nothing here.

    Names of the command line become those of the fields; what a program that was written in Python states is added,
    unless the caller asks for something else. `given`: what was typed, where the command line asks. `besides`: what the
    verb takes by itself; `known`: keywords that only its Python function has.
    """
    spell_out(keywords)
    everything = {**keywords, **(besides or {})}
    refuse_unknown(verb, everything, besides=known)
    refuse_values(verb, everything)
    said = said_in(verb, everything, options) if given is None else given
    usage = Usage(verb=verb, said=said, models=models, files=_files(source, keywords))
    refuse_unused(usage)
    if isinstance(source, Model) and not any(name in keywords for name in STATING):
        keywords.update(source.properties)
    return usage


def _files(source: Source, keywords: Mapping[str, Any]) -> tuple[str, ...]:
    """Those of the program, as far as it consists of files."""
    is_path = isinstance(source, Path) or (isinstance(source, str) and not _is_text(source))
    path = source.path if isinstance(source, SourceText) else str(source) if is_path else ""
    return (path, *(keywords.get("also") or ())) if path else ()


def read_program(
    source: Source,
    keywords: dict[str, Any],
    deadline: Deadline,
    usage: Usage | None = None,
    *,
    for_any_number: bool = False,
    for_every_processor: bool = False,
) -> Program:
    """The program that `source` stands for; takes the keywords about loading out of `keywords`.

    InputError if it is no program, has any number of threads and the verb is not `for_any_number`, or is assembly that
    no model with store buffers knows and the verb is not `for_every_processor`. WrongUsage for what the `usage` says
    and its language does not know. TimeUp if reading it takes too long.
    """
    program = _read(source, keywords, deadline)
    if usage is not None:
        refuse_unused(replace(usage, program=program))
    if not for_every_processor:
        refuse_other_processors(program)
    if program.any_number and not for_any_number:
        raise InputError([needs_fixed_number(program, "this")])
    return program


def read_for_models(
    verb: str,
    source: Source,
    models: str | Sequence[str],
    keywords: dict[str, Any],
    *,
    unroll: int | None,
    given: Mapping[str, Any] | None,
) -> tuple[tuple[str, ...], Program, Usage, Deadline]:
    """The names of the models, and the program that is asked about under all of them; time runs from here on."""
    names = models_in(models)
    usage = understand(verb, source, keywords, models=names, given=given, besides={"unroll": unroll})
    deadline = Deadline(keywords.get("timeout_seconds"))
    return names, read_program(source, keywords, deadline, usage, for_every_processor=True), usage, deadline


def _read(source: Source, keywords: dict[str, Any], deadline: Deadline) -> Program:
    how = {name: keywords.pop(name) for name in LOADING if name in keywords}
    if isinstance(source, Program):
        if any(value not in (None, False, ()) for value in how.values()):
            raise WrongUsage(next(iter(how)), "the program is loaded already")
        return source
    for_c = {name: how.pop(name) for name in FOR_C if name in how}
    if for_c.get("allow") is not None:
        for_c["allow"] = allowed(for_c["allow"])
    with deadline.enforced(grace=0):
        return _loaded(source, LoadOptions(**how, c=COptions(**for_c)))


def allowed(words: str | Iterable[str]) -> tuple[Allow, ...]:
    """The words of `allow`, as a text with commas or one by one; ValueError for others."""
    try:
        return allowed_words(words if isinstance(words, str) else ",".join(words))
    except ValueError as error:
        raise WrongUsage("allow", str(error)) from None


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


def options_for(
    kind: type[OptionsT],
    program: Program,
    options: OptionsT | None,
    keywords: Mapping[str, Any],
    deadline: Deadline,
    usage: Usage | None = None,
) -> OptionsT:
    """`options` with `keywords` on top, where properties may be texts. ValueError for what means nothing together."""
    changes = {name: value for name, value in keywords.items() if value is not None}
    changes |= _properties(program, changes)
    base = kind() if options is None else options
    asked = replace(base, **changes, deadline=base.deadline or deadline)
    refuse_seconds(asked.timeout_seconds)
    if usage is not None:
        refuse_question(program, asked, usage)
    return asked


def refuse_question(program: Program, asked: CheckOptions, usage: Usage) -> None:
    """ValueError for options beside the question that they ask, InputError for a question that has no answer."""
    if program.any_number:
        refuse_other_questions(program, criterion_to_check(program, asked), asked)
    refuse_unused(replace(usage, program=program, options=asked))


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
