"""`memfence.check`: does the program still work under the memory model?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import Source, options_for, read_program, understand
from memfence.api.model import Model
from memfence.api.values import refuse_word
from memfence.deadline import Deadline, TimeUp
from memfence.program.ir import Program
from memfence.questions import check as ask
from memfence.questions.plain_races import races_of
from memfence.questions.shortening import shortened
from memfence.questions.unbounded_threads import for_any_number
from memfence.questions.vacuity import vacuity_of
from memfence.records import Record
from memfence.source import SourceText
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Limit
from memfence.tasks.limits import Cost, Limits, Stop
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult, stats_of
from memfence.verbs.models import BY_STATES, has_runs

if TYPE_CHECKING:
    from memfence.api.typed import CheckKeywords


class Asked(Record):
    """One question: the program, the options with their time running, and the answer. `is_unread`: the time was up
    before anything was known."""

    program: Program
    options: CheckOptions
    result: CheckResult
    is_unread: bool = False


def check(
    source: Source,
    options: CheckOptions | None = None,
    *,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[CheckKeywords],
) -> CheckResult | Any:
    """A proof that the program works, or a run that shows why not.

    `source` is a path, a text or a loaded program. Keywords are the fields of `CheckOptions`, on top of `options`:
    `model="pso"`, `criterion="robust"`, `forbid="P0@cs && P1@cs"`, `timeout_seconds=10`; and how to read the program:
    `language`, `int_bits`, `split_reads`. InputError for a program or property that cannot be read, ValueError for
    options that make no sense. The time limit covers reading. `given`: all that was typed, where the command line asks.

    `model="rc11"`, `"NAME.cat"` or a list, `"x86,rc11,armv8"`: the `ModelsResult` of `check_models`.
    """
    keywords = dict[str, Any](typed)
    if not has_runs(keywords.get("model"), keywords.get("engine") or (options and options.engine)):
        from memfence.api.several_models import check_models

        keywords = with_fields(options, keywords)
        models = keywords.pop("model", None) or CheckOptions().model
        return check_models(source, models, given=given, **keywords)
    return asked(source, options, keywords, given=given).result


def asked(
    source: Source, options: CheckOptions | None, keywords: dict[str, Any], *, given: Mapping[str, Any] | None
) -> Asked:
    """The answer with what it is about: what else is to be done with it goes by the same clock."""
    named = with_states(keywords, options)
    usage = understand("check", source, keywords, options, models=(BY_STATES[named],), given=given)
    deadline = Deadline(keywords.get("timeout_seconds", None if options is None else options.timeout_seconds))
    try:
        program = read_program(source, keywords, deadline, usage, for_any_number=True)
        with deadline.enforced():
            question = options_for(CheckOptions, program, options, keywords, deadline, usage)
            result = _with_explanations(program, for_any_number(program, ask(program, question), question), question)
            return Asked(program, question, replace(result, asked_model=other_name(named)))
    except TimeUp:
        program, question = unread_program(source), replace(options or CheckOptions(), deadline=deadline)
        result = replace(_unread(program, question, keywords), asked_model=other_name(named))
        return Asked(program, question, result, is_unread=True)


def with_fields(options: CheckOptions | None, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords, with what the options say besides."""
    if options is None:
        return dict(keywords)
    usual = type(options)()
    said = {one.name: getattr(options, one.name) for one in fields(options)}
    return {name: value for name, value in said.items() if value != getattr(usual, name)} | dict(keywords)


def with_states(keywords: dict[str, Any], options: CheckOptions | None = None) -> str:
    """The name that the model is asked by, which has states; x86 becomes TSO among the keywords.

    ValueError for other models.
    """
    named = keywords.get("model") or ("tso" if options is None else options.model)
    if named not in BY_STATES:
        refuse_word("model", named, tuple(BY_STATES))
    if "model" in keywords:
        keywords["model"] = BY_STATES[named]
    return str(named)


def other_name(named: str) -> str:
    """The name, where the model that answers has another one."""
    return "" if BY_STATES[named] == named else named


def _with_explanations(program: Program, result: CheckResult, options: CheckOptions) -> CheckResult:
    """The result with a shorter run, vacuity warnings and races; where Ctrl-C comes, what is there by then.

    Races are those of the program as it was read: the one that was searched has steps of its own for awaits.
    """
    try:
        result = shortened(result, options)
        races = races_of(program, result.limits)
        return replace(result, vacuity=vacuity_of(result, options), races=races)
    except KeyboardInterrupt:
        return result


def _unread(program: Program, options: CheckOptions, keywords: Mapping[str, Any]) -> CheckResult:
    """The time was up before there was a program to ask about, or before anything was known of it."""
    criterion = Criterion(keywords.get("criterion") or options.criterion or Criterion.SAFETY)
    answer = Answer(Verdict.UNKNOWN, Limit(Stop.TIMEOUT, 0), "none", Cost())
    model = keywords.get("model") or options.model
    limits = Limits(deadline=options.limits.deadline)
    return CheckResult(program, model, criterion, (), answer, limits, stats_of(answer.cost))


def unread_program(source: Source) -> Program:
    """What is known of a program that was not read: what it is called."""
    if isinstance(source, Program):
        return source
    source = source.source if isinstance(source, Model) else source
    name = source.path if isinstance(source, SourceText) else "<stdin>" if str(source) == "-" else str(source)
    return Program(name, (), (), source=SourceText(name, ""))
