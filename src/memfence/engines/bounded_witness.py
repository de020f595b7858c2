"""From "it is reachable" to a run: growing buffer bounds until the explicit search finds what was asked for.

An engine for unbounded buffers proves that a finding exists; every run uses finitely many entries, so some bound shows
it, and a small one gives a run that people can follow.
"""

from __future__ import annotations

from memfence.engines.iterative_deepening import HIGHEST, deepening
from memfence.engines.native.explicit import explore
from memfence.execution.trace import Trace
from memfence.tasks.limits import Stop
from memfence.tasks.task import Safety, Task


def find_bounded_witness(task: Task) -> Trace | None:
    """A replayed run that breaks the goal, with the lowest buffer bound that allows one; None if a limit ends it.

    The task is about a model without bound.
    """
    assert isinstance(task.goal, Safety)
    for model in deepening(task.spec, HIGHEST):
        if task.is_over:
            return None
        explored = explore(task.program, model, task.goal, limits=task.limits, reductions=task.reductions)
        if explored.finding is not None:
            return explored.trace()
        if explored.refused == 0 or explored.stop is not Stop.NOTHING_LEFT:
            return None
    return None
