"""Measurements as jobs for the machines of a cluster: each has one processor, and files where this machine has them."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

from memfence.cluster.jobs import JobLost, each, unpickled_and_called
from paper_tables.command import CommandFailed

T = TypeVar("T")
BENCHMARKS = str(Path(__file__).resolve().parents[1])


def each_measured(jobs: Sequence[Callable[[], T]], cluster: str) -> Iterator[T]:
    """What the jobs give, in their order. CommandFailed where one has failed, or its machines were lost."""
    sent = [(BENCHMARKS, pickle.dumps(partial(_measured, job))) for job in jobs]
    with closing(each(cluster, unpickled_and_called, sent)) as answers:
        for answer in answers:
            if isinstance(answer, JobLost):
                raise CommandFailed(f"the machine that measured was lost: {answer}")
            if isinstance(answer, CommandFailed):
                raise answer
            yield answer


def _measured(job: Callable[[], T]) -> T | CommandFailed:
    """On another machine: an error is a value, so that it arrives as it is."""
    try:
        return job()
    except CommandFailed as failure:
        return failure
