"""How a search of the core ended: what all of them tell, whatever they looked for."""

from __future__ import annotations

from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.limits import Cost, Stop


class Searched(Record):
    """`program` as it was loaded, why the search of it stopped, and what it cost."""

    program: Program
    stop: Stop
    cost: Cost

    @property
    def saw_everything(self) -> bool:
        """Whether nothing was left to look at; what that proves is for each kind of search to say."""
        return self.stop is Stop.NOTHING_LEFT
