"""Independent pieces of work for the machines of a cluster."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from memfence.cluster.placing import lost_errors
from memfence.cluster.session import connected, nodes

T = TypeVar("T")
R = TypeVar("R")
MOST_RETRIES = 3
"""A job whose machine is lost is begun again on another one, so many times."""


class JobLost(Exception):
    """The machines that worked on a job were lost, again and again."""


def each(address: str, function: Callable[[T], R], items: Sequence[T]) -> Generator[R | JobLost, None, None]:
    """`function` of each item, in their order; every processor of the cluster works on one of them at a time.

    `function` is one of a module of memfence, and has no effect but its value: it may be begun more than once. Whoever
    does not ask for all values closes the iterator, which ends the rest.
    """
    with connected(address) as ray:
        job = ray.remote(function).options(num_cpus=1, max_retries=MOST_RETRIES, scheduling_strategy="SPREAD")
        waiting = [job.remote(item) for item in items]
        for reference in waiting:
            yield _value(ray, reference)


def unpickled_and_called(folder_and_job: tuple[str, bytes]) -> Any:
    """The value of a pickled job from modules in a folder, which is no part of what is installed."""
    folder, job = folder_and_job
    if folder not in sys.path:
        sys.path.append(folder)
    return pickle.loads(job)()


def processors(address: str) -> int:
    """How many jobs can be done at a time."""
    with connected(address) as ray:
        return sum(node.processors for node in nodes(ray))


def _value(ray: Any, reference: Any) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError:
        raise  # what the job raised
    except lost_errors(ray) as error:
        return JobLost(str(error).partition("\n")[0])
