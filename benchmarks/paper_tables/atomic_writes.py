"""Barnat, Brim and Havel, Table 1: how many writes of a DVE model must be atomic for an LTL property under TSO/var(1).

The paper's models are not published. Our Peterson is in `examples/dve`; BEEM's Lamport and Anderson, which are close to
the paper's, need a corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from paper_tables.command import ask
from paper_tables.table import Cells, Row, Sources, Table, number

ANDERSON = "G (P_0@p1 || P_0@p2 || P_0@p3 -> F P_0@CS)"
LAMPORT = "G !(P_0@CS && P_1@CS || P_0@CS && P_2@CS || P_1@CS && P_2@CS)"
PETERSON = "G !(P@cs && Q@cs)"

# Model, file in the corpus (None: `ours`), property; there: atomic writes, all writes.
PUBLISHED = (
    ("Peterson", None, PETERSON, 4, 8),
    ("Lamport", "beem/lamport/lamport.1.dve", LAMPORT, 16, 27),
    ("Anderson", "beem/anderson/anderson.2.dve", ANDERSON, 24, 30),
)


def _rows(sources: Sources) -> Iterator[Row]:
    for program, file, formula, atomic, writes in PUBLISHED:
        path = _path(file, sources)
        if path is not None:
            yield partial(_row, sources, path, program, formula, atomic, writes)


def _row(sources: Sources, path: Path, program: str, formula: str, atomic: int, writes: int) -> Cells:
    fixed = ask("fix", path, "--ltl", formula, timeout_seconds=sources.timeout_seconds)
    here = fixed.found["count"]
    return (
        program,
        path.name,
        f"`{formula}`",
        f"{atomic} of {writes}",
        f"{here} of {fixed.found['writes']}",
        f"{100 * atomic / writes:.0f} %",
        f"{100 * here / max(1, fixed.found['writes']):.0f} %",
        fixed.verdict if not fixed.found["minimum"] else f"{fixed.verdict}, minimum",
        number(fixed.cpu_seconds, 2),
        number(fixed.megabytes),
    )


def _path(file: str | None, sources: Sources) -> Path | None:
    if file is None:
        return sources.examples / "dve" / "peterson.dve"
    return None if sources.corpus is None else sources.corpus / file


TABLE = Table(
    "atomic-writes",
    "Barnat, Brim and Havel, Table 1: writes that must be atomic",
    "`fix --ltl`: a minimum set under TSO with one pending store a variable. Ours counts writes to shared variables, "
    "the paper every assignment.",
    "our Peterson, `examples/dve`; BEEM's Lamport and Anderson. Those of the paper are not published.",
    ("model", "file", "property", "atomic there", "here", "share there", "here", "verdict", "s here", "MB here"),
    _rows,
    tuple((program, file) for program, file, *_ in PUBLISHED if file is not None),
)
