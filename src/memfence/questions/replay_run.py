"""Schedules of `memfence run`, saved and run again: the same steps, in the same order."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from memfence.binary.build import build_program
from memfence.binary.endings import reading_of_program, reading_options
from memfence.binary.gdb import run_in_gdb
from memfence.binary.inputs import are_texts, refusal, require_readable, require_runtime
from memfence.binary.places import Names
from memfence.binary.process import Options, Replay, run_process
from memfence.binary.records import RawFinding, Replayed
from memfence.binary.schedule_file import SavedSchedule, read_schedule, schedule_text
from memfence.binary.steps import ProgramStep, named_steps
from memfence.codes import Code
from memfence.deadline import TimeUp
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.questions.run_findings import finding_of, leak_finding, leak_of
from memfence.questions.run_result import RunFinding, RunOptions, RunResult
from memfence.records import Record
from memfence.source import SourceText
from memfence.tasks.answer import Verdict


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
    """A saved schedule, run again. `finding`: what the program does wrong when it takes these steps, whatever the file
    says; None: nothing. VIOLATED with one that goes wrong; else UNKNOWN, since other executions were not looked at."""

    files: tuple[str, ...]
    saved: SavedSchedule
    verdict: Verdict
    finding: RunFinding | None
    steps: tuple[ProgramStep, ...]
    waiting: tuple[ProgramStep, ...]


def replay(files: tuple[str, ...], schedule: Path, asked: RunOptions) -> ReplayedRun:
    """Run the schedule again. InputError where it is none, or not one of this program."""
    saved = read_schedule(schedule)
    with _program(files, asked) as program:
        replayed = _replayed(program, saved, schedule, asked)
        names = Names(program, replayed.load_address)
        finding = _finding(replayed, saved, names, asked)
        steps, waiting = named_steps(replayed.steps, names), named_steps(replayed.waiting, names)
        return ReplayedRun(files, saved, _verdict(finding, names), finding, steps, waiting)


def _replayed(program: Path, saved: SavedSchedule, schedule: Path, asked: RunOptions) -> Replayed:
    steps = Replay(saved.schedule, saved.layout)
    arguments = asked.arguments or saved.arguments
    try:
        ran = run_process(
            program, arguments, _options(program, saved, asked), replay=steps, seconds=asked.timeout_seconds
        )
    except OSError as error:
        raise _bad_schedule(str(schedule), f"the program cannot be started as the schedule says: {error}") from None
    if ran.was_killed:
        raise TimeUp(asked.timeout_seconds or 0)
    replayed = next((record for record in ran.records if isinstance(record, Replayed)), None)
    if replayed is None:
        raise _bad_schedule(str(schedule), "the program does not come to the end of the schedule")
    if replayed.taken != replayed.of:
        raise _bad_schedule(str(schedule), f"the program cannot take step {replayed.taken + 1} of the schedule")
    if replayed.has_overlooked:
        raise _bad_schedule(str(schedule), "the threads share memory that the schedule does not know of")
    return replayed


def _options(program: Path, saved: SavedSchedule, asked: RunOptions) -> Options:
    return {"buffers": saved.has_buffers, **reading_options(reading_of_program(program, asked.allow))}


def _finding(replayed: Replayed, saved: SavedSchedule, names: Names, asked: RunOptions) -> RunFinding | None:
    if replayed.kind is not None:
        raw = RawFinding(
            replayed.kind, saved.schedule, replayed.steps, replayed.waiting, 1, replayed.message, replayed.thread,
            replayed.reader,
        )  # fmt: skip
        return replace(finding_of(raw, names), is_buffered=saved.has_buffers)
    return leak_finding(leak_of(replayed.leaks[0], names)) if asked.leaks and replayed.leaks else None


def _verdict(finding: RunFinding | None, names: Names) -> Verdict:
    """As for all executions together: a borderline one is an error of a program that asserts nothing."""
    is_wrong = finding is not None and (finding.is_wrong or (finding.kind == "borderline" and not names.asserts))
    return Verdict.VIOLATED if is_wrong else Verdict.UNKNOWN


def replay_in_gdb(files: tuple[str, ...], schedule: Path, asked: RunOptions) -> int:
    """The same in gdb, with the terminal. It stops where the program fails. Returns gdb's exit status."""
    saved = read_schedule(schedule)
    gdb = shutil.which("gdb")
    if gdb is None:
        raise refusal("gdb", "there is no `gdb`")
    steps = Replay(saved.schedule, saved.layout)
    with _program(files, asked) as program:
        return run_in_gdb(gdb, program, asked.arguments or saved.arguments, _options(program, saved, asked), steps)


@contextmanager
def _program(names: tuple[str, ...], asked: RunOptions) -> Iterator[Path]:
    require_readable(names)
    if not are_texts(names):
        require_runtime(names[0])
        yield Path(names[0])
        return
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        yield build_program(asked.sources(names), Path(folder))


def _bad_schedule(path: str, message: str) -> InputError:
    return InputError([Diagnostic(Code.BAD_SCHEDULE, message, Label(SourceText(path, "").span(0, 0)))])
