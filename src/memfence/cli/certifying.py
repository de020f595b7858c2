"""`--certificate` and `--verify`: the proof beside the answer."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memfence.cli.exit_codes import Exit
from memfence.cli.option_groups import Certifying

if TYPE_CHECKING:
    from memfence.api.check import Asked
    from memfence.certificates.result import Certified, Proof
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.result import FixResult
    from memfence.tasks.result import CheckResult


def ask_and_certify(
    file: Path, certifying: Certifying, keywords: dict[str, Any], *, given: Mapping[str, Any]
) -> tuple[CheckResult, Certified | Asked]:
    """The answer, and its proof where one is asked for, else what was asked. `given`: all options that were typed."""
    if not certifying.is_asked:
        from memfence.api.check import asked

        question = asked(file, None, dict(keywords), given=given)
        return question.result, question
    from memfence.api.certify import check_certified
    from memfence.cli.report_files import require_place, writing

    require_place(certifying.certificate, "--certificate")
    with writing("--certificate"):
        proof = check_certified(file, certifying.certificate, verified=certifying.verify, given=given, **keywords)
    return proof.result, proof


def certify_patch(result: FixResult | AtomicFix, certifying: Certifying, keywords: dict[str, Any]) -> Certified | None:
    """The proof that the text with its fences works, where one is asked for and there are fences."""
    if not certifying.is_asked:
        return None
    from memfence.api.certify import certify_fix
    from memfence.cli import terminal
    from memfence.cli.report_files import nothing_written, writing

    with writing("--certificate"):
        proof = certify_fix(result, certifying.certificate, verified=certifying.verify, **keywords)
    if proof is None and certifying.certificate is not None:
        terminal.write(nothing_written(certifying.certificate, "nothing was fixed"), sys.stderr)
    return proof


def write_proof(proof: Certified | None, *, quiet: bool) -> Exit | None:
    """Say what became of the proof. A refused one is a fault of ours, and has its own exit code.

    Where there is none, that is said even if little else is.
    """
    if proof is None:
        return None
    from memfence.cli import terminal
    from memfence.report.describe.verify import proof_text

    is_aside = proof.is_refused or quiet
    if not quiet or proof.is_refused or proof.missing is not None:
        terminal.write(proof_text(proof), sys.stderr if is_aside else sys.stdout)
    return Exit.INTERNAL if proof.is_refused else None


def write_refused(proofs: Iterable[Proof]) -> Exit | None:
    """Of the proofs in a table, those that were refused: faults of ours, which have their own exit code."""
    from memfence.cli import terminal
    from memfence.report.describe.verify import proof_text

    refused = [proof for proof in proofs if proof.is_refused]
    for proof in refused:
        terminal.write(proof_text(proof), sys.stderr)
    return Exit.INTERNAL if refused else None
