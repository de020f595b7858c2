"""Threads that wait for ever: everybody else has ended or waits as well, and what they look at never changes again.

Memory is fair: whoever reads a variable again and again sees the last write to it at some time (Lahav, Namakonov,
Oberhauser, Podkopaev and Vafeiadis, "Making weak memory models fair", 2021). So in an infinite execution in which all
other threads have done what they can, the last round of each waiting thread reads last writes only, and one such round
stands for all that follow: it adds reads with nothing behind them.
"""

from __future__ import annotations

from memfence.axiomatic.code import Code, Wait
from memfence.axiomatic.execution import Execution, Place
from memfence.axiomatic.replay import runs_of
from memfence.source import Span


def waiting_for_ever(execution: Execution, *, undecided: bool = False) -> tuple[Place, ...]:
    """Where threads wait for ever; nothing where some thread goes on, fails, or reaches the bound of the unrolling.

    `undecided`: also where they could have gone another way, which may be possible.
    """
    found: list[Place] = []
    for thread, run in enumerate(runs_of(execution.code, execution.decisions)):
        stuck = [
            (thread, position) for position in run.waiting if _is_for_ever(execution, (thread, position), undecided)
        ]
        if not run.ended and not stuck:
            return ()
        found += stuck
    return tuple(found)


def _is_for_ever(execution: Execution, place: Place, undecided: bool) -> bool:
    item = execution.code.item_at(place)
    assert isinstance(item, Wait)
    if not item.is_decided and not undecided:
        return False
    last = {writes[-1] for writes in execution.decisions.order.values()}
    sources = (execution.decisions.read_from.get((place[0], position)) for position in item.looks)
    return all(source in last for source in sources if source is not None)


def undecided_wait(code: Code) -> Span | None:
    """A place where a thread waits and could have gone another way."""
    for thread in code.threads:
        for item in thread.items:
            if isinstance(item, Wait) and not item.is_decided:
                return item.origin.span
    return None
