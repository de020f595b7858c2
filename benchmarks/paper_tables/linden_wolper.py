"""Linden and Wolper: Table 2 of 2010 (errors and symbolic states under TSO), Table 1 of 2013 (fences for TSO and PSO).

Their models are not published; ours are in `examples/linden_wolper` (as they are checked) and `examples` (to be fixed).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from paper_tables.command import Answer, ask
from paper_tables.past_errors import explored_past_errors
from paper_tables.table import Cells, Row, Sources, Table, number

# Program, variant, our model; there: states stored and visited, seconds, depth, errors found.
PUBLISHED_2010 = (
    ("Dekker", "single entry", "dekker_single", 183, 301, 2.446, 22, 2),
    ("Dekker", "single entry, fenced", "dekker_single_sync", 111, 161, 1.194, 22, 0),
    ("Dekker", "repeated entry", "dekker_repeated", 3236, 6231, 22.881, 785, 36),
    ("Dekker", "repeated entry, fenced", "dekker_repeated_sync", 343, 631, 3.016, 79, 0),
    ("Peterson", "single entry", "peterson_single", 120, 173, 1.969, 15, 2),
    ("Peterson", "single entry, fenced", "peterson_single_sync", 54, 66, 0.399, 13, 0),
    ("Peterson", "repeated entry", "peterson_repeated", 355, 432, 3.097, 50, 10),
    ("Peterson", "repeated entry, fenced", "peterson_repeated_sync", 65, 92, 0.392, 22, 0),
)

# Program, our model without fences, ours with them; there: states, iterations, mfences, sfences, seconds.
PUBLISHED_2013 = (
    ("Dekker", "dekker", "dekker", 381, 6, 4, 0, 1.9),
    ("Peterson", "peterson", "peterson", 219, 6, 2, 2, 1.4),
    ("Generalized Peterson", "algorithms/generalised_peterson", "generalised_peterson", 28544, 8, 3, 3, 56.7),
    ("Lamport's Bakery", "bakery", "bakery", 727, 8, 4, 2, 3.2),
    ("Burns", "algorithms/burns", "burns", 123, 4, 2, 0, 1.2),
    ("Szymanski", "szymanski", "szymanski", 221, 8, 6, 0, 2.2),
    ("Dijkstra", "algorithms/dijkstra", "dijkstra", 879, 4, 2, 0, 3.9),
    ("Lamport's Fast Mutex", "lamport_fast", "lamport_fast", 5654, 10, 4, 4, 11.3),
    ("Alternating bit", "algorithms/alternating_bit", "alternating_bit", 1184, 1, 0, 0, 2.3),
    ("CLH queue lock", "algorithms/clh", "clh", 3004, 1, 0, 0, 2.8),
    ("Increasing sequence", "algorithms/increasing_sequence", "increasing_sequence", 59570, 1, 0, 0, 140.0),
)


def _rows_2010(sources: Sources) -> Iterator[Row]:
    return (partial(_row_2010, sources, *published) for published in PUBLISHED_2010)


def _row_2010(
    sources: Sources, program: str, variant: str, model: str, stored: int, visited: int, seconds: float, depth: int,
    errors: int,
) -> Cells:  # fmt: skip
    path = sources.examples / "linden_wolper" / f"{model}.pml"
    found = ask("check", path, "--engine", "symbolic", timeout_seconds=sources.timeout_seconds)
    every = explored_past_errors(path, sources.timeout_seconds)
    return (
        program,
        variant,
        str(errors),
        str(every.errors),
        found.verdict,
        str(stored),
        str(every.stored),
        str(visited),
        str(every.visited),
        str(depth),
        str(every.depth),
        number(seconds, 2),
        number(every.seconds, 3),
    )


def _rows_2013(sources: Sources) -> Iterator[Row]:
    return (partial(_row_2013, sources, *published) for published in PUBLISHED_2013)


def _row_2013(
    sources: Sources, program: str, plain: str, fenced: str, states: int, iterations: int, mfences: int, sfences: int,
    seconds: float,
) -> Cells:  # fmt: skip
    limit = sources.timeout_seconds
    fixed = ask("fix", sources.examples / f"{plain}.pml", "--model", "pso", timeout_seconds=limit)
    greedy = ("--model", "pso", "--via", "tso", "--minimise", "first")
    first = ask("fix", sources.examples / f"{plain}.pml", *greedy, timeout_seconds=limit)
    path = sources.examples / "linden_wolper" / f"{fenced}.pml"
    proved = ask("check", path, "--model", "pso", "--engine", "symbolic", timeout_seconds=limit)
    return (
        program,
        f"{mfences}/{sfences}",
        f"{_instances(fixed.found, 'mfence')}/{_instances(fixed.found, 'sfence')}",
        "yes" if fixed.found["minimum"] else "no",
        str(iterations),
        str(first.found["stats"]["checks"]),
        str(states),
        str(_symbolic_states(proved)),
        proved.verdict,
        number(seconds, 1),
        number(fixed.cpu_seconds, 2),
        number(fixed.megabytes),
    )


def _symbolic_states(found: Answer) -> int:
    return int(found.found["stats"]["symbolic_states"])


def _instances(fixed: dict[str, Any], kind: str) -> int:
    """Fence instructions of a kind over all processes: what the paper counts."""
    return sum(len(fence["processes"]) for fence in fixed["fences"] if fence["kind"] == kind)


TABLE_2010 = Table(
    "linden-wolper-2010",
    "Linden and Wolper 2010, Table 2: Dekker and Peterson under TSO with unbounded buffers",
    "Verdicts are those of `check --engine symbolic`, which stops at the first error; the rest is a search that goes "
    "on. Errors are symbolic states, of those kept in the end, in which both processes are in the critical section; "
    "states stored are those that are kept, states visited those that were expanded; seconds are those of the search.",
    "ours, `examples/linden_wolper`, written after the published algorithms; those of the paper are not published.",
    (
        "program", "variant", "errors there", "here", "verdict", "stored there", "here", "visited there", "here",
        "depth there", "here", "s there", "here",
    ),
    _rows_2010,
)  # fmt: skip

TABLE_2013 = Table(
    "linden-wolper-2013",
    "Linden and Wolper 2013, Table 1: fences for PSO, and the proof of the fenced program with unbounded buffers",
    "`fix --model pso`, then `check --model pso --engine symbolic` of the fenced model. Fences are mfence/sfence "
    "instructions over all processes. Where our model needs fewer, [Fences](../fences.md) says why. Iterations: the "
    "paper's loop adds an instruction in each, and proves TSO and PSO at last; ours (`--via tso --minimise first`) "
    "adds a place of the text, for all processes, and tries to drop each one again: every check counts. Seconds are "
    "processor seconds of the whole `fix` command, start-up included.",
    "ours, `examples` and `examples/linden_wolper`, written after the published algorithms; those of the paper are not "
    "published.",
    (
        "program", "fences there", "here", "minimum", "iterations there", "here", "states there", "here", "fenced",
        "s there", "here", "MB here",
    ),
    _rows_2013,
)  # fmt: skip
