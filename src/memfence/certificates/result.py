"""What `verify` answers, and what becomes of a proof that was asked for beside an answer."""

from __future__ import annotations

from memfence.certificates.checker.refusal import Checked, Refused
from memfence.certificates.format.header import Header
from memfence.certificates.writer.certify import Written
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.result import CheckResult


class VerifyResult(Record):
    """What a checker found. `checked` where the certificate is a proof, else `refused`."""

    certificate: str
    program: Program
    header: Header
    checked: Checked | None
    refused: Refused | None
    seconds: float

    @property
    def is_valid(self) -> bool:
        return self.checked is not None


class Certified(Record):
    """An answer with its certificate. `missing` says why there is none; `verified` is what the checkers say of it.

    `not_minimum`: why it does not say of a minimum set of fences that it is one.
    """

    result: CheckResult
    written: Written | None
    missing: str | None
    verified: VerifyResult | None
    not_minimum: str | None = None
