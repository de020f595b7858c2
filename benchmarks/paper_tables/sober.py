"""Sober (Burckhardt and Musuvathi 2008), Fig. 4: interleavings, borderline ones, what the monitor costs.

The paper's programs are C# and not published; ours, in `examples/sober`, have the same shape: threads and critical
sections or operations. Their scheduling points are not ours, so the numbers of interleavings differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from paper_tables.command import ask
from paper_tables.table import Cells, Row, Sources, Table, number

# Our model, context bound (None: none); there: interleavings, borderline, seconds with Sober, seconds of CHESS alone.
PUBLISHED: tuple[tuple[str, int | None, int, int, str, str], ...] = (
    ("fig1b", None, 10, 4, "<0.2", "<0.2"),
    ("dekker", 1, 5, 4, "<0.2", "<0.2"),
    ("dekker", 2, 36, 23, "0.39", "0.37"),
    ("dekker", 3, 183, 50, "1.9", "1.8"),
    ("dekker", 4, 1219, 124, "13.2", "13.0"),
    ("dekker", 5, 8472, 349, "106.0", "100.6"),
    ("bakery", 0, 1, 1, "<0.2", "<0.2"),
    ("bakery", 1, 25, 20, "0.47", "0.43"),
    ("bakery", 2, 742, 533, "10.3", "9.8"),
    ("bakery", 3, 12436, 8599, "189.0", "181.0"),
    ("takequeue", 0, 3, 0, "<0.3", "<0.3"),
    ("takequeue", 1, 47, 14, "0.72", "0.69"),
    ("takequeue", 2, 402, 189, "5.2", "4.9"),
    ("takequeue", 3, 2318, 1197, "28.9", "27.8"),
    ("takequeue", 4, 9147, 5321, "125.5", "118.9"),
    ("takequeue", 5, 29821, 17922, "481.5", "461.6"),
)


def _rows(sources: Sources) -> Iterator[Row]:
    return (partial(_row, sources, *published) for published in PUBLISHED)


def _row(
    sources: Sources, model: str, bound: int | None, interleavings: int, borderline: int, monitored: str, alone: str
) -> Cells:
    path = sources.examples / "sober" / f"{model}.pml"
    options = () if bound is None else ("--preemptions", str(bound))
    found = ask("explore", path, "--timing", *options, timeout_seconds=sources.timeout_seconds).found
    last = found["iterations"][-1]
    return (
        model,
        "any" if bound is None else str(bound),
        str(interleavings),
        str(last["interleavings"]),
        str(borderline),
        str(last["borderline"]),
        number(last["first_borderline_seconds"], 4),
        monitored,
        number(last["seconds"], 4),
        alone,
        number(last["seconds_without_monitor"], 4),
    )


TABLE = Table(
    "sober-2008",
    "Sober 2008, Fig. 4: SC interleavings, borderline ones, time with and without the monitor",
    "`explore --preemptions N --timing`. `any`: no bound, one execution of each class of equivalent ones.",
    "ours, `examples/sober`, with the threads and sections that the paper names; its C# programs are not published.",
    (
        "program", "preemptions", "interleavings there", "here", "borderline there", "here", "s to first here",
        "s monitored there", "here", "s alone there", "here",
    ),
    _rows,
)  # fmt: skip
