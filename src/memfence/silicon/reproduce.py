"""See the bug happen: the outcome that must not be, looked for on the processor at hand."""

from __future__ import annotations

import errno
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from memfence.output_files import CannotWrite, make_folders, write_file
from memfence.program.expressions import negate
from memfence.program.ir import Final, Program
from memfence.questions import check
from memfence.records import Record
from memfence.silicon.from_run import experiment_of_run
from memfence.silicon.harness import Experiment, render_harness
from memfence.silicon.machine import Counted, build, processors, run
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult


class Seen(StrEnum):
    """Whether the processor did what the model allows."""

    SEEN = "seen"
    NOT_SEEN = "not_seen"
    NEVER = "holds"
    """The model does not allow it: there is nothing to look for."""
    UNKNOWN = "unknown"


class Reproduction(Record):
    """`allowed`: what the model says; `counted` and `text`, the C file, are there where something was run."""

    verdict: Seen
    allowed: CheckResult
    experiment: Experiment | None = None
    text: str | None = None
    counted: Counted | None = None
    processors: int = 0


USUAL, LONGEST = 10.0, 3600.0
"""Seconds."""


MADE_BY_US = b"Built with: cc -O2 -pthread. Run with: ./a.out SECONDS"
"""What stands at the head of a test."""


class StressOptions(Record):
    """How long to look, `runs` (0: any) instances at the most. `emit`: keep the C file there. `plain`: one strategy.

    Without `seconds`, as long as the runs take, or ten seconds where any number will do.
    """

    seconds: float | None = None
    runs: int = 0
    seed: int = 1
    emit: Path | None = None
    plain: bool = False

    @property
    def limit(self) -> float:
        return self.seconds if self.seconds is not None else LONGEST if self.runs else USUAL


def reproduce(program: Program, options: CheckOptions, stress: StressOptions) -> Reproduction:
    """Find a violation under the model, and look for it on the processor.

    A litmus test is run as it is, and its condition looked for. Of any other program the accesses of the run that was
    found are made again: where they read the same values, the program would have gone the same way.
    """
    final = next((stated for stated in program.properties if isinstance(stated, Final) and stated.observed), None)
    allowed = check(program, options)
    if final is not None and options.forbid == () and options.invariant == () and options.final == ():
        wanted = negate(final.expr) if final.quantifier == "forall" else final.expr
        experiment = Experiment(program, final.observed, wanted)
    elif allowed.verdict is not Verdict.VIOLATED or allowed.trace is None:
        return Reproduction(Seen.NEVER if allowed.verdict is Verdict.HOLDS else Seen.UNKNOWN, allowed)
    else:
        experiment = experiment_of_run(allowed.trace)
    text = render_harness(experiment, title(program))
    counted = stressed(text, program.name, stress)
    verdict = Seen.SEEN if counted.wanted else Seen.NOT_SEEN
    return Reproduction(verdict, allowed, experiment, text, counted, processors())


def title(program: Program) -> str:
    return f"{program.source.path or program.name}, for the processor at hand: written by memfence."


def _refuse_another(source: Path) -> None:
    """CannotWrite where another file than one of these tests has the name."""
    if source.is_file() and MADE_BY_US not in source.read_bytes()[:2_000]:
        raise CannotWrite(errno.EEXIST, "it is there already, and is no test that was written here", str(source))


def stressed(text: str, name: str, stress: StressOptions) -> Counted:
    """Build the C file and run it; it stays in `emit`, if that is given."""
    with TemporaryDirectory(prefix="memfence-") as folder:
        kept = Path(folder) if stress.emit is None else stress.emit
        make_folders(kept)
        stem = "".join(c if c.isalnum() or c in "-_+" else "_" for c in Path(name).stem) or "test"
        source = kept / f"{stem}.c"
        _refuse_another(source)
        write_file(source, text.encode("utf-8"))
        build(source, Path(folder) / "stress")
        return run(Path(folder) / "stress", stress.limit, stress.seed, stress.runs, plain=stress.plain)
