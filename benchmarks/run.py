"""`make bench`: how fast is the explicit engine, beside Spin where it is installed, and what does a second thread buy?

Processor time decides where one thread works, so that a busy machine does not; both tools run in turn in the same run.
A wrong number of states fails the run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from math import exp, log

import spin
from cases import (
    CORPUS,
    COUNTED_TO,
    THREADS,
    TWO_COUNTERS,
    WITH_BUFFERS,
    WITH_REDUCTIONS,
    WITHOUT_REDUCTIONS,
    Case,
    states_of_two_counters,
)
from programs import command_of, load_case

from memfence.engines.native.explicit import Explored, explore
from memfence.models.spec import ModelSpec
from memfence.pipeline import load, load_text
from memfence.program.ir import Forbidden, Program
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from memfence.tasks.options import COMPACT_FROM
from memfence.tasks.task import ALL_REDUCTIONS, Safety
from support.models import spec

UNREDUCED: frozenset[str] = frozenset()
REDUCED = frozenset(ALL_REDUCTIONS)


@dataclass(frozen=True, slots=True)
class Measured:
    """One search of the explicit engine and what the whole of it took."""

    explored: Explored
    wall: float
    cpu: float

    @property
    def rate(self) -> float:
        return self.explored.cost.transitions / self.cpu


def main() -> None:
    compare_without_reductions()
    compare_with_reductions()
    time_store_buffers()
    compare_threads()
    compare_bare_states()


def compare_without_reductions() -> None:
    """One thread, reductions off: transitions per second of processor time."""
    title("SC, one thread, reductions off: transitions per second of CPU time (Spin: -o1 -o2 -o3, -DNOREDUCE)")
    print(f"{'program':16}{'states':>11}{'bytes':>7}{'memfence/s':>13}{'spin bytes':>12}{'spin/s':>12}{'ratio':>8}")
    ratios = []
    for case in available(WITHOUT_REDUCTIONS):
        program = load_case(case)
        ours = measure(program, spec("sc"), UNREDUCED, case.states)
        size = (ours.explored.cost.state_bits + 7) // 8
        line = f"{case.name:16}{case.states:>11,}{size:>7}{ours.rate:>13,.0f}"
        if spin.is_installed():
            theirs = spin.run_spin(program, reductions=False)
            expect(case.name, "Spin's states", theirs.states, case.states)
            rate = theirs.transitions / theirs.pan.cpu
            ratios.append(ours.rate / rate)
            line += f"{theirs.bytes_a_state:>12}{rate:>12,.0f}{ratios[-1]:>8.2f}"
        print(line, flush=True)
    summary("ratio of transitions per second", ratios, "at least 1")


def compare_with_reductions() -> None:
    """`memfence check` from start to end, beside Spin with its defaults (partial order, statement merging)."""
    title("SC, reductions on: seconds on the clock, whole command (Spin: its defaults, partial order included)")
    print(
        f"{'program':16}{'states':>9}{'memfence':>10}{'spin states':>13}"
        f"{'pan':>8}{'with cc':>9}{'/ pan':>8}{'/ all':>8}"
    )
    against_pan, against_all = [], []
    for case in available(WITH_REDUCTIONS):
        program = load_case(case)
        measure(program, spec("sc"), REDUCED, case.states)
        ours = spin.timed(command_of(case))
        line = f"{case.name:16}{case.states:>9,}{ours.wall:>10.2f}"
        if spin.is_installed():
            theirs = spin.run_spin(program, reductions=True)
            whole = theirs.making.wall + theirs.pan.wall
            against_pan.append(ours.wall / theirs.pan.wall)
            against_all.append(ours.wall / whole)
            line += f"{theirs.states:>13,}{theirs.pan.wall:>8.2f}{whole:>9.2f}"
            line += f"{against_pan[-1]:>8.3f}{against_all[-1]:>8.3f}"
        print(line, flush=True)
    summary("ratio of total time to pan alone", against_pan, "")
    summary("ratio of total time to spin, cc and pan", against_all, "at most 0.2")


def time_store_buffers() -> None:
    """The models with store buffers, for which there is nothing to compare with: states per second."""
    title("store buffers, one thread: states and transitions per second of CPU time")
    print(
        f"{'program':24}{'reductions':>11}{'states':>11}{'transitions':>13}{'bytes':>7}{'seconds':>9}{'per second':>13}"
    )
    for case in WITH_BUFFERS:
        program = load(case.path)
        for name, reductions, states in (("none", UNREDUCED, case.states), ("all", REDUCED, case.reduced)):
            ours = measure(program, spec(case.model, case.bound), reductions, states)
            cost = ours.explored.cost
            numbers = f"{cost.states:>11,}{cost.transitions:>13,}{(cost.state_bits + 7) // 8:>7}"
            print(f"{case.name:24}{name:>11}{numbers}{ours.cpu:>9.2f}{ours.rate:>13,.0f}", flush=True)


def compare_threads() -> None:
    """Two threads against one, on the clock."""
    if not CORPUS.is_dir():
        return
    title("two threads, reductions on: seconds on the clock, the least of three runs")
    program = load_case(THREADS)
    one, two = (
        min(measure(program, spec("sc"), REDUCED, THREADS.states, threads=threads).wall for _ in range(3))
        for threads in (1, 2)
    )
    print(
        f"{THREADS.name}: {THREADS.states:,} states, one thread {one:.2f} s, two {two:.2f} s: "
        f"{one / two:.2f} times as fast"
    )


def compare_bare_states() -> None:
    """Bare states against states with parents: bytes and processor time, one thread."""
    title("bare states (--compact), one thread: bytes per state and seconds of CPU time, with parents and without")
    counters = load_text(SourceText("two counters.pml", TWO_COUNTERS.format(n=COUNTED_TO)))
    cases = [("two counters", counters, spec("tso", 2), UNREDUCED, states_of_two_counters(COUNTED_TO))]
    if CORPUS.is_dir():
        cases.append((THREADS.name, load_case(THREADS), spec("sc"), REDUCED, THREADS.states))
    for name, program, memory, reductions, states in cases:
        plain, bare = (
            measure(program, memory, reductions, states, compact_from=compact_from)
            for compact_from in (0, COMPACT_FROM)
        )
        size, bare_size = (found.explored.bytes_held / states for found in (plain, bare))
        print(f"{name}: {states:,} states, {size:.1f} and {bare_size:.1f} bytes, {plain.cpu:.2f} and {bare.cpu:.2f} s")


def measure(program: Program, memory: ModelSpec, reductions: frozenset[str], states: int, **used: int) -> Measured:
    """Explore, and insist on the number of states."""
    bad = next((p.expr for p in program.properties if isinstance(p, Forbidden)), None)
    cpu, wall = time.process_time(), time.perf_counter()
    explored = explore(program, memory, Safety(bad=bad, failures=False), limits=Limits(**used), reductions=reductions)
    measured = Measured(explored, time.perf_counter() - wall, time.process_time() - cpu)
    expect(program.name, "states", explored.cost.states, states)
    return measured


def available(cases: tuple[Case, ...]) -> tuple[Case, ...]:
    return cases if CORPUS.is_dir() else ()


def expect(name: str, what: str, found: int, expected: int) -> None:
    if found != expected:
        sys.exit(f"{name}: {found:,} {what}, expected {expected:,}")


def title(text: str) -> None:
    print(f"\n{text}")
    if "SC" in text and not CORPUS.is_dir():
        print("skipped: corpus not found at ../shared/corpus")


def summary(what: str, ratios: Iterable[float], required: str) -> None:
    values = list(ratios)
    if values:
        mean = exp(sum(map(log, values)) / len(values))
        print(f"{what}, geometric mean of {len(values)}: {mean:.3f}" + (f" (required: {required})" if required else ""))


if __name__ == "__main__":
    main()
