"""Processes of a cluster that work on one thing together, each on a machine of its own as far as there are enough."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from memfence.cluster.session import Node, nodes
from memfence.tasks.usage import WrongUsage
from memfence.version import VERSION

ANOTHER_LOOK_SECONDS = 1.0
"""After a loss: how long to wait before asking who is still there."""
Get = Callable[[list[Any]], list[Any]]


class Parts:
    """As many actors of class `actor` as the cluster has processors now; begun again, on machines that are alive.

    `digest` is what each of them must say, so that all mean the same.
    """

    def __init__(self, ray: Any, actor: type, digest: str) -> None:
        self._ray = ray
        self._actor = ray.remote(actor)
        self._digest = digest
        self._actors: list[Any] = []
        self.nodes: list[Node] = []
        self.count = sum(node.processors for node in nodes(ray))
        if self.count == 0:
            raise WrongUsage("cluster", "no machine of the cluster has a processor")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._actors)

    def __getitem__(self, number: int) -> Any:
        return self._actors[number]

    def begin(self, arguments: Callable[[int, int], tuple[Any, ...]], get: Get) -> None:
        """End those that are there, and start all anew; `arguments` by number and how many share the machine."""
        if self._actors:
            self.end()
            time.sleep(ANOTHER_LOOK_SECONDS)
        self.nodes = placed(nodes(self._ray), self.count)
        sharing = Counter(node.id for node in self.nodes)
        self._actors = [
            self._on(node).remote(*arguments(number, sharing[node.id])) for number, node in enumerate(self.nodes)
        ]
        for node, answer in zip(self.nodes, get([actor.digest.remote() for actor in self._actors]), strict=True):
            if answer != (VERSION, self._digest):
                raise WrongUsage(
                    "cluster", f"{node.name} has memfence {answer[0]}, or another build; here is {VERSION}"
                )

    def end(self) -> None:
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []

    def raise_if_ours(self, error: Exception) -> None:
        """Go on where a machine was lost; an error of the work itself is not mended by doing it again."""
        cause = getattr(error, "cause", None)
        is_task_error = isinstance(error, self._ray.exceptions.RayTaskError)
        if is_task_error and not isinstance(cause, lost_errors(self._ray)):
            raise error

    def _on(self, node: Node) -> Any:
        where = self._ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node.id, soft=False)
        return self._actor.options(num_cpus=0, max_restarts=0, scheduling_strategy=where)


def placed(machines: Sequence[Node], count: int) -> list[Node]:
    """A machine for each of `count` processes: always one whose processors have least to do, the first of several."""
    if not machines:
        raise WrongUsage("cluster", "no machine of the cluster is left")
    busy = dict.fromkeys((node.id for node in machines), 0)
    chosen: list[Node] = []
    for _ in range(count):
        node = min(machines, key=lambda node: busy[node.id] / node.processors)
        busy[node.id] += 1
        chosen.append(node)
    return chosen


def lost_errors(ray: Any) -> tuple[type[Exception], ...]:
    """What Ray raises where a process, a machine or what it kept is gone; or where work that needed it fails."""
    known = ray.exceptions
    names = (
        "RayActorError", "ObjectLostError", "WorkerCrashedError", "NodeDiedError", "ActorUnschedulableError",
        "RaySystemError", "OutOfMemoryError", "LocalRayletDiedError", "OwnerDiedError", "ObjectFetchTimedOutError",
        "RayTaskError",
    )  # fmt: skip
    return tuple(getattr(known, name) for name in names if hasattr(known, name))
