"""What fences cost on the processor at hand, measured between a store and a load."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import sleep

from memfence.frontends.frontend import EditKind
from memfence.models.catalogue import OrderCosts
from memfence.records import Record
from memfence.silicon.machine import build

LABELS = {
    "nothing": "a store and a load, nothing between",
    "mfence": "mfence",
    "lock-or": "lock or",
    "xchg": "xchg instead of the store",
    "sfence": "sfence",
    "seq_cst-store": "a seq_cst store",
}
PASSES = 3
PAUSE_SECONDS = 0.7
"""Whatever disturbs a measurement often lasts longer than one pass, and seldom as long as all of them."""
MOST_SPREAD = 0.2
"""Repetitions that differ by more say that the machine is too noisy."""


class Cost(Record):
    """Nanoseconds of one store and load with it: the least median of the passes, and the middle half of them all."""

    name: str
    nanoseconds: float
    low: float
    high: float

    @property
    def is_steady(self) -> bool:
        return self.high - self.low <= MOST_SPREAD * self.nanoseconds


def measure_costs() -> tuple[Cost, ...]:
    """Build and run the measurement."""
    with TemporaryDirectory(prefix="memfence-") as folder:
        source = Path(folder) / "costs.c"
        source.write_text(files("memfence.silicon").joinpath("costs.c").read_text())
        build(source, Path(folder) / "costs")
        passes = [_pass(Path(folder) / "costs")]
        while len(passes) < PASSES:
            sleep(PAUSE_SECONDS)
            passes.append(_pass(Path(folder) / "costs"))
    return tuple(cost_of(name, [times[name] for times in passes]) for name in LABELS)


def _pass(program: Path) -> dict[str, list[float]]:
    done = subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=300)
    measured: dict[str, list[float]] = {}
    for line in done.stdout.splitlines():
        name, nanoseconds, _ = line.split()
        measured.setdefault(name, []).append(float(nanoseconds))
    return measured


def cost_of(name: str, passes: Sequence[Sequence[float]]) -> Cost:
    """What the repetitions of each pass amount to. A pass that was disturbed as a whole widens the spread."""
    ordered = [sorted(times) for times in passes]
    low = min(times[len(times) // 4] for times in ordered)
    high = max(times[-1 - len(times) // 4] for times in ordered)
    return Cost(name, min(median(times) for times in ordered), low, high)


def costs_of_edits(measured: tuple[Cost, ...]) -> dict[EditKind, int]:
    """What each edit adds, in tenths of a nanosecond and at least 1: weights for `fix --minimise cost`."""
    by_name = {cost.name: cost.nanoseconds for cost in measured}
    added = {kind: by_name[name] - by_name["nothing"] for kind, name in EDITS.items()}
    return {kind: max(1, round(10 * more)) for kind, more in added.items()}


def order_costs_of(measured: tuple[Cost, ...]) -> OrderCosts:
    """What orders and read-modify-writes add on this processor, in the same units; acquire and release are free."""
    by_name = {cost.name: cost.nanoseconds for cost in measured}

    def added(name: str) -> int:
        return max(1, round(10 * (by_name[name] - by_name["nothing"])))

    return OrderCosts(
        access=0, store=added("seq_cst-store"), load=0, fence=0, full_fence=added("mfence"), update=added("lock-or")
    )


EDITS: dict[EditKind, str] = {"mfence": "mfence", "sfence": "sfence", "locked": "xchg"}
