"""Several programs at a time, one job for each, on the machines of a cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from memfence.api.check import check, unread_program, with_states
from memfence.api.inputs import read_program, understand
from memfence.cluster.jobs import JobLost, each
from memfence.deadline import Deadline
from memfence.diagnostics import InputError
from memfence.program.ir import Program
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Limit
from memfence.tasks.limits import Cost, Limits, Stop
from memfence.tasks.result import CheckResult, stats_of

Job = tuple[Program, dict[str, Any]]


def check_each(
    files: Sequence[Path], address: str, keywords: dict[str, Any]
) -> Generator[CheckResult | InputError, None, None]:
    """What `check` says about each of the files, in their order, or why one cannot be read.

    Programs are read on this machine, where their files are.
    """
    told = {name: value for name, value in keywords.items() if name not in ("cluster", "progress")}
    read = [_read(file, dict(told)) for file in files]
    with closing(each(address, _checked, [one for one in read if not isinstance(one, InputError)])) as answers:
        for file, one in zip(files, read, strict=True):
            answer = one if isinstance(one, InputError) else next(answers)
            yield _lost(file) if isinstance(answer, JobLost) else answer


def _read(file: Path, keywords: dict[str, Any]) -> Job | InputError:
    try:
        usage = understand("check", file, keywords, models=(with_states(keywords),))
        program = read_program(file, keywords, Deadline(), usage, for_any_number=True)
    except InputError as error:
        return error
    return program, keywords


def _checked(job: Job) -> CheckResult | InputError:
    """On another machine. Runs to final states stay there."""
    program, keywords = job
    try:
        result = check(program, **keywords)
    except InputError as error:
        return error
    return replace(result, answer=replace(result.answer, final_states=()), limits=replace(result.limits, cancel=None))


def _lost(file: Path) -> CheckResult:
    answer = Answer(Verdict.UNKNOWN, Limit(Stop.LOST, 0), "none", Cost())
    return CheckResult(unread_program(file), "tso", Criterion.SAFETY, (), answer, Limits(), stats_of(answer.cost))
