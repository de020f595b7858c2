"""Ways to look at all executions of unrolled code: one by one, or by a solver that looks for one that goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from memfence.axiomatic.code import Code
from memfence.axiomatic.model import AxiomaticModel
from memfence.engines.axiomatic.violations import Violation
from memfence.program.ir import Property
from memfence.tasks.limits import Limits, Stop


class Search(Protocol):
    """What both know of one unrolling under one model."""

    def first_violation(
        self, code: Code, model: AxiomaticModel, properties: Sequence[Property], limits: Limits, *, dependencies: bool
    ) -> Violation | Stop | bool:
        """An execution that violates something; else whether some execution is cut off, or the limit that was hit.

        NotUnrolled for code that it cannot look at.
        """

    def may_wait(self, code: Code, model: AxiomaticModel, limits: Limits, *, dependencies: bool) -> bool:
        """Whether threads that could have gone another way may wait for ever, or nobody knows; asked behind it."""


class BySolver:
    """Takes everything. Its modules are many, and not loaded before they are needed."""

    def first_violation(
        self, code: Code, model: AxiomaticModel, properties: Sequence[Property], limits: Limits, *, dependencies: bool
    ) -> Violation | Stop | bool:
        from memfence.engines.axiomatic.by_solver import first_violation

        return first_violation(code, model, properties, limits, dependencies=dependencies)

    def may_wait(self, code: Code, model: AxiomaticModel, limits: Limits, *, dependencies: bool) -> bool:
        from memfence.engines.axiomatic.by_solver import may_wait

        return may_wait(code, model, limits, dependencies=dependencies)
