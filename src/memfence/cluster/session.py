"""Connecting to a cluster, or making one of this machine, for as long as a question takes."""

from __future__ import annotations

import logging
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from memfence.records import Record
from memfence.tasks.limits import all_processors
from memfence.tasks.usage import WrongUsage

LOCAL = "local"
REACHED_WITHIN = 5.0
"""Seconds that a machine may take to answer at all."""
OBJECT_STORE_BYTES = 1 << 30
"""Of a local cluster: messages of a few rounds."""
SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_max_direct_call_object_size": str(1 << 20),
}
"""Nothing is reported to anybody, and nothing is said about accelerators. Messages of less than a megabyte travel with
the calls: fetched from the store of another machine, each would take several milliseconds. Larger ones do go there."""


class Node(Record):
    """A machine of the cluster that is alive, and how many searches it can do at a time."""

    id: str
    name: str
    processors: int


def require_ray() -> Any:
    """The module; WrongUsage with what to type where it is missing."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise WrongUsage("cluster", "this needs Ray: pip install 'memfence[cluster]'") from None
    return ray


def require_address(address: str) -> None:
    """WrongUsage for what is neither `local`, `local:N` nor HOST:PORT with somebody listening."""
    host, colon, port = address.rpartition(":")
    if address == LOCAL:
        return
    if not colon or not port.isdigit() or not host or not 0 < int(port) < 65_536:
        raise WrongUsage("cluster", f"`{address}` is neither `local`, `local:N` nor HOST:PORT")
    if host == LOCAL:
        return
    try:
        socket.create_connection((host, int(port)), REACHED_WITHIN).close()
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        hint = "start Ray there with `ray start --head`, and give the address that it prints"
        raise WrongUsage("cluster", f"no cluster answers at {address} ({reason}); {hint}") from None


def phase_of(address: str) -> str:
    """What takes several seconds before the first state."""
    host = address.rpartition(":")[0]
    return "starting Ray on this machine" if LOCAL in (address, host) else f"connecting to {address}"


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to the cluster at `address` inside; `local:N` makes one of N processes on this machine.

    WrongUsage where there is none. A connection that is there already, to whatever cluster, is used and left alone.
    """
    ray = require_ray()
    if ray.is_initialized():
        yield ray
        return
    require_address(address)
    logging.getLogger("ray").setLevel(logging.ERROR)
    before = signal.getsignal(signal.SIGTERM)
    try:
        try:
            ray.init(**_arguments(address), logging_level="ERROR", log_to_driver=False, configure_logging=False)
        except Exception as error:  # of many classes, the plain one among them
            first = str(error).strip().partition("\n")[0]
            raise WrongUsage("cluster", f"no Ray cluster at {address}: {first}") from None
        _handle_again(before)
        yield ray
    finally:
        ray.shutdown()
        _handle_again(before)


def _arguments(address: str) -> dict[str, Any]:
    host, _, count = address.rpartition(":")
    if LOCAL not in (address, host):
        return {"address": address}
    processors = int(count) if host else all_processors()
    return {
        "address": "local",
        "num_cpus": max(1, processors),
        "object_store_memory": OBJECT_STORE_BYTES,
        "include_dashboard": False,
    }


def _handle_again(handler: Any) -> None:
    """Ray takes SIGTERM for itself; the command line answers it like Ctrl-C."""
    try:
        signal.signal(signal.SIGTERM, handler)
    except ValueError:  # not the main thread: nothing was changed
        return


def nodes(ray: Any) -> list[Node]:
    """The machines that are alive and have processors, in a fixed order."""
    alive = [
        Node(node["NodeID"], str(node["NodeManagerHostname"]), int(node["Resources"].get("CPU", 0)))
        for node in ray.nodes()
        if node["Alive"]
    ]
    return sorted((node for node in alive if node.processors > 0), key=lambda node: (node.name, node.id))
