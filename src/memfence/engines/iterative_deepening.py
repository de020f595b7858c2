"""Iterative deepening of the buffer bound: searches look for runs with few pending stores first."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.models.spec import ModelSpec

BOUNDS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
HIGHEST = BOUNDS[-1]
ENOUGH = 8
"""Where a search without proof gives up: who needs more pending stores than this asks for a bound, or for a proof."""


def deepening(model: ModelSpec, highest: int = ENOUGH) -> Iterator[ModelSpec]:
    """`model` with growing bounds up to `highest`; as it is, where it has a bound or nothing to bound."""
    if model.is_bounded or not model.has_buffers:
        yield model
        return
    yield from (model.bounded(bound) for bound in BOUNDS if bound <= highest)
