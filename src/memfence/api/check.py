"""`memfence.check`: does the program still work under the memory model?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memfence.api.inputs import Source, options_for, read_program, with_stated
from memfence.api.model import Model
from memfence.deadline import Deadline, TimeUp
from memfence.program.ir import Program
from memfence.questions import check as ask
from memfence.questions.conflicts import refuse_unused
from memfence.questions.doubts import doubts_about
from memfence.questions.plain_races import races_of
from memfence.questions.shortening import shortened
from memfence.questions.unbounded_threads import for_any_number
from memfence.source import SourceText
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Limit
from memfence.tasks.limits import Cost, Limits, Stop
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult, stats_of


def check(source: Source, options: CheckOptions | None = None, **keywords: Any) -> CheckResult:
    """A proof that the program works, or a run that shows why not.

    `source` is a path, a text or a loaded program. Keywords are the fields of `CheckOptions`, on top of `options`:
    `model="pso"`, `criterion="robust"`, `forbid="P0@cs && P1@cs"`, `timeout_seconds=10`; and how to read the program:
    `language`, `int_bits`, `split_reads`. InputError for a program or property that cannot be read, ValueError for
    options that make no sense. The time limit covers reading.
    """
    with_stated(source, keywords)
    seconds = keywords.get("timeout_seconds", None if options is None else options.timeout_seconds)
    deadline = Deadline(seconds)
    given = frozenset(keywords)
    try:
        program = read_program(source, keywords, deadline, for_any_number=True)
        with deadline.enforced():
            asked = options_for(CheckOptions, program, options, keywords, deadline)
            refuse_unused(program, asked, given)
            return _told_in_full(for_any_number(program, ask(program, asked), asked), asked)
    except TimeUp:
        return _unread(source, options or CheckOptions(), keywords, deadline)


def _told_in_full(result: CheckResult, options: CheckOptions) -> CheckResult:
    """The result with a shorter run, doubts and races; where Ctrl-C comes meanwhile, with what is there by then."""
    try:
        result = shortened(result, options)
        races = races_of(result.program, result.limits)
        return replace(result, doubts=doubts_about(result, options), races=races)
    except KeyboardInterrupt:
        return result


def _unread(source: Source, options: CheckOptions, keywords: dict[str, Any], deadline: Deadline) -> CheckResult:
    """The time was up before there was a program to ask about, or before anything was known of it."""
    criterion = Criterion(keywords.get("criterion") or options.criterion or Criterion.SAFETY)
    answer = Answer(Verdict.UNKNOWN, Limit(Stop.TIMEOUT, 0), "none", Cost())
    model = keywords.get("model") or options.model
    return CheckResult(
        unread_program(source), model, criterion, (), answer, Limits(deadline=deadline), stats_of(answer.cost)
    )


def unread_program(source: Source) -> Program:
    """What is known of a program that was not read: what it is called."""
    if isinstance(source, Program):
        return source
    source = source.source if isinstance(source, Model) else source
    name = source.path if isinstance(source, SourceText) else "<stdin>" if str(source) == "-" else str(source)
    return Program(name, (), (), source=SourceText(name, ""))
