"""Ray without Ray: the few names that memfence uses, in one process, each call done when it is made.

With it the whole of a shared search is tested on many programs in no time, and machines are lost exactly when a test
wants: `losing(call)` is asked before every call of a method, by its number.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    """The base of all the errors."""


class RayActorError(RayError):
    """The actor is gone."""


class RayTaskError(RayError):
    """What a call raised."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


class GetTimeoutError(RayError):
    """Never raised: everything is there at once."""


class Reference:
    """The value of a call, or its error."""

    def __init__(self, value: Any = None, error: Exception | None = None) -> None:
        self.value, self.error = value, error


class Method:
    def __init__(self, actor: Actor, name: str, returns: int = 1) -> None:
        self._actor, self._name, self._returns = actor, name, returns

    def options(self, num_returns: int) -> Method:
        return Method(self._actor, self._name, num_returns)

    def remote(self, *arguments: Any) -> Any:
        try:
            value = self._actor.call(self._name, [_valued(argument) for argument in arguments])
        except RayActorError as error:
            failed = [Reference(error=error) for _ in range(self._returns)]
            return failed if self._returns > 1 else failed[0]
        return [Reference(one) for one in value] if self._returns > 1 else Reference(value)


def _valued(argument: Any) -> Any:
    if not isinstance(argument, Reference):
        return pickle.loads(pickle.dumps(argument))
    if argument.error is not None:
        raise argument.error
    return pickle.loads(pickle.dumps(argument.value))


class Actor:
    def __init__(self, ray: OneProcessRay, made: Any) -> None:
        self._ray, self._made = ray, made
        self.is_alive = True

    def __getattr__(self, name: str) -> Method:
        return Method(self, name)

    def call(self, name: str, arguments: list[Any]) -> Any:
        self._ray.calls += 1
        if self._ray.losing(self._ray.calls):
            self.is_alive = False
        if not self.is_alive:
            raise RayActorError("lost")
        return getattr(self._made, name)(*arguments)


class OneProcessRay:
    """A cluster of `count` machines with a processor each."""

    def __init__(self, count: int, losing: Callable[[int], bool] = lambda call: False) -> None:
        self.count, self.losing = count, losing
        self.calls = 0
        self.exceptions = SimpleNamespace(
            RayActorError=RayActorError, RayTaskError=RayTaskError, GetTimeoutError=GetTimeoutError
        )
        affinity = SimpleNamespace(NodeAffinitySchedulingStrategy=lambda node, soft: node)
        self.util = SimpleNamespace(scheduling_strategies=affinity)

    def remote(self, kind: type) -> Any:
        made = SimpleNamespace(remote=lambda *arguments: Actor(self, kind(*map(_valued, arguments))))
        return SimpleNamespace(options=lambda **_: made)

    def put(self, value: Any) -> Reference:
        return Reference(value)

    def get(self, references: list[Reference], timeout: float | None = None) -> list[Any]:
        return [_valued(reference) for reference in references]

    def kill(self, actor: Actor) -> None:
        actor.is_alive = False

    def nodes(self) -> list[dict[str, Any]]:
        return [
            {"NodeID": f"{n:03}", "NodeManagerHostname": f"m{n}", "Alive": True, "Resources": {"CPU": 1.0}}
            for n in range(self.count)
        ]

    @contextmanager
    def connect(self, address: str) -> Iterator[OneProcessRay]:
        yield self
