"""An attack as the core found it, as plain values: it can be sent from one machine to another."""

from __future__ import annotations

from memfence import _core
from memfence.records import Record

Helpers = tuple[tuple[int, bool], ...]
"""Steps of the others: each an edge, and whether it is completed."""


class FoundAttack(Record):
    """`core/attacks/criteria.hpp` says what each of these is. `state` is the number of the state where it starts."""

    state: int
    attacker: int
    is_helper_first: bool
    delayed: int
    early: int
    separated_at: int
    accesses: tuple[tuple[int, bool], ...]
    crossed: tuple[int, ...]
    separable: tuple[int, ...]
    edges: tuple[int, ...]
    helpers: Helpers
    intervals: tuple[tuple[int, Helpers], ...]

    @property
    def clause(self) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """What fences must hit."""
        return self.attacker, self.crossed, self.separable


def found_attack(native: _core.Attack, state: int) -> FoundAttack:
    """The same as plain values, with a number for the state where it starts."""
    return FoundAttack(
        state,
        native.attacker,
        native.is_helper_first,
        native.delayed,
        native.early,
        native.separated_at,
        tuple(native.accesses),
        tuple(native.crossed),
        tuple(native.separable),
        tuple(native.edges),
        tuple(native.helpers),
        tuple((walked, tuple(helpers)) for walked, helpers in native.intervals),
    )
