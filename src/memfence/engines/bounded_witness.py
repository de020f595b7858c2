"""From "it is reachable" to a run: growing buffer bounds until the explicit engine finds what was asked for.

The symbolic engine proves that a finding exists with unbounded buffers; every run uses finitely many entries, so some
bound shows it, and the smallest such bound gives a run that people can follow.
"""

from __future__ import annotations

import time
from dataclasses import replace

from memfence.engines.native.explicit import Bounded, Question, explore
from memfence.engines.native.symbolic import UnboundedModel
from memfence.execution.trace import Trace
from memfence.program.ir import Program
from memfence.tasks.limits import Limits, Stop

LARGEST_BOUND = 64


def find_concrete(
    program: Program,
    model: UnboundedModel,
    question: Question,
    *,
    limits: Limits | None = None,
    reductions: frozenset[str] = frozenset(),
) -> Trace | None:
    """A replayed run to what `question` asks for, with the smallest bound that allows one; None if a limit ends it."""
    limits = limits or Limits()
    start = time.monotonic()
    for bound in range(1, LARGEST_BOUND + 1):
        left = limits
        if limits.timeout_seconds is not None:
            seconds = limits.timeout_seconds - (time.monotonic() - start)
            if seconds <= 0:
                return None
            left = replace(limits, timeout_seconds=seconds)
        explored = explore(program, Bounded(model, bound), question, limits=left, reductions=reductions)
        if explored.finding is not None:
            return explored.trace()
        if explored.refused == 0 or explored.stop is not Stop.NOTHING_LEFT:
            return None
    return None
