"""Fences of programs with many processes: the families of the persistence paper's Fig. 16, up to ten processes or 20.

`python benchmarks/many_processes.py docs/results/images/many_processes.svg` measures, prints the table and draws it.
Each row is asserted to be a proved minimum, with as many fences for each process as its family needs. Of the text with
these fences, `check` is asserted to say that it holds, in at most MOST_SECONDS.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from family_programs import FAMILIES
from paper_tables.command import Answer, ask

from memfence.report.views.plot import Panel, Series, render_plot

CRITERIA = ("persistent", "robust")
LIMIT_SECONDS = 60.0
INT_BITS = {"seqlock": "3"}
MOST_SECONDS = 5.0
SIZES = (2, 4, 6, 8, 10)
LARGE_SIZES = {
    "partial-dekker": (2, 4, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20),
    "pgsql": (2, 4, 8, 12, 16, 20),
    "seqlock": (2, 4, 8, 12, 16, 20),
}


def measure(family: str, processes: int, folder: Path) -> Iterator[tuple[Answer, Answer]]:
    """For each criterion, the fences, and what `check` says of the text with them."""
    path = folder / f"{family}{processes}.txt"
    path.write_text(FAMILIES[family](processes), encoding="utf-8")
    bits = ("--int-bits", INT_BITS[family]) if family in INT_BITS else ()
    for criterion in CRITERIA:
        asked = ("--criterion", criterion, *bits)
        fixed = folder / f"{family}{processes}-{criterion}.txt"
        answer = ask("fix", path, *asked, "--output", str(fixed), timeout_seconds=LIMIT_SECONDS)
        assert not answer.is_decided or answer.found["minimum"], (family, processes, criterion)
        again = fixed if answer.verdict == "fixed" else path
        confirmed = ask("check", again, *asked, timeout_seconds=LIMIT_SECONDS)
        assert confirmed.verdict == "holds" and confirmed.cpu_seconds <= MOST_SECONDS, (family, processes, criterion)
        yield answer, confirmed


def fences(family: str, processes: int) -> int:
    """How many there must be: so many for each process, but for the first of Burns' algorithm, which needs one less."""
    match family:
        case "burns":
            return 2 * processes - 1
        case "dijkstra" | "partial-dekker":
            return 2 * processes
        case "szymanski":
            return 4 * processes
        case "pgsql":
            return 3 * processes // 2
        case _:
            return 0


def main(output: Path | None) -> None:
    panels = []
    columns = ("fences", "states", "CPU", "`check`: states", "CPU")
    titles = [f"{criterion}: {columns[0]}" if not n else c for criterion in CRITERIA for n, c in enumerate(columns)]
    sys.stdout.write(f"| family | processes | {' | '.join(titles)} |\n|---|--:|{'--:|' * len(titles)}\n")
    with TemporaryDirectory() as folder:
        for family in FAMILIES:
            lines: tuple[list[tuple[int, float | None]], ...] = ([], [])
            for processes in LARGE_SIZES.get(family, SIZES):
                cells = []
                for line, (answer, confirmed) in zip(lines, measure(family, processes, Path(folder)), strict=True):
                    line.append((processes, answer.cpu_seconds if answer.is_decided else None))
                    cells += _cells(answer, fences(family, processes))
                    cells += [f"{confirmed.states:,}", f"{confirmed.cpu_seconds:.2f} s"]
                sys.stdout.write(f"| {family} | {processes} | {' | '.join(cells)} |\n")
                sys.stdout.flush()
            named = zip(CRITERIA, lines, strict=True)
            panels.append(Panel(family, tuple(Series(criterion, tuple(line)) for criterion, line in named)))
    if output is not None:
        title = "Fewest fences, found and proved: processor time against the number of processes"
        drawn = render_plot(title, panels, x_label="processes", limit_seconds=LIMIT_SECONDS)
        output.write_text(drawn, encoding="utf-8")


def _cells(answer: Answer, expected: int) -> tuple[str, str, str]:
    if not answer.is_decided:
        return "unknown", f"{answer.states:,}", f"{answer.cpu_seconds:.2f} s"
    assert answer.found["instances"] == expected
    return str(expected), f"{answer.states:,}", f"{answer.cpu_seconds:.2f} s"


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
