"""What a fix costs in the user's own benchmark: each way to write it, timed by the user's command."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from memfence.records import Record
from memfence.tasks.usage import WrongUsage

REPETITIONS = 5
PLACE = "{}"


class Variant(Record):
    """A text of the program, and how many edits tell it from the user's."""

    name: str
    text: str
    edits: int


class Timed(Record):
    """Seconds of the whole command: the median, the least and the most. `code`: what it exited with, if not 0."""

    variant: Variant
    seconds: float
    low: float
    high: float
    code: int = 0


def require_place(command: str) -> None:
    """WrongUsage where the command does not say what to do with the file."""
    if PLACE not in command:
        raise WrongUsage("bench", f"write {PLACE} where the file belongs, as in 'cc -O2 {PLACE} && ./a.out'")


def time_variants(file: Path, variants: Sequence[Variant], command: str, most_seconds: float = 600.0) -> list[Timed]:
    """Run the command on each variant in turn, several times over, so that noise meets all of them alike.

    `{}` in the command stands for the file with the variant's text, beside which the other files of its folder are not.
    """
    times: list[list[float]] = [[] for _ in variants]
    codes = [0 for _ in variants]
    with TemporaryDirectory(prefix="memfence-") as folder:
        for repetition in range(REPETITIONS + 1):
            for number, variant in enumerate(variants):
                place = Path(folder) / str(number) / file.name
                place.parent.mkdir(exist_ok=True)
                place.write_text(variant.text)
                begin = perf_counter()
                done = subprocess.run(
                    command.replace(PLACE, shlex.quote(str(place))),
                    shell=True, cwd=place.parent, capture_output=True, check=False, timeout=most_seconds,
                )  # fmt: skip
                codes[number] = codes[number] or done.returncode
                if repetition > 0:  # the first one fills caches
                    times[number].append(perf_counter() - begin)
    return [
        Timed(variant, median(taken), min(taken), max(taken), code)
        for variant, taken, code in zip(variants, times, codes, strict=True)
    ]
