"""A real cluster of Ray, several machines played by this one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memfence.cluster.session import require_ray

STORE_BYTES = 256 << 20


class Machines:
    """A cluster whose head has no processor, and machines with one each that come and go."""

    def __init__(self, cluster: Any, count: int) -> None:
        self.cluster = cluster
        self.machines = [self._add() for _ in range(count)]

    @property
    def address(self) -> str:
        return str(self.cluster.address)

    def _add(self) -> Any:
        return self.cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)

    def kill(self, number: int) -> None:
        """The machine is gone, without a word; another one comes in its place."""
        self.cluster.remove_node(self.machines[number], allow_graceful=False)
        self.machines[number] = self._add()


@contextmanager
def playing(count: int) -> Iterator[Machines]:
    """So many machines; the test is skipped where Ray is not installed."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'memfence[cluster]'")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    require_ray()  # with the settings that memfence gives it
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        yield Machines(cluster, count)
    finally:
        cluster.shutdown()
