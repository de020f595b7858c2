"""Families: one program for a growing number of processes, and how the time to decide persistence grows with it.

Our own, in `examples/families`, have a line `#define N 2`. A corpus may have more, a file for each number of processes
(`persist/parameterized/NAME/NAMEn.txt`). Each is decided exactly, and with the flattening abstraction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from memfence.records import Record
from memfence.report.views.plot import Panel, Series, render_plot
from paper_tables.command import Answer, ask
from paper_tables.everywhere import each_measured
from paper_tables.table import Cells, Sources, number

STEPS = 2
WAYS: tuple[tuple[str, tuple[str, ...]], ...] = (("exact", ()), (f"--abstract {STEPS}", ("--abstract", str(STEPS))))
COLUMNS: Cells = ("family", "processes", "exact", "states", "s", "flattened", "states", "s")
INT_BITS = {"seqlock": "3"}
_DEFINITION = re.compile(r"^#define N \d+$", re.MULTILINE)


class Member(Record):
    """A program of a family. `text` is what to write next to `path`'s own file; None: `path` is the program."""

    family: str
    processes: int
    path: Path
    text: str | None = None


class Measured(Record):
    """The answers for one member, one for each way."""

    member: Member
    answers: tuple[Answer, ...]

    def cells(self) -> Cells:
        ways = (cell for a in self.answers for cell in (a.verdict, str(a.states), number(a.seconds, 4)))
        return (self.member.family, str(self.member.processes), *ways)


def measure_families(sources: Sources, most_processes: int, cluster: str | None = None) -> Iterator[Measured]:
    """Every member of every family, smallest first; a family ends behind the first one that no way decides in time.

    On a cluster, each family is one job.
    """
    families = list(_families(sources, most_processes))
    if cluster is None:
        for family in families:
            yield from _measured_family(family, sources)
        return
    for measured in each_measured([partial(_whole_family, family, sources) for family in families], cluster):
        yield from measured


def _whole_family(family: list[Member], sources: Sources) -> list[Measured]:
    return list(_measured_family(family, sources))


def _measured_family(family: list[Member], sources: Sources) -> Iterator[Measured]:
    for member in family:
        measured = _measure(member, sources)
        yield measured
        if not any(answer.is_decided for answer in measured.answers):
            break


def draw(measured: list[Measured], limit_seconds: float) -> str:
    """Seconds of the search against processes, as SVG: a panel for each family, a line for each way."""
    names = list(dict.fromkeys(m.member.family for m in measured))
    panels = [
        Panel(
            name,
            tuple(
                Series(way, tuple(_point(m, at) for m in measured if m.member.family == name))
                for at, (way, _) in enumerate(WAYS)
            ),
        )
        for name in names
    ]
    title = "Persistence: seconds against the number of processes"
    return render_plot(title, panels, x_label="processes", limit_seconds=limit_seconds)


def _point(measured: Measured, way: int) -> tuple[int, float | None]:
    answer = measured.answers[way]
    return measured.member.processes, answer.seconds if answer.is_decided else None


def _families(sources: Sources, most: int) -> Iterator[list[Member]]:
    for path in sorted((sources.examples / "families").glob("*.pml")):
        text = path.read_text(encoding="utf-8")
        yield [Member(path.stem, n, path, _DEFINITION.sub(f"#define N {n}", text)) for n in range(2, most + 1)]
    if sources.corpus is None:
        return
    for folder in sorted(path for path in (sources.corpus / "persist" / "parameterized").glob("*") if path.is_dir()):
        numbered = ((re.search(r"(\d+)$", path.stem), path) for path in folder.glob("*.txt"))
        found = sorted((int(match[1]), path) for match, path in numbered if match)
        yield [Member(f"{folder.name} (corpus)", n, path) for n, path in found if n <= most]


def _measure(member: Member, sources: Sources) -> Measured:
    bits = INT_BITS.get(member.path.parent.name)
    options = ("--criterion", "persistent", *(() if bits is None else ("--int-bits", bits)))
    with TemporaryDirectory() as folder:
        path = member.path
        if member.text is not None:  # its header is one folder up
            (Path(folder) / "families").mkdir()
            header = sources.examples / "memfence.h"
            (Path(folder) / header.name).write_text(header.read_text(encoding="utf-8"), encoding="utf-8")
            path = Path(folder) / "families" / member.path.name
            path.write_text(member.text, encoding="utf-8")
        limit = sources.timeout_seconds
        return Measured(member, tuple(ask("check", path, *options, *way, timeout_seconds=limit) for _, way in WAYS))
