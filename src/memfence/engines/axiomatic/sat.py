"""A SAT solver that keeps to limits and is fed while it is used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memfence.deadline import Deadline
from memfence.engines.axiomatic.clauses import Clauses
from memfence.foreign_calls import call_and_wait
from memfence.tasks.limits import Limits, Stop, resident_megabytes

SOLVER = "minisat22"
FIRST_BUDGET = 2_000
"""Conflicts until somebody looks at the clock for the first time."""
SECONDS_BETWEEN_LOOKS = 0.3


def limit_hit(limits: Limits, deadline: Deadline) -> Stop | None:
    """Why it is time to stop, if it is."""
    if limits.cancel is not None and limits.cancel.is_cancelled:
        return Stop.CANCELLED
    if deadline.passed:
        return Stop.TIMEOUT
    return Stop.MEMORY if resident_megabytes() * 1e6 > limits.memory_bytes else None


class Assignment:
    """What the solver found: the truth of every literal."""

    def __init__(self, values: Sequence[int]) -> None:
        self._values = values

    def is_true(self, literal: int) -> bool:
        number = abs(literal) - 1
        value = self._values[number] if number < len(self._values) else -1  # in no clause: whatever it is
        return (value > 0) == (literal > 0)

    def value(self, bits: Sequence[int]) -> int:
        """The number that the bits of a vector stand for."""
        total = sum(1 << n for n, bit in enumerate(bits) if self.is_true(bit))
        return total - (1 << len(bits)) if self.is_true(bits[-1]) else total


class Sat:
    """The clauses as they are now, and those that come later, in one solver."""

    def __init__(self, clauses: Clauses, limits: Limits) -> None:
        from pysat.solvers import Solver

        self.clauses = clauses
        self.limits = limits
        self._solver: Any = Solver(name=SOLVER)

    def close(self) -> None:
        self._solver.delete()

    def solve(self, assumptions: Sequence[int]) -> Assignment | Stop | None:
        """An assignment under the assumptions; None where there is none; or why the solver had to stop."""
        self._feed()
        self._solver.clear_interrupt()
        budget, deadline = FIRST_BUDGET, Deadline(self.limits.seconds)
        while True:
            self._solver.conf_budget(budget)
            before = deadline.elapsed
            answer = call_and_wait(lambda: self._limited(assumptions), self._solver.interrupt)
            if answer is not None:
                return Assignment(self._solver.get_model()) if answer else None
            stop = limit_hit(self.limits, deadline)
            if stop is not None:
                return stop
            if deadline.elapsed - before < SECONDS_BETWEEN_LOOKS:
                budget *= 2

    def _limited(self, assumptions: Sequence[int]) -> bool | None:
        answer: bool | None = self._solver.solve_limited(assumptions=list(assumptions), expect_interrupt=True)
        return answer

    def _feed(self) -> None:
        """Hand over what is new. The solver has its own copy, which is smaller."""
        self._solver.append_formula(self.clauses.list)
        self.clauses.list.clear()
