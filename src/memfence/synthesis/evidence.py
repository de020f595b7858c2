"""Why a fix is what it is, beside the evidence of checks: data that reports turn into words."""

from __future__ import annotations

from memfence.records import Record
from memfence.source import Span
from memfence.tasks.evidence import Evidence


class EveryAttackMet(Record):
    """Each attack from each SC-reachable state crosses a chosen fence."""


class FailsUnderSc(Record):
    """The memory model is not the reason, and no fence helps."""


class DataRace(Record):
    """No fence removes a data race: it does not order the accesses of two processes."""


class NoPlace(Record):
    """A run remains that no fence stops, wherever it stands: the program fails with a fence behind every step."""


class NoEditablePlace(Record):
    """Fences would do, but where they would have to stand nothing may be written. `stores`: behind one of these."""

    stores: tuple[Span, ...]


class PatchDoesNotCompile(Record):
    """Every text that was tried with the fences is refused by the compiler. `places`: where they were written."""

    places: tuple[Span, ...]


class EveryListFails(Record):
    """Each list of atomic writes leaves a counterexample."""


class NoPartInRun(Record):
    """No write that could be atomic has a part in the run."""


class NothingDelayed(Record):
    """No write is delayed in the run that remains."""


class SearchDidNotEnd(Record):
    """A limit was hit between two checks."""


class PatchedTextOpen(Record):
    """The text with the edits was read again, is another program than the one that was proved, and its own check did
    not decide: `check` says why; None where its properties cannot be read again."""

    check: Evidence | None


class ChecksSoFar(Record):
    """A limit was hit in one of many checks."""

    checks: int
    states: int


FixEvidence = (
    Evidence
    | EveryAttackMet
    | FailsUnderSc
    | DataRace
    | NoPlace
    | NoEditablePlace
    | PatchDoesNotCompile
    | EveryListFails
    | NoPartInRun
    | NothingDelayed
    | SearchDidNotEnd
    | PatchedTextOpen
    | ChecksSoFar
)
