"""Asking RC2 (python-sat) for a cheapest model: the one call of synthesis into foreign code that may take long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memfence.foreign_calls import call_and_wait

if TYPE_CHECKING:
    from pysat.examples.rc2 import RC2


def cheapest_model(solver: RC2) -> list[int] | None:
    """The literals of a cheapest model; None where there is none. An alarm or Ctrl-C ends the search.

    A solver that was interrupted must not be asked again.
    """
    if not hasattr(solver, "interrupt"):  # versions before 1.8.dev14
        return _computed(solver)
    return call_and_wait(lambda: _computed(solver, expect_interrupt=True), solver.interrupt)


def _computed(solver: RC2, **options: bool) -> list[int] | None:
    model: list[int] | None = solver.compute(**options)
    return model
