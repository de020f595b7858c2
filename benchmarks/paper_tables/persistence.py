"""The persistence paper (Abdulla, Atig, Ngo 2015), Table 1: fences for persistence and for robustness, and the time.

The programs are those of the tool Persist; a corpus that has them is needed for the paper's rows. Without one, our own
models of the same algorithms are measured: they have two or three processes, the paper's up to ten.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from paper_tables.command import Answer, ask
from paper_tables.table import Cells, Row, Sources, Table, number

# Program, file in the corpus, processes; there: fences and seconds of Persist, and of Trencher (TO: no answer in time).
PUBLISHED: tuple[tuple[str, str, int, int, str, int | None, str], ...] = (
    ("SimDekker", "single/mutex/simple_dekker/simple_dekker", 4, 4, "4", 4, "163"),
    ("Dekker", "single/mutex/dekker/dekker", 4, 8, "14", None, "TO"),
    ("Peterson", "single/mutex/peterson/peterson", 4, 4, "223", None, "TO"),
    ("LamBak", "single/mutex/bakery3/bakery3", 3, 6, "104", None, "TO"),
    ("LamBak", "single/mutex/bakery4/bakery4", 4, 8, "286", None, "TO"),
    ("Dijkstra", "single/mutex/dijkstra/dijkstra", 4, 8, "30", None, "TO"),
    ("Dc-Lock", "single/mutex/dclocking/dc_locking", 6, 0, "7", 0, "139"),
    ("SpinLock", "single/mutex/spinlock/spinlock", 2, 0, "1", 0, "1"),
    ("TSpinLock", "single/mutex/ticket_spin_lock/ticket_spin_lock", 2, 0, "1", 0, "1"),
    ("InlinePgsql", "single/mutex/inline_pgsql/inline_pgsql", 8, 0, "8", 0, "426"),
    ("Burns", "single/mutex/burns/burns", 5, 9, "119", None, "TO"),
    ("Szymanski", "single/mutex/szymanski2/szymanski2", 2, 8, "3", 8, "642"),
    ("Szymanski", "single/mutex/szymanski4/szymanski4", 4, 16, "88", None, "TO"),
    ("LamFast2", "single/mutex/lamport2/lamport2", 2, 8, "6", 4, "48"),
    ("LamFast2", "single/mutex/lamport3/lamport3", 3, 12, "10", None, "TO"),
    ("CLH Lock", "single/mutex/clhlock/clhlock", 4, 4, "176", 4, "674"),
    ("Parker", "single/schedule/parker/parker", 6, 1, "76", 1, "425"),
    ("Pgsql", "single/schedule/pgsql/pgsql", 6, 7, "26", 7, "260"),
    ("AlternatingBit", "single/schedule/alternating_bit_protocol/alternating_bit", 2, 4, "2", 4, "5"),
    ("IncSequence", "single/schedule/increase_sequence/increase_sequence", 6, 0, "21", 0, "194"),
    ("TaskSchedule", "single/schedule/task_scheduling/task_scheduling", 10, 0, "5", 0, "418"),
    ("NBW_W_WR", "single/nbw/nbw_w_wr/nbw_w_wr", 2, 0, "18", 1, "595"),
    ("NBW_W_5R", "single/nbw/nbw_w_5r/nbw_w_5r", 6, 0, "3", 0, "514"),
    ("SeqLock", "single/nbw/seqlock/seqlock", 4, 0, "63", 0, "364"),
    ("write+r", "single/litmus/write+r/write+r", 5, 0, "2", 4, "7"),
    ("r+detour", "single/litmus/r+detour/r+detour", 5, 0, "1", 3, "3"),
    ("r+detours", "single/litmus/r+detours/r+detours", 5, 0, "1", 3, "1"),
    ("write+r+co", "single/litmus/write+r+coherence/write+r+coherence", 6, 0, "7", 4, "38"),
    ("sb+detours", "single/litmus/sb+detours/sb+detours", 6, 2, "3", 5, "3"),
    ("sb+detour+co", "single/litmus/sb+detours+coherence/sb+detours+coherence", 6, 0, "1", 4, "3"),
    ("Cilk WSQ", "single/dynamic_struture_algorithms/cilk/cilk-the-wsq", 2, 2, "3", 2, "107"),
    ("CL WSQ", "single/dynamic_struture_algorithms/chase_lev/chase-lev-wsq", 2, 1, "2", 1, "796"),
    ("FIFO iWSQ", "single/dynamic_struture_algorithms/FIFO_iWSQ/FIFO-iWSQ", 2, 1, "2", 1, "354"),
    ("LIFO iWSQ", "single/dynamic_struture_algorithms/LIFO_iWSQ/LIFO-iWSQ", 2, 1, "7", 1, "558"),
    ("Anchor iWSQ", "single/dynamic_struture_algorithms/anchor_iWSQ/Anchor-iWSQ", 2, 1, "2", 1, "20"),
)

INT_BITS = {"bakery3": 4, "bakery4": 2, "seqlock": 3, "chase-lev-wsq": 8, "LIFO-iWSQ": 8}
"""Programs of the corpus that count without bound: the width at which they are finite and still do their work."""

# Our model, and the program of the paper that it is a version of.
OWN = (
    ("dekker", "Dekker"),
    ("peterson", "Peterson"),
    ("bakery", "LamBak"),
    ("algorithms/dijkstra", "Dijkstra"),
    ("algorithms/burns", "Burns"),
    ("szymanski", "Szymanski"),
    ("lamport_fast", "LamFast2"),
    ("ticket_lock", "TSpinLock"),
    ("double_checked", "Dc-Lock"),
    ("algorithms/clh", "CLH Lock"),
    ("algorithms/alternating_bit", "AlternatingBit"),
    ("algorithms/increasing_sequence", "IncSequence"),
    ("seqlock", "SeqLock"),
    ("chase_lev", "CL WSQ"),
)


def _rows(sources: Sources) -> Iterator[Row]:
    for model, program in OWN:
        yield partial(_row, sources, sources.examples / f"{model}.pml", program, "ours", ("-", "-", "-", "-"))
    if sources.corpus is None:
        return
    for program, file, _, persist, persist_s, trencher, trencher_s in PUBLISHED:
        path = sources.corpus / "persist" / f"{file}.txt"
        there = str(persist), persist_s, number(trencher), trencher_s
        yield partial(_row, sources, path, program, "theirs", there)


def _row(sources: Sources, path: Path, program: str, whose: str, there: Cells) -> Cells:
    bits = INT_BITS.get(path.stem) if whose == "theirs" else None
    return (program, whose, *_measured(path, bits, sources), *there)


def _measured(path: Path, int_bits: int | None, sources: Sources) -> Cells:
    """Fences and processor seconds for persistence and robustness, states and memory of the first."""
    options = () if int_bits is None else ("--int-bits", str(int_bits))
    limit = sources.timeout_seconds
    persistent, robust = (
        ask("fix", path, "--criterion", criterion, *options, timeout_seconds=limit)
        for criterion in ("persistent", "robust")
    )
    return (
        _fences(persistent),
        number(persistent.cpu_seconds, 2),
        _fences(robust),
        number(robust.cpu_seconds, 2),
        str(persistent.states),
        number(persistent.megabytes),
    )


def _fences(fixed: Answer) -> str:
    if fixed.verdict not in ("fixed", "already_holds"):
        return fixed.verdict
    return f"{fixed.found['instances']}{'' if fixed.found['minimum'] else ' or fewer'}"


TABLE = Table(
    "persistence-2015",
    "Persistence 2015, Table 1: fences for persistence and robustness",
    "`fix --criterion persistent` and `fix --criterion robust`, `--minimise count`. Fences are instructions over all "
    "processes, proved to be as few as possible; seconds are processor seconds of the whole command, start-up "
    "included; states and memory are those for persistence. TO: no answer there within the paper's limit.",
    "`ours` are our versions of the same algorithms, with two or three processes, `examples`; `theirs` are the "
    "programs of the tool Persist, with the number of processes of the paper, which its authors distribute.",
    (
        "program", "model", "persistent: fences", "s", "robust: fences", "s", "states", "MB", "Persist: fences", "s",
        "Trencher: fences", "s",
    ),
    _rows,
    tuple((program, f"persist/{file}.txt") for program, file, *_ in PUBLISHED),
)  # fmt: skip
