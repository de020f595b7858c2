"""What `--certificate` costs: whole commands with and without it, start-up included.

    python benchmarks/certificates.py [GROUP ...] [--times N] [--rows]

Of each command the processor time counts, the least of several runs, with and without a certificate in turn. A row of
the table has the geometric mean of the ratios, and the worst. An answer that has no certificate is not counted.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import exp, inf, log
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "papers")]

from test_persistence_table import INT_BITS, ROWS  # noqa: E402

from support.corpus import CORPUS  # noqa: E402

MEMFENCE = shutil.which("memfence", path=str(Path(sys.executable).parent)) or "memfence"


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a certificate may be asked of."""

    name: str
    words: tuple[str, ...]


def persistent() -> Iterator[Command]:
    yield from _table("persistent", "persist_fences")


def robust() -> Iterator[Command]:
    yield from _table("robust", "trencher_fences")


def _table(criterion: str, column: str) -> Iterator[Command]:
    """The rows of the persistence table for which the criterion holds."""
    for name, row in ROWS.items():
        if row[column] == "0":
            file = str(CORPUS / "persist" / f"{row['file']}.txt")
            bits = ("--int-bits", str(INT_BITS.get(name, 8)))
            yield Command(name, ("check", file, "--criterion", criterion, *bits))


def examples() -> Iterator[Command]:
    for path in sorted((ROOT / "examples").rglob("*.pml")):
        yield Command(path.stem, ("check", str(path)))


def fixes() -> Iterator[Command]:
    for path in sorted((ROOT / "examples").glob("*.pml")):
        for criterion in ("safety", "persistent"):
            yield Command(f"{path.stem} {criterion}", ("fix", str(path), "--criterion", criterion))


GROUPS: dict[str, Callable[[], Iterator[Command]]] = {
    "persistent": persistent,
    "robust": robust,
    "examples": examples,
    "fixes": fixes,
}


def seconds(words: tuple[str, ...]) -> float:
    """The processor time of one run, whatever it answers."""
    null = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    child = os.posix_spawn(MEMFENCE, [MEMFENCE, *words], os.environ, file_actions=null)
    _, _, used = os.wait4(child, 0)
    return used.ru_utime + used.ru_stime


def measured(command: Command, folder: Path, times: int) -> tuple[float, float] | None:
    """Without and with a certificate; None where there is none."""
    place = folder / "proof.mfc"
    without = with_one = inf
    for _ in range(times):
        without = min(without, seconds(command.words))
        place.unlink(missing_ok=True)
        with_one = min(with_one, seconds((*command.words, "--certificate", str(place))))
        if not place.is_file():
            return None
    return without, with_one


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("groups", nargs="*", default=list(GROUPS))
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--rows", action="store_true")
    given = parser.parse_args()
    print("| group | commands | mean | worst |\n|---|--:|--:|--:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for group in given.groups:
            ratios: dict[str, float] = {}
            for command in GROUPS[group]():
                found = measured(command, Path(folder), given.times)
                if found is None:
                    continue
                ratios[command.name] = found[1] / found[0]
                if given.rows:
                    print(f"{command.name}: {found[0]:.3f} s, {ratios[command.name]:.2f}", file=sys.stderr, flush=True)
            if not ratios:
                print(f"| {group} | 0 | - | - |")
                continue
            mean = exp(sum(map(log, ratios.values())) / len(ratios))
            worst = max(ratios, key=ratios.__getitem__)
            print(f"| {group} | {len(ratios)} | {mean:.2f} | {ratios[worst]:.2f} ({worst}) |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
