"""Whether a choice of stronger orders leaves a program that is not shown to be robust against RC11.

Asked of the search with the monitor, so that loops may go round any number of times. What the monitor reports need not
be an execution: with more fences it may report more. So what is found is enough, but perhaps not the least.
"""

from __future__ import annotations

from collections.abc import Sequence

from memfence.engines.axiomatic.solve import LimitHit
from memfence.models.spec import Axioms
from memfence.program.ir import Program
from memfence.strategy.portfolio import decide
from memfence.synthesis.orders.candidates import strengthened
from memfence.synthesis.orders.least import Choice
from memfence.synthesis.orders.places import OrderEdit, OrderPlace
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import SeesThePast
from memfence.tasks.limits import Limits
from memfence.tasks.task import Keeps, Task


class RobustOracle:
    """`program` with every choice of `edits`, under each of the models."""

    def __init__(
        self,
        program: Program,
        places: Sequence[OrderPlace],
        edits: Sequence[OrderEdit],
        names: Sequence[str],
        limits: Limits,
    ) -> None:
        self._program = program
        self._places = places
        self._edits = edits
        self._names = names
        self._limits = limits

    def violates(self, choice: Choice) -> bool:
        """Whether robustness is not shown with these edits made; LimitHit."""
        added = [
            (place, frozenset(self._edits[e].strength for e in choice if self._edits[e].place == n))
            for n, place in enumerate(self._places)
        ]
        program = strengthened(self._program, added)
        for name in self._names:
            answer = decide(Task(program, Axioms(name), Keeps(Criterion.ROBUST), self._limits))
            if isinstance(answer.evidence, SeesThePast):
                return True
            if answer.verdict is not Verdict.HOLDS:
                raise LimitHit(answer.stop)
        return False
