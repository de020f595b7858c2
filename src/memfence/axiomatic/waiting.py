"""Threads that wait for ever: everybody has ended or waits, and nobody goes on with what memory holds at last.

Memory is fair: whoever reads a variable again and again sees the last write to it at some time (Lahav, Namakonov,
Oberhauser, Podkopaev and Vafeiadis, "Making weak memory models fair", 2021). So a thread waits for ever if no way leads
on from where it stands, with last values for all that it reads: that is its `Wait.goes_on`. What it reads on these ways
are reads with nothing behind them, which no model of ours forbids. docs/theory/waiting.md has the definition.
"""

from __future__ import annotations

from memfence.axiomatic.code import Code, Wait
from memfence.axiomatic.execution import Execution, Place
from memfence.axiomatic.replay import runs_of
from memfence.axiomatic.thread_run import Waiting
from memfence.program.expressions import Shared, evaluate
from memfence.source import Span


def waiting_for_ever(execution: Execution, *, undecided: bool = False) -> tuple[Place, ...]:
    """Where threads wait for ever; nothing where some thread goes on, fails, or reaches the bound of the unrolling.

    `undecided`: also where nobody knows whether they go on.
    """
    found: list[Place] = []
    for thread, run in enumerate(runs_of(execution.code, execution.decisions)):
        stuck = [(thread, at.position) for at in run.waiting if _is_for_ever(execution, at, undecided)]
        if not run.ended and not stuck:
            return ()
        found += [place for place in stuck if not _wait_at(execution.code, place).may_end]
    return tuple(found)


def _wait_at(code: Code, place: Place) -> Wait:
    item = code.item_at(place)
    assert isinstance(item, Wait)
    return item


def _is_for_ever(execution: Execution, at: Waiting, undecided: bool) -> bool:
    if at.goes_on is None:
        return undecided

    def last_value(node: object, index: int) -> int:
        assert isinstance(node, Shared)
        return execution.memory[node.address.base + index]

    return evaluate(at.goes_on, last_value) == 0


def undecided_wait(code: Code) -> Span | None:
    """A place where a thread waits, and nobody knows whether it goes on."""
    for thread in code.threads:
        for item in thread.items:
            if isinstance(item, Wait) and item.goes_on is None:
                return item.origin.span
    return None
