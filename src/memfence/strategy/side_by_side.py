"""Several engines at the same time: a thread and an equal part of the memory each, until one of them is sure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from memfence.engines.registry import engine_named
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.limits import Cancel
from memfence.tasks.task import Task

POLL_SECONDS = 0.2
"""How long Ctrl-C may wait for an answer."""


def ask_side_by_side(asked: Sequence[tuple[str, Task]], revise: Callable[[Answer], Answer]) -> Answer:
    """The first conclusive answer, which ends the others; without one, a bounded one, else that of the first engine.

    `revise` may take back what an engine says. Engines with an obstacle are left out. A second interrupt, or an alarm,
    does not wait for engines that are slow to end: they are told to, and left behind.
    """
    able = [(name, task) for name, task in asked if engine_named(name).obstacle(task) is None]
    cancels = [Cancel() for _ in able]
    futures: list[Future[Answer]] = []
    able[0][1].limits.announce(" + ".join(name for name, _ in able))
    pool = ThreadPoolExecutor(len(able))
    try:
        for number, ((name, task), cancel) in enumerate(zip(able, cancels, strict=True)):
            futures.append(pool.submit(_ask, name, _part(task, number, len(able), cancel), revise))
        answers = list(_as_they_come(futures, cancels))
    except KeyboardInterrupt:
        _end(cancels)
        if not futures:
            raise
        answers = [future.result() for future in futures]
    finally:
        _end(cancels)
        # Never join a thread that still searches: CPython 3.11 takes it for ended when a signal interrupts the join,
        # and shuts down under it.
        pool.shutdown(wait=all(future.done() for future in futures))
    conclusive = [answer for answer in answers if answer.is_conclusive]
    bounded = [answer for answer in answers if answer.verdict is Verdict.HOLDS_UP_TO]
    return (conclusive or bounded or [futures[0].result()])[0]


def _part(task: Task, number: int, count: int, cancel: Cancel) -> Task:
    """The first one reports its progress for all."""
    limits = task.limits
    progress = limits.progress if number == 0 else None
    return task.within(cancel=cancel, progress=progress, memory_megabytes=limits.part(count))


def _ask(name: str, task: Task, revise: Callable[[Answer], Answer]) -> Answer:
    return revise(engine_named(name).answer(task))


def _as_they_come(futures: list[Future[Answer]], cancels: list[Cancel]) -> Iterator[Answer]:
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        for future in done:
            answer = future.result()
            yield answer
            if answer.is_conclusive:
                _end(cancels)


def _end(cancels: list[Cancel]) -> None:
    for cancel in cancels:
        cancel.cancel()
