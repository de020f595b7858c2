"""What a round of a shared search costs besides its work: two nodes of Ray hand messages of some size to each other.

    python benchmarks/cluster_rounds.py [--rounds N] [--bytes 0,1000,...]

Messages below RAY_max_direct_call_object_size travel with the calls, larger ones through the stores of the nodes; the
variable is that of the environment, else memfence's own.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import deque
from typing import Any

from memfence.cluster.session import nodes, require_ray

STORE_BYTES = 512 << 20
ROUNDS_AHEAD = 2
LIMIT = "RAY_max_direct_call_object_size"


class Echo:
    """Hands each message on, with a short report, as the parts of a search do."""

    def round(self, message: bytes) -> tuple[bytes, bytes]:
        return b"report", message


def milliseconds(ray: Any, actors: list[Any], size: int, rounds: int) -> float:
    """Of one round, with some handed out ahead."""
    mail: list[Any] = [bytes(size) for _ in actors]
    waiting: deque[list[Any]] = deque()
    start = time.perf_counter()
    for _ in range(rounds):
        answers = [
            actor.round.options(num_returns=2).remote(message) for actor, message in zip(actors, mail, strict=True)
        ]
        mail = [answers[-1 - number][1] for number in range(len(actors))]
        waiting.append([answer[0] for answer in answers])
        if len(waiting) > ROUNDS_AHEAD:
            ray.get(waiting.popleft())
    while waiting:
        ray.get(waiting.popleft())
    return (time.perf_counter() - start) / rounds * 1e3


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--bytes", default="0,100000,200000,500000,1000000,3000000")
    options = parser.parse_args()
    ray = require_ray()
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(2):
            cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        ray.init(address=cluster.address, logging_level="ERROR", log_to_driver=False)
        affinity = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
        made = ray.remote(Echo)
        actors = [
            made.options(num_cpus=0, scheduling_strategy=affinity(node.id, soft=False)).remote() for node in nodes(ray)
        ]
        milliseconds(ray, actors, 0, 20)
        print(f"with the calls below {os.environ[LIMIT]} bytes")
        print("| bytes | ms a round |\n|---|---|")
        for size in map(int, options.bytes.split(",")):
            print(f"| {size:,} | {milliseconds(ray, actors, size, options.rounds):.1f} |", flush=True)
    finally:
        ray.shutdown()
        cluster.shutdown()


if __name__ == "__main__":
    main()
