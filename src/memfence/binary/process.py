"""The process of the program: started with the runtime told what to do, and read until it ends or is killed."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

from memfence.binary.records import Fault, Layout, RunProgress, RunRecord, read_records
from memfence.deadline import Deadline
from memfence.records import Record

GRACE_SECONDS = 15.0
"""Beyond its limit, a process may still confirm and report what it has found."""
POLL_SECONDS = 0.2
Options = Mapping[str, str | int | float | bool]


class Replay(Record):
    """Steps to take again, and what they refer to."""

    steps: tuple[int, ...]
    layout: Layout


class Ran(Record):
    """What the process reported, how it ended, and what it printed where that was asked for."""

    records: tuple[RunRecord, ...]
    exit_status: int
    was_killed: bool


def run_process(
    program: Path,
    arguments: Sequence[str],
    options: Options,
    *,
    replay: Replay | None = None,
    seconds: float | None = None,
    progress: Callable[[RunProgress], object] | None = None,
    shows_output: bool = False,
    stop: Event | None = None,
) -> Ran:
    """Run the program under its runtime. It is killed where it does not end in time, or once `stop` is set."""
    reading, writing = os.pipe()
    try:
        with replay_file(replay) as schedule:
            process = subprocess.Popen(
                [str(program.resolve()), *arguments],
                env=_environment(options, schedule, writing),
                pass_fds=(writing,) if schedule is None else (writing, schedule),
                stdin=subprocess.DEVNULL,
                stdout=None if shows_output else subprocess.DEVNULL,
                stderr=None if shows_output else subprocess.DEVNULL,
            )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        try:
            text, killed = _read(pipe.fileno(), process, seconds, progress, stop)
        except BaseException:
            process.kill()
            raise
        finally:
            process.wait()
    records = tuple(r for r in read_records(text.splitlines()) if not isinstance(r, RunProgress))
    return Ran(records, process.returncode, killed)


def fault_of(ran: Ran) -> str | None:
    """Why the process did not report all it should have, if it did not."""
    for record in ran.records:
        if isinstance(record, Fault):
            return record.message
    return None


def options_text(options: Options) -> str:
    """As the runtime reads them."""
    values = {name: int(value) if isinstance(value, bool) else value for name, value in options.items()}
    return ";".join(f"{name}={value}" for name, value in values.items())


def _environment(options: Options, schedule: int | None, descriptor: int) -> dict[str, str]:
    environment = dict(os.environ)
    environment["MEMFENCE_RUN"] = options_text(options)
    environment["MEMFENCE_REPORT"] = str(descriptor)
    environment["RUST_BACKTRACE"] = "0"  # it would be made in every execution that panics
    if schedule is not None:
        environment[REPLAY_VARIABLE] = str(schedule)
    return environment


REPLAY_VARIABLE = "MEMFENCE_REPLAY"


@contextmanager
def replay_file(replay: Replay | None) -> Iterator[int | None]:
    """The descriptor of an open file with the schedule: there may be more of it than an environment holds."""
    if replay is None:
        yield None
        return
    with tempfile.TemporaryFile() as file:
        file.write(replay_text(replay).encode())
        file.flush()
        yield file.fileno()


def replay_text(replay: Replay) -> str:
    """As the runtime reads it: four lists of numbers, each with its length before it."""
    layout = replay.layout
    numbers = [len(layout.threads), *(n for pair in layout.threads for n in pair)]
    numbers += [len(layout.cells), *(n for pair in layout.cells for n in pair)]
    numbers += [len(layout.loops), *layout.loops]
    numbers += [len(replay.steps), *replay.steps]
    return " ".join(map(str, numbers))


def _read(
    descriptor: int,
    process: subprocess.Popen[bytes],
    seconds: float | None,
    progress: Callable[[RunProgress], object] | None,
    stop: Event | None,
) -> tuple[bytes, bool]:
    deadline = Deadline(None if seconds is None else seconds + GRACE_SECONDS)
    chunks: list[bytes] = []
    tail = b""
    with selectors.DefaultSelector() as selector:
        selector.register(descriptor, selectors.EVENT_READ)
        while True:
            if deadline.passed or (stop is not None and stop.is_set()):
                process.kill()
                return b"".join(chunks), True
            if not selector.select(POLL_SECONDS):
                continue
            chunk = os.read(descriptor, 1 << 16)
            if not chunk:
                return b"".join(chunks), False
            chunks.append(chunk)
            *lines, tail = (tail + chunk).split(b"\n")
            for record in read_records(lines) if progress is not None else ():
                if progress is not None and isinstance(record, RunProgress):
                    progress(record)
