"""The process of the program on other machines: they get the executable, and the runtime that it is linked with."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from memfence.binary.process import Options, Ran, run_process
from memfence.binary.toolchain import LIBRARY, runtime_library
from memfence.cluster.jobs import JobLost, each
from memfence.records import Record

LOST = Ran((), 1, True)
"""A part of which nothing is known: as if its time had been up."""


class Errand(Record):
    """All that another machine needs to know."""

    program: bytes
    library: bytes
    arguments: tuple[str, ...]
    options: Options
    seconds: float | None


def run_everywhere(
    address: str, program: Path, arguments: Sequence[str], parts: Sequence[Options], seconds: float | None
) -> list[Ran]:
    """What the processes of all parts report, each run on some processor of the cluster."""
    code, library = program.read_bytes(), runtime_library().read_bytes()
    errands = [Errand(code, library, tuple(arguments), part, seconds) for part in parts]
    with closing(each(address, run_errand, errands)) as answers:
        return [LOST if isinstance(answer, JobLost) else answer for answer in answers]


def run_errand(errand: Errand) -> Ran:
    """On another machine: what the process reports."""
    with tempfile.TemporaryDirectory(prefix="memfence-") as folder:
        (Path(folder) / LIBRARY).write_bytes(errand.library)
        program = Path(folder) / "program"
        program.write_bytes(errand.program)
        program.chmod(0o700)
        os.environ["LD_LIBRARY_PATH"] = folder
        return run_process(program, errand.arguments, errand.options, seconds=errand.seconds)
