"""Is there an accepted infinite run? Decided by the machines of a cluster, by elimination (OWCTY).

All states of the product are found; then those that cannot follow a cycle with all marks are given up, until nothing
changes: see `core/cluster/cycles.hpp`. If some states are left, there is such a cycle, and going backwards from any of
them leads into one: `backwards`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memfence.engines.cluster.backwards import Loop, find_loop
from memfence.engines.cluster.cycle_part import CyclePart
from memfence.engines.cluster.rounds import Chain, Settings, SharedWork, Stopped
from memfence.engines.native.cycle_partition import CyclePartition, CycleProgress, Phase
from memfence.engines.native.emptiness import CyclePlan
from memfence.records import Record
from memfence.tasks.evidence import Lasso
from memfence.tasks.limits import Cost, Limits, Stop


class SharedLasso(Record):
    """States from an initial one to the loop, and around it; the marks of the arcs of the loop."""

    prefix: Chain
    cycle: Chain
    marks: tuple[int, ...]


class SharedCycles(Record):
    """The outcome: FOUND where a run is accepted. Then `nearby` is a lasso of this machine's, or `lasso` one of all."""

    stop: Stop
    cost: Cost
    refused: int = 0
    nearby: Lasso | None = None
    lasso: SharedLasso | None = None
    lost: int = 0


class CycleSearch(SharedWork[SharedCycles]):
    """One search. `nearby` looks for a lasso on this machine alone, once there is one; it may give up."""

    def __init__(
        self,
        ray: Any,
        plan: CyclePlan,
        here: CyclePartition,
        limits: Limits,
        settings: Settings,
        *,
        all_marks: int,
        nearby: Callable[[], Lasso | None],
    ) -> None:
        super().__init__(ray, CyclePart, plan, here.digest, limits, settings)
        self._all_marks = all_marks
        self._nearby = nearby

    def _without_answer(self, stop: Stop, lost: int) -> SharedCycles:
        return SharedCycles(stop, self._cost(), lost=lost)

    def _attempt(self, lost: int) -> SharedCycles:
        progresses = self._phase(Phase.REACH)
        cost, refused = self._cost(), sum(now.refused for now in progresses)
        before, left = -1, sum(now.states for now in progresses)
        while left and left != before:
            self._phase(Phase.TRIM)
            before = sum(now.alive for now in self._ask("start", Phase.MARK))
            self._finish()
            left = sum(now.alive for now in self._ask("start", Phase.TRIM))
        if not left:
            return SharedCycles(Stop.NOTHING_LEFT, cost, refused, lost=lost)
        nearby = self._nearby()
        return SharedCycles(Stop.FOUND, cost, refused, nearby, self._lasso() if nearby is None else None, lost)

    def _phase(self, phase: Phase) -> list[CycleProgress]:
        self._ask("start", phase)
        return self._finish()

    def _finish(self) -> list[CycleProgress]:
        """Rounds until no part has anything to expand."""
        for progresses in self._rounds():
            self._note(progresses)
            stops = sorted({now.stop for now in progresses} - {Stop.NOTHING_LEFT}, key=lambda stop: stop.value)
            if stops:
                raise Stopped(stops[0])
            if not any(now.size for now in progresses):
                return list(progresses)
        raise AssertionError("rounds have no end of their own")

    def _lasso(self) -> SharedLasso:
        self._phase(Phase.LINK)
        firsts = self._ask("first_alive")
        owner = next(owner for owner, first in enumerate(firsts) if first is not None)
        loop: Loop = find_loop((owner, firsts[owner]), self._all_marks, lambda ends: self._of_owners("arcs_into", ends))
        (prefix,) = self._chains([loop.states[0]])
        return SharedLasso(prefix, tuple(self._of_owners("states", loop.states)), loop.marks)
