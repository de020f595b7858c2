"""What `verify` answers, and what becomes of a proof that was asked for beside an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from memfence.certificates.checker.refusal import Checked, Refused
from memfence.certificates.format.header import Header
from memfence.certificates.writer.certify import Written
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.result import CheckResult

if TYPE_CHECKING:
    from memfence.questions.compare import Comparison
    from memfence.questions.explore import ExploreResult
    from memfence.tasks.implications import Requirement


class VerifyResult(Record):
    """What a checker found. `checked` where the certificate is a proof, else `refused`.

    `bounds`: what the proof leaves out, where the program was read up to bounds that runs may reach.
    """

    certificate: str
    program: Program
    header: Header
    checked: Checked | None
    refused: Refused | None
    seconds: float

    @property
    def is_valid(self) -> bool:
        return self.checked is not None

    @property
    def bounds(self) -> tuple[str, ...]:
        if not self.program.is_cut_off or self.header.claim.reaches_no_bound:
            return ()
        return self.program.notes

    @property
    def is_bounded(self) -> bool:
        """Whether the proof is about some runs only: up to bounds of the program, or on pending stores."""
        return bool(self.bounds) or self.header.claim.bound is not None


class Proof(Record):
    """What became of a certificate. `missing` says why there is none; `verified` is what the checkers say of it.

    `not_minimum`: why it does not say of a minimum set of fences that it is one.
    """

    written: Written | None
    missing: str | None
    verified: VerifyResult | None
    not_minimum: str | None = None

    @property
    def is_refused(self) -> bool:
        """A fault of ours: our own checkers do not accept it."""
        return self.verified is not None and not self.verified.is_valid


class Certified(Proof, kw_only=True):
    """An answer with its certificate."""

    result: CheckResult


class CertifiedComparison(Record):
    """Every criterion side by side, and what became of the proofs of those that hold."""

    comparison: Comparison
    proofs: Mapping[Requirement, Proof]


NamedProofs = tuple[tuple[Literal["safe", "robust"], Proof], ...]


class CertifiedExploration(Record):
    """What stateless exploration found; where that is that all executions are correct, two things may be proved:

    `safe`: no step of a run under SC fails. `robust`: every run under TSO has the trace of one under SC.
    """

    result: ExploreResult
    safe: Proof
    robust: Proof | None

    @property
    def proofs(self) -> NamedProofs:
        return (("safe", self.safe), *(() if self.robust is None else (("robust", self.robust),)))
