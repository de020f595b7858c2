"""`--certificate` and `--verify`: the proof beside the answer."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfence.cli.exit_codes import Exit
from memfence.cli.option_groups import Certifying

if TYPE_CHECKING:
    from memfence.certificates.result import Certified, Proof
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.result import FixResult
    from memfence.tasks.result import CheckResult


def ask_and_certify(
    file: Path, certifying: Certifying, keywords: dict[str, Any], *, given: Mapping[str, Any]
) -> tuple[CheckResult, Certified | None]:
    """The answer, and its proof where one is asked for. `given`: all options that were typed."""
    if not certifying.is_asked:
        from memfence.api.check import check

        return check(file, given=given, **keywords), None
    from memfence.api.certify import check_certified
    from memfence.cli.report_files import require_place, writing

    require_place(certifying.certificate, "--certificate")
    with writing("--certificate"):
        proof = check_certified(file, certifying.certificate, verified=certifying.verify, given=given, **keywords)
    return proof.result, proof


def certify_patch(result: FixResult | AtomicFix, certifying: Certifying, keywords: dict[str, Any]) -> Certified | None:
    """The proof that the text with its fences works, where one is asked for."""
    if not certifying.is_asked:
        return None
    from memfence.api.certify import certify_fix
    from memfence.cli.report_files import writing

    with writing("--certificate"):
        return certify_fix(result, certifying.certificate, verified=certifying.verify, **keywords)


def write_proof(proof: Certified | None, *, quiet: bool) -> Exit | None:
    """Say what became of the proof. A refused one is a fault of ours, and has its own exit code."""
    if proof is None:
        return None
    from memfence.cli import terminal
    from memfence.report.describe.verify import proof_text

    if proof.is_refused or not quiet:
        terminal.write(proof_text(proof), sys.stderr if proof.is_refused else sys.stdout)
    return Exit.INTERNAL if proof.is_refused else None


def write_refused(proofs: Iterable[Proof]) -> Exit | None:
    """Of the proofs in a table, those that were refused: faults of ours, which have their own exit code."""
    from memfence.cli import terminal
    from memfence.report.describe.verify import proof_text

    refused = [proof for proof in proofs if proof.is_refused]
    for proof in refused:
        terminal.write(proof_text(proof), sys.stderr)
    return Exit.INTERNAL if refused else None
