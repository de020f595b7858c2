"""What is timed: data only. Every number of states is asserted, so a faster wrong answer is not a speed-up."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from memfence.models.spec import ModelName

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"


@dataclass(frozen=True, slots=True)
class Case:
    """One program of the corpus under SC, asked whether two of `processes` can meet at `critical`.

    Without reductions, `states` is Spin's number, too.
    """

    file: str
    states: int
    critical: str = ""
    processes: tuple[str, ...] = ()
    int_bits: int = 4

    @property
    def name(self) -> str:
        return Path(self.file).stem

    @property
    def path(self) -> Path:
        return CORPUS / self.file

    @property
    def forbidden(self) -> str:
        """The states that must not be reachable, as `--forbid` takes them; nothing where there is no property."""
        pairs = combinations(self.processes, 2)
        return " || ".join(f"({p}@{self.critical} && {q}@{self.critical})" for p, q in pairs)


@dataclass(frozen=True, slots=True)
class StoreBufferCase:
    """One shipped example under a memory model with buffers of `bound` places, without and with reductions."""

    file: str
    model: ModelName
    bound: int
    states: int
    reduced: int

    @property
    def name(self) -> str:
        return f"{Path(self.file).stem} {self.model}({self.bound})"

    @property
    def path(self) -> Path:
        return ROOT / self.file


FROM_0 = ("t0", "t1", "t2", "t3", "t4")
FROM_1 = ("t1", "t2", "t3")

WITHOUT_REDUCTIONS = (
    Case("persist/single/mutex/lamport3/lamport3.txt", 1_631_341, "q17", FROM_1),
    Case("persist/parameterized/burns/burns4.txt", 720_236, "q5", FROM_0[:4]),
    Case("persist/parameterized/szymanski/szymanski3.txt", 389_781, "q8", FROM_0[:3]),
    Case("persist/parameterized/dijkstra/dijkstra3.txt", 4_823_442, "q5", FROM_0[:3]),
    Case("persist/parameterized/partial-dekker/partial-dekker3.txt", 172_873, "q10", FROM_1),
    Case("persist/single/mutex/simple_dekker/simple_dekker.txt", 3_646_924, "q6", FROM_0[:4]),
    Case("persist/single/mutex/dclocking/dc_locking.txt", 396_576),
    Case("persist/single/dynamic_struture_algorithms/FIFO_iWSQ/FIFO-iWSQ.txt", 1_319_934),
)

# Larger ones, so that the time is spent on the search; in partial-dekker only neighbours exclude each other.
WITH_REDUCTIONS = (
    Case("persist/single/mutex/lamport3/lamport3.txt", 11_266, "q17", FROM_1),
    Case("persist/single/mutex/simple_dekker/simple_dekker.txt", 8_040, "q6", FROM_0[:4]),
    Case("persist/single/mutex/dekker/dekker.txt", 86_080, "q6", FROM_0[:4]),
    Case("persist/parameterized/partial-dekker/partial-dekker5.txt", 281_490, "q10", FROM_1[:2]),
    Case("persist/parameterized/burns/burns5.txt", 809_444, "q5", FROM_0),
    Case("persist/single/mutex/szymanski4/szymanski4.txt", 2_254_666, "q8", FROM_0[:4]),
)

WITH_BUFFERS = (
    StoreBufferCase("examples/dekker.pml", "pso", 3, 34_628, 19_041),
    StoreBufferCase("examples/lamport_fast.pml", "tso", 8, 78_442, 24_228),
    StoreBufferCase("examples/lamport_fast.pml", "pso", 2, 455_787, 180_718),
    StoreBufferCase("examples/szymanski.pml", "tso", 12, 370_166, 81_075),
)

TWO_COUNTERS = """
int x = 1, y = 1;
active proctype A() {{ int a = 0; do :: x = a % 2; a = (a + 1) % {n} od }}
active proctype B() {{ int b = 0; do :: y = b % 2; b = (b + 1) % {n} od }}
"""


def states_of_two_counters(n: int) -> int:
    """Under TSO with two places a buffer, each process has 6n states of its own if n is even, whatever the other does.

    If n is odd, the last value before the counter starts again is not the initial one, so that the first round has five
    more states.
    """
    own = 6 * n + (5 if n % 2 else 0)
    return own * own


COUNTED_TO = 400

THREADS = Case("persist/single/mutex/bakery4/bakery4.txt", 8_638_384, int_bits=2)
"""More than a million states: timed with one thread and with two."""
