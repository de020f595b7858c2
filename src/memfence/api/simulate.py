"""`memfence.simulate`: a run that somebody chooses step by step."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import Source, read_program, understand
from memfence.deadline import Deadline
from memfence.execution.schedule import read_schedules
from memfence.models.spec import SPECS, TSO, ModelName
from memfence.pipeline import read_source
from memfence.simulation.walk import NotPossible, Walk, begin
from memfence.tasks.usage import WrongUsage

if TYPE_CHECKING:
    from memfence.api.typed import SimulateKeywords


def simulate(
    source: Source,
    model: ModelName | None = None,
    *,
    start: int = 0,
    every_step: bool = False,
    replay: str | Path | None = None,
    timeout_seconds: float | None = None,
    **typed: Unpack[SimulateKeywords],
) -> Walk:
    """A walk that has not begun: `choices` are the steps that are possible, `choose(1)` takes the first of them.

    `start`: the number of the initial state, where there are several. `every_step`: in C, stop before steps that only
    compute, too. `replay`: begin with the run of a saved schedule, and under its model. The time limit is about reading
    the program.
    """
    keywords = dict[str, Any](typed)
    besides = {"model": model, "start": start or None, "every_step": every_step, "replay": replay}
    usage = understand("simulate", source, keywords, besides={**besides, "timeout_seconds": timeout_seconds})
    program = read_program(source, keywords, Deadline(timeout_seconds), usage)
    quiet = program.language == "c" and not every_step
    if replay is not None:
        trace = read_schedules(program, read_source(replay))[0].trace
        walk = Walk(program, trace.memory_model, trace.start, skips_quiet=quiet)
        return walk.follow([taken.step for taken in trace.steps])
    try:
        return begin(program, (TSO if model is None else SPECS[model]).definition, start, skips_quiet=quiet)
    except NotPossible as problem:
        raise WrongUsage("start", str(problem)) from None
