"""Schedules of `memfence run`, saved and run again: the same steps, in the same order."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.questions.run_result import RunOptions, RunResult
from memfence.records import Record
from memfence.running.build import Sources, build_program, is_source
from memfence.running.gdb import run_in_gdb
from memfence.running.inputs import refusal, require_readable, require_runtime
from memfence.running.places import Names
from memfence.running.process import run_process
from memfence.running.records import Replayed
from memfence.running.schedule_file import SavedSchedule, read_schedule, replay_options, schedule_text
from memfence.running.steps import ProgramStep, named_steps
from memfence.source import SourceText


def schedules(result: RunResult) -> Iterator[tuple[str, str]]:
    """Each finding of the result as a file for `replay`: its name and its text."""
    for number, finding in enumerate(result.findings, 1):
        shown = finding.confirmation if finding.is_confirmed else None
        steps = finding.schedule if shown is None else shown.schedule
        kind = finding.kind if shown is None else f"borderline, confirmed ({shown.kind})"
        saved = SavedSchedule(
            kind, steps, finding.layout or result.layout, result.files, result.options.arguments,
            finding.is_buffered or shown is not None,
        )  # fmt: skip
        yield f"{number:03d}-{finding.cause.replace(' ', '-')}.json", schedule_text(saved)


class ReplayedRun(Record):
    """A saved schedule, run again."""

    saved: SavedSchedule
    replayed: Replayed
    steps: tuple[ProgramStep, ...]
    waiting: tuple[ProgramStep, ...]


def replay(files: tuple[str, ...], schedule: Path, asked: RunOptions) -> ReplayedRun:
    """Run the schedule again. InputError where it is none, or not one of this program."""
    saved = read_schedule(schedule)
    with _program(files, asked) as program:
        arguments = asked.arguments or saved.arguments
        ran = run_process(program, arguments, replay_options(saved), layout=saved.layout, seconds=asked.timeout_seconds)
        replayed = next((record for record in ran.records if isinstance(record, Replayed)), None)
        if replayed is None or replayed.taken != replayed.of:
            taken = 0 if replayed is None else replayed.taken
            raise _bad_schedule(str(schedule), f"the program cannot take step {taken + 1} of the schedule")
        names = Names(program, saved.layout.load_address)
        return ReplayedRun(saved, replayed, named_steps(replayed.steps, names), named_steps(replayed.waiting, names))


def replay_in_gdb(files: tuple[str, ...], schedule: Path, asked: RunOptions) -> int:
    """The same in gdb, with the terminal. It stops where the program fails. Returns gdb's exit status."""
    saved = read_schedule(schedule)
    gdb = shutil.which("gdb")
    if gdb is None:
        raise refusal("gdb", "there is no `gdb`")
    with _program(files, asked) as program:
        return run_in_gdb(gdb, program, asked.arguments or saved.arguments, saved)


@contextmanager
def _program(names: tuple[str, ...], asked: RunOptions) -> Iterator[Path]:
    require_readable(names)
    if not all(is_source(name) for name in names):
        require_runtime(names[0])
        yield Path(names[0])
        return
    sources = Sources(files=names, macros=asked.macros, include=asked.include, std=asked.std, flags=asked.flags)
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        yield build_program(sources, Path(folder))


def _bad_schedule(path: str, message: str) -> InputError:
    return InputError([Diagnostic(Code.BAD_SCHEDULE, message, Label(SourceText(path, "").span(0, 0)))])
