"""The notions of "it still works": what a program may be asked to keep under a relaxed memory model."""

from __future__ import annotations

from enum import StrEnum


class Criterion(StrEnum):
    """`docs/theory/criteria.md` defines them; safety alone is about properties that the program or the user states."""

    SAFETY = "safety"
    PERSISTENT = "persistent"
    ROBUST = "robust"
    POVSO = "povso"
    PO = "po"
    STATE_ROBUST = "state-robust"
    TRF = "trf"
    DRF = "drf"

    @property
    def is_about_races(self) -> bool:
        """Whether it is about accesses that meet in an SC run, whatever the memory model."""
        return self in (Criterion.TRF, Criterion.DRF)

    @property
    def is_about_tso(self) -> bool:
        """Whether it is defined for TSO only: an answer about another model would not be about that model."""
        return self in (Criterion.PERSISTENT, Criterion.POVSO, Criterion.PO, Criterion.TRF)

    @property
    def is_about_accesses(self) -> bool:
        """Whether it compares runs access by access, and so knows nothing but processes that share memory."""
        return self not in (Criterion.SAFETY, Criterion.STATE_ROBUST)
