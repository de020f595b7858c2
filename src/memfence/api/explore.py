"""`memfence.explore` and `memfence.replay`: SC executions one by one, and schedules that were saved."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import Source, read_program, understand
from memfence.deadline import Deadline
from memfence.execution.schedule import Replayable, read_schedules
from memfence.pipeline import read_source
from memfence.questions.explore import ExploreOptions, ExploreResult
from memfence.questions.explore import explore as ask

if TYPE_CHECKING:
    from memfence.api.typed import ExploreKeywords, ReplayKeywords


def explore(source: Source, options: ExploreOptions | None = None, **typed: Unpack[ExploreKeywords]) -> ExploreResult:
    """Run SC executions of the program and monitor each: does an assertion fail, is one borderline for store buffers?

    Keywords are the fields of `ExploreOptions`, and how to read the program. TimeUp where the time is up before runs
    that were found could be replayed: there is no verdict without that.
    """
    keywords = dict[str, Any](typed)
    asked = options or ExploreOptions()
    own = {one.name for one in fields(ExploreOptions)}
    usage = understand("explore", source, keywords, known=own)
    given = keywords.pop("deadline", asked.deadline)
    deadline = given or Deadline(keywords.get("timeout_seconds", asked.timeout_seconds))
    program = read_program(source, keywords, deadline, usage)
    with deadline.enforced():
        return ask(program, replace(asked, **keywords, deadline=deadline))


def replay(
    source: Source, schedule: str | Path, *, timeout_seconds: float | None = None, **typed: Unpack[ReplayKeywords]
) -> tuple[Replayable, ...]:
    """The runs that a saved schedule holds, replayed on the program. InputError if one is not a run of it.

    TimeUp where the time is up before.
    """
    keywords = dict[str, Any](typed)
    usage = understand("explore", source, keywords)
    deadline = Deadline(timeout_seconds)
    program = read_program(source, keywords, deadline, usage)
    with deadline.enforced():
        return read_schedules(program, read_source(schedule))
