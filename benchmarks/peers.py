"""memfence beside other tools, on the same files, in one run: processor time of whole commands, ratios, their means.

`python benchmarks/peers.py` prints the tables of docs/results/peers.md. A tool that is not installed is
marked as absent. Three questions, since no other tool answers all of ours:

* *Safety under SC*: Spin (generate, compile, search, with its own defaults) on what `memfence translate --to promela`
  writes; `memfence check` reads the original file.
* *Where do fences go?* Trencher and Persist read the same transition lists, Memorax RMM files beside them. `fix` is
  asked for persistence, which Persist ensures, and for robustness, which Trencher ensures.
* *Assertions of C under RC11*: GenMC and `check --model rc11`, on the shipped examples.

A command that used `LIMIT_SECONDS` of processor time is ended. Its time is a limit, marked by `>`, and a mean over it
says how much *at least*.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from tempfile import TemporaryDirectory

import spin
from cases import CORPUS, ROOT, WITH_REDUCTIONS, Case
from programs import command_of, load_case

LIMIT_SECONDS = 60
ANY_VERDICT = (0, 1, 4, 42)
"""Our exit codes for holds, violated and unknown, and GenMC's for an error that it found."""
ROUNDS = 3
FENCE_FILES = (
    "persist/single/mutex/simple_dekker/simple_dekker.txt",
    "persist/single/mutex/dekker/dekker.txt",
    "persist/single/mutex/lamport2/lamport2.txt",
    "persist/single/mutex/lamport3/lamport3.txt",
    "persist/single/mutex/peterson/peterson.txt",
    "persist/parameterized/burns/burns5.txt",
    "persist/parameterized/dijkstra/dijkstra5.txt",
    "persist/parameterized/szymanski/szymanski5.txt",
)


@dataclass(frozen=True, slots=True)
class Time:
    """Processor seconds; `is_limit`: the command was ended there."""

    cpu: float
    is_limit: bool = False

    def __str__(self) -> str:
        return f"{'> ' if self.is_limit else ''}{self.cpu:.2f}"


@dataclass(frozen=True, slots=True)
class Peer:
    """Another tool: its command line for one file, and which of our criteria it decides."""

    name: str
    command: Callable[[Path], Sequence[str]]
    criterion: str = "robust"

    @property
    def is_installed(self) -> bool:
        return shutil.which(self.command(Path("program"))[0]) is not None


SPIN = Peer("Spin", lambda file: ("spin", "-a", str(file)))
FENCE_PEERS = (
    Peer("Trencher", lambda file: ("trencher", "-f", str(file))),
    Peer("Persist", lambda file: ("persist", str(file)), "persistent"),
    Peer("Memorax", lambda file: ("memorax", "fencins", str(file.with_suffix(".rmm")))),
)
GENMC = Peer("GenMC", lambda file: ("genmc", "--unroll=3", "--", str(file)))


def main() -> None:
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # compiling our own modules is not what is measured
    print("| tool | here |\n|---|---|")
    for peer in (SPIN, *FENCE_PEERS, GENMC):
        print(f"| {peer.name} | {'measured' if peer.is_installed else 'absent'} |")
    compare_safety()
    compare_fences()
    compare_c()


def compare_safety() -> None:
    """The same property of the same program, once by each tool."""
    print("\n| program | memfence | Spin | of it pan | Spin / memfence |\n|---|--:|--:|--:|--:|")
    ratios = []
    for case in WITH_REDUCTIONS if SPIN.is_installed and CORPUS.is_dir() else ():
        ours = min((timed(command_of(case)) for _ in range(ROUNDS)), key=lambda time: time.cpu)
        theirs, pan = by_spin(case)
        ratios.append((ours, theirs))
        print(f"| {case.name} | {ours} | {theirs} | {pan} | {ratio(ours, theirs)} |", flush=True)
    print(f"\nGeometric mean of Spin / memfence: {mean(ratios)}.")


def by_spin(case: Case) -> tuple[Time, Time]:
    """All that Spin takes, and pan alone."""
    try:
        found = spin.run_spin(load_case(case), reductions=True, limit_seconds=LIMIT_SECONDS)
    except spin.OverLimit:
        return Time(LIMIT_SECONDS, is_limit=True), Time(LIMIT_SECONDS, is_limit=True)
    return Time(found.making.cpu + found.pan.cpu), Time(found.pan.cpu)


def compare_fences() -> None:
    """The fewest fences for each criterion, beside the tools that insert them."""
    named = " | ".join(f"{peer.name} ({peer.criterion})" for peer in FENCE_PEERS)
    print(f"\n| program | memfence, persistent | memfence, robust | {named} |")
    print(f"|---|--:|--:|{'--:|' * len(FENCE_PEERS)}")
    ratios: dict[str, list[tuple[Time, Time]]] = {peer.name: [] for peer in FENCE_PEERS}
    for path in (CORPUS / file for file in FENCE_FILES if (CORPUS / file).exists()):
        fix = (sys.executable, "-m", "memfence", "fix", str(path), "--quiet", "--criterion")
        ours = {criterion: timed((*fix, criterion)) for criterion in ("persistent", "robust")}
        cells = []
        for peer in FENCE_PEERS:
            theirs = timed(peer.command(path)) if peer.is_installed else None
            cells.append("absent" if theirs is None else str(theirs))
            if theirs is not None:
                ratios[peer.name].append((ours[peer.criterion], theirs))
        print(f"| {path.stem} | {ours['persistent']} | {ours['robust']} | {' | '.join(cells)} |", flush=True)
    for name, times in ratios.items():
        print(f"\nGeometric mean of {name} / memfence: {mean(times)}.")


def compare_c() -> None:
    """Whether an assertion of a C program can fail under RC11; loops are followed twice."""
    print("\n| program | memfence | GenMC | GenMC / memfence |\n|---|--:|--:|--:|")
    ratios = []
    for path in sorted((ROOT / "examples" / "c").glob("*.c")) if GENMC.is_installed else ():
        check = (sys.executable, "-m", "memfence", "check", str(path), "--quiet", "--model", "rc11", "--unroll", "2")
        ours, theirs = timed(check), timed(GENMC.command(path))
        ratios.append((ours, theirs))
        print(f"| {path.stem} | {ours} | {theirs} | {ratio(ours, theirs)} |", flush=True)
    print(f"\nGeometric mean of GenMC / memfence: {mean(ratios)}.")


def timed(command: Sequence[str]) -> Time:
    """One command, whatever its verdict."""
    try:
        with TemporaryDirectory() as folder:
            return Time(spin.timed(command, folder, exit_codes=ANY_VERDICT, limit_seconds=LIMIT_SECONDS).cpu)
    except spin.OverLimit:
        return Time(LIMIT_SECONDS, is_limit=True)


def ratio(ours: Time, theirs: Time) -> str:
    sign = "> " if theirs.is_limit else "< " if ours.is_limit else ""
    return f"{sign}{theirs.cpu / ours.cpu:.1f}"


def mean(times: Sequence[tuple[Time, Time]]) -> str:
    if not times:
        return "nothing was measured"
    found = exp(sum(log(theirs.cpu / ours.cpu) for ours, theirs in times) / len(times))
    at_least = any(theirs.is_limit for _, theirs in times)
    return f"{'at least ' if at_least else ''}{found:.1f} over {len(times)} programs"


if __name__ == "__main__":
    main()
