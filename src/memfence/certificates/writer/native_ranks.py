"""Ranks found by the core: the product by the fast checker's own rules, its components, and levels for them."""

from __future__ import annotations

from collections.abc import Iterator

from memfence import _core
from memfence.certificates.checker.native import NotForTheFastChecker
from memfence.certificates.checker.native_ranks import posed
from memfence.certificates.checker.ranks import Product
from memfence.certificates.format.columns import ROWS_IN_A_BLOCK
from memfence.certificates.writer.chunks import NoCertificate
from memfence.models.spec import ModelSpec
from memfence.tasks.limits import Limits

PAIRS_AT_A_TIME = 20_000
"""After so many, the limits are looked at."""


class Ranked:
    """Every reachable pair with its rank. NoCertificate if there are none, or too many for the limits."""

    def __init__(self, product: Product, model: ModelSpec, capacity: int, limits: Limits) -> None:
        try:
            self._native = _core.Ranking(**posed(product, model, capacity))
            while not self._native.explore(PAIRS_AT_A_TIME):
                if self._native.memory > limits.memory_bytes or limits.deadline.passed:
                    raise NoCertificate("the product of program and property is too large to be ranked")
        except (RuntimeError, TypeError) as problem:
            raise NotForTheFastChecker(str(problem)) from None
        if not self._native.rank():
            raise NoCertificate("some fair run refutes the property")

    @property
    def marks(self) -> list[int]:
        """The mark of each rank."""
        return self._native.marks

    def blocks(self) -> Iterator[bytes]:
        for first in range(0, self._native.pairs, ROWS_IN_A_BLOCK):
            yield self._native.block(first, ROWS_IN_A_BLOCK)
