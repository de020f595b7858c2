"""Why a fix is what it is, beside the evidence of checks: data that reports turn into words."""

from __future__ import annotations

from memfence.records import dataclass
from memfence.tasks.evidence import Evidence


@dataclass(frozen=True, slots=True)
class EveryAttackMet:
    """Each attack from each SC-reachable state crosses a chosen fence."""


@dataclass(frozen=True, slots=True)
class FailsUnderSc:
    """The memory model is not the reason, and no fence helps."""


@dataclass(frozen=True, slots=True)
class DataRace:
    """No fence removes a data race: it does not order the accesses of two processes."""


@dataclass(frozen=True, slots=True)
class NoPlace:
    """A run remains that no place of the text has a fence for."""


@dataclass(frozen=True, slots=True)
class EveryListFails:
    """Each list of atomic writes leaves a counterexample."""


@dataclass(frozen=True, slots=True)
class NoPartInRun:
    """No write that could be atomic has a part in the run."""


@dataclass(frozen=True, slots=True)
class NothingDelayed:
    """No write is delayed in the run that remains."""


@dataclass(frozen=True, slots=True)
class SearchDidNotEnd:
    """A limit was hit between two checks."""


@dataclass(frozen=True, slots=True)
class PatchedTextOpen:
    """The text with the edits was read again, is another program than the one that was proved, and its own check did
    not decide: `check` says why; None where its properties cannot be read again."""

    check: Evidence | None


@dataclass(frozen=True, slots=True)
class ChecksSoFar:
    """A limit was hit in one of many checks."""

    checks: int
    states: int


FixEvidence = (
    Evidence
    | EveryAttackMet
    | FailsUnderSc
    | DataRace
    | NoPlace
    | EveryListFails
    | NoPartInRun
    | NothingDelayed
    | SearchDidNotEnd
    | PatchedTextOpen
    | ChecksSoFar
)
