"""What a cluster gains: one search on 1 and 2 threads, and on clusters of 1, 2 and 4 machines that this one plays.

    python benchmarks/cluster.py FILE.dve [--repeat N] [--machines 1,2,4] [--whole] [--alone]

Each machine is a node of Ray with a store of objects of its own, so that messages travel as between machines. All
searches take turns, and the best of each counts: on a machine that does other things, too, only ratios and processor
seconds mean something. Every search must find the same number of states.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memfence.cluster.session import require_ray
from memfence.deadline import Deadline
from memfence.engines.cluster.engine import ClusterEngine
from memfence.engines.cluster.rounds import Settings
from memfence.engines.explicit import ExplicitEngine
from memfence.engines.native.explicit import plan_of
from memfence.engines.native.partition import Partition
from memfence.models.spec import SC
from memfence.pipeline import load
from memfence.tasks.answer import Answer
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety, Task

STORE_BYTES = 512 << 20
LOOK_SECONDS = 0.5


def processor_seconds() -> float:
    """Of this process and all that it started, as far as they are alive."""
    children: dict[int, list[int]] = {}
    used: dict[int, float] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(folder.name)
        children.setdefault(int(fields[1]), []).append(pid)
        used[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        pid = waiting.pop()
        total += used.get(pid, 0.0)
        waiting += children.get(pid, [])
    return total


class Meter:
    """Processor seconds while a search goes on, which calls it in every round; it looks now and then."""

    def __init__(self) -> None:
        self.start = processor_seconds()
        self.used = 0.0
        self._next = Deadline(0.0)
        self._is_started = False

    def __call__(self, *progress: object) -> None:
        if not self._next.passed:
            return
        self._next = Deadline(LOOK_SECONDS)
        now = processor_seconds()
        if not self._is_started:
            self.start, self._is_started = now, True
        self.used = now - self.start


def on_threads(task: Task, threads: int) -> Answer:
    return ExplicitEngine().answer(task.within(threads=threads))


def on_machines(ray: Any, task: Task, count: int, watch: Callable[..., object]) -> Answer:
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(count):
            cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        return ClusterEngine().answer(task.within(cluster=cluster.address, progress=watch))
    finally:
        ray.shutdown()
        cluster.shutdown()


def parts_alone(task: Task, counts: list[int]) -> None:
    """The parts of a search in this process, one after the other: the work, without Ray and without waiting."""
    assert isinstance(task.goal, Safety)
    plan = plan_of(task.program, task.model, task.goal, task.reductions)
    print("| parts | processor seconds | the slowest part of each round | rounds | MB sent |\n|---|---|---|---|---|")
    for count in counts:
        parts = [Partition(plan, number, count, Settings().round_states, 1 << 40) for number in range(count)]
        for part in parts:
            part.begin()
        mail: list[list[bytes | None]] = [[None] * count for _ in parts]
        rounds = sent = 0
        total = slowest = 0.0
        while any(part.standing.size for part in parts):
            used, answers = [], []
            for part, messages in zip(parts, mail, strict=True):
                before = time.process_time()
                part.receive(messages)
                part.expand()
                answers.append([part.message_to(owner) for owner in range(count)])
                used.append(time.process_time() - before)
            mail = [[answer[owner] for answer in answers] for owner in range(count)]
            sent += sum(len(message) for messages in mail for message in messages if message is not None)
            rounds, total, slowest = rounds + 1, total + sum(used), slowest + max(used)
        print(f"| {count} | {total:.1f} | {slowest:.1f} | {rounds} | {sent / 1e6:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--machines", default="1,2,4")
    parser.add_argument("--whole", action="store_true", help="without reductions of the program")
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    reductions = {"reductions": frozenset[str]()} if options.whole else {}
    task = Task(load(options.file), SC, Safety(failures=False), Limits(), **reductions)
    if options.alone:
        parts_alone(task, [int(n) for n in options.machines.split(",")])
        return
    ray = require_ray()
    ways = [("threads", 1), ("threads", 2), *(("machines", int(n)) for n in options.machines.split(","))]
    best: dict[tuple[str, int], Answer] = {}
    states = set()
    for _ in range(options.repeat):
        for way, count in ways:
            clock, meter = Deadline(), Meter()
            answer = on_threads(task, count) if way == "threads" else on_machines(ray, task, count, meter)
            used = meter.used if way == "machines" else processor_seconds() - meter.start
            states.add(answer.cost.states)
            known = best.get((way, count))
            if known is None or answer.cost.seconds < known.cost.seconds:
                best[way, count] = answer
            seconds = answer.cost.seconds
            print(f"{way} {count}: {seconds:.1f} s, {used:.1f} CPU s, {clock.elapsed:.1f} s with start", flush=True)
    assert len(states) == 1, states
    one = best["threads", 1].cost
    print(f"\n{options.file.name}: {one.states:,} states, {one.transitions:,} transitions, {one.depth} levels")
    print("| | seconds | states/s | against 2 threads | rounds | MB sent |\n|---|---|---|---|---|---|")
    for (way, count), answer in best.items():
        seconds, counts = answer.cost.seconds, dict(answer.counts)
        ratio = best["threads", 2].cost.seconds / seconds
        sent = f"{counts.get('sent', 0) / 1e6:.0f}" if counts else "-"
        rate = one.states / seconds
        print(f"| {count} {way} | {seconds:.1f} | {rate:,.0f} | {ratio:.2f} | {counts.get('rounds', '-')} | {sent} |")


if __name__ == "__main__":
    main()
