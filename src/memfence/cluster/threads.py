"""Threads of this process in place of machines: the few names of Ray that a shared search uses.

Each part has a thread of its own, which does its calls one after the other. What a call waits for was asked of the
others before, so that nobody waits in a circle. The core works without Python's lock.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from memfence.records import Record


class NotYet(Exception):
    """A value is not there in time."""


class NeverRaised(Exception):
    """What only machines have."""


class Value(Record):
    """A value to come, or one of several that come together."""

    future: Future[Any]
    position: int | None = None

    def get(self) -> Any:
        value = self.future.result()
        return value if self.position is None else value[self.position]


class _Method:
    def __init__(self, thread: ThreadPoolExecutor, made: Future[Any], name: str, returns: int = 1) -> None:
        self._thread, self._made, self._name, self._returns = thread, made, name, returns

    def options(self, num_returns: int) -> _Method:
        return _Method(self._thread, self._made, self._name, num_returns)

    def remote(self, *arguments: Any) -> Any:
        def call() -> Any:
            return getattr(self._made.result(), self._name)(*map(_valued, arguments))

        future = self._thread.submit(call)
        return Value(future) if self._returns == 1 else [Value(future, n) for n in range(self._returns)]


def _valued(argument: Any) -> Any:
    return argument.get() if isinstance(argument, Value) else argument


class _Actor:
    def __init__(self, kind: type, arguments: tuple[Any, ...]) -> None:
        self.thread = ThreadPoolExecutor(1)
        self._made = self.thread.submit(lambda: kind(*map(_valued, arguments)))

    def __getattr__(self, name: str) -> _Method:
        return _Method(self.thread, self._made, name)


class Threads:
    """So many parts, each with a thread."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.exceptions = SimpleNamespace(GetTimeoutError=NotYet, RayTaskError=NeverRaised)
        affinity = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
        self.util = SimpleNamespace(scheduling_strategies=affinity)

    def remote(self, kind: type) -> Any:
        made = SimpleNamespace(remote=lambda *arguments: _Actor(kind, arguments))
        return SimpleNamespace(options=lambda **_: made)

    def put(self, value: Any) -> Any:
        return value

    def get(self, references: list[Any], timeout: float | None = None) -> list[Any]:
        if wait([reference.future for reference in references], timeout).not_done:
            raise NotYet
        return [reference.get() for reference in references]

    def kill(self, actor: _Actor) -> None:
        actor.thread.shutdown(wait=False, cancel_futures=True)

    def nodes(self) -> list[dict[str, Any]]:
        own = {"NodeID": "0", "NodeManagerHostname": "threads", "Alive": True}
        return [{**own, "Resources": {"CPU": float(self._count)}}]

    @contextmanager
    def connect(self, address: str) -> Iterator[Threads]:
        """There is nothing to connect to."""
        yield self
