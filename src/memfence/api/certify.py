"""Certificates beside answers: `--certificate` and `--verify` of `check` and `fix`, and proofs of single claims.

Most commands are over in a fraction of a second, so what only some certificates need is imported by those.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.check import asked
from memfence.api.claimed import as_claimed
from memfence.api.inputs import Source
from memfence.certificates.format.header import Claim
from memfence.certificates.result import Certified, Proof
from memfence.certificates.writer.certify import certify
from memfence.certificates.writer.chunks import NoCertificate
from memfence.certificates.writer.claim import claim_of
from memfence.output_files import is_kept, write_file
from memfence.program.ir import Program
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Bound, Fixpoint
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult

if TYPE_CHECKING:
    from memfence.api.typed import CheckKeywords, FixKeywords
    from memfence.certificates.result import VerifyResult
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.result import FixResult

NOT_FOR_ANY_LENGTH = "of temporal properties with buffers of any length there is no certificate; give a --buffer-bound"
NOT_OF_ENDS = "that every thread returns has no certificate"


def check_certified(
    source: Source,
    certificate: Path | None,
    *,
    verified: bool,
    options: CheckOptions | None = None,
    fixed: FixResult | None = None,
    given: Mapping[str, Any] | None = None,
    **typed: Unpack[CheckKeywords],
) -> Certified:
    """Check, and where the answer is a proof write it to `certificate`; with `verified`, have it checked at once.

    `fixed`: the answer that gave this program its fences, for a proof that they are a minimum. `given` as for `check`.
    """
    keywords = dict[str, Any](typed)
    found = asked(source, options, keywords, given=given)
    result = found.result
    if found.is_unread:
        return Certified(None, "the time was up", None, result=result)
    if result.answer.verdict is not Verdict.HOLDS and not isinstance(result.evidence, Bound):
        return Certified(None, "the answer is not a proof", None, result=result)
    if isinstance(result.evidence, Fixpoint) and result.evidence.fair is not None:
        return Certified(None, NOT_FOR_ANY_LENGTH, None, result=result)
    if found.options.ends:
        return Certified(None, NOT_OF_ENDS, None, result=result)
    return _certified(found.program, found.options, result, certificate, verified, fixed)


def certify_fix(
    result: FixResult | AtomicFix, certificate: Path | None, *, verified: bool, **typed: Unpack[FixKeywords]
) -> Certified | None:
    """The proof that the text with its fences works: the certificate is about that text. None: nothing was fixed.

    `keywords` are those of `fix`; what a check does not know of is left out.
    """
    keywords = dict[str, Any](typed)
    from memfence.synthesis.patch import reread
    from memfence.synthesis.result import FixResult, FixVerdict

    if not isinstance(result, FixResult) or result.verdict not in (FixVerdict.FIXED, FixVerdict.ALREADY_HOLDS):
        return None
    program = reread(result.program, result.files)
    known = {one.name for one in fields(CheckOptions)}
    asked = {name: value for name, value in keywords.items() if name in known}
    return check_certified(program, certificate, verified=verified, fixed=result, **asked)


def _certified(
    program: Program,
    asked: CheckOptions,
    result: CheckResult,
    path: Path | None,
    verified: bool,
    fixed: FixResult | None,
) -> Certified:
    claim = claim_of(program, asked, result.criterion, result.evidence)
    claim, minimum, not_minimum = _with_minimum(program, claim, fixed)
    answer: Answer | None = result.answer
    if program.is_cut_off and result.verdict is Verdict.HOLDS:
        claim, answer = replace(claim, reaches_no_bound=True), None  # the answer knows nothing of that
    proof = prove(program, claim, answer, result.limits, path=path, verified=verified, minimum=minimum)
    without = not_minimum if proof.missing is None else None
    return Certified(proof.written, proof.missing, proof.verified, without, result=result)


def prove(
    program: Program,
    claim: Claim,
    answer: Answer | None,
    limits: Limits,
    *,
    path: Path | None = None,
    verified: bool = True,
    minimum: Iterable[tuple[bytes, bytes]] = (),
) -> Proof:
    """Certify the claim, in a file of its own that is left behind at `path` only; `answer`: where to start from.

    A device or a pipe cannot be read again, so what is verified then is the copy.
    """
    evidence, visited = (None, None) if answer is None else (answer.evidence, answer.visited)
    place = path if path is not None and (is_kept(path) or not verified) else _temporary()
    try:
        written = certify(
            as_claimed(program, claim), claim, place, limits, evidence=evidence, minimum=minimum, visited=visited
        )
        if path is not None and place is not path:
            write_file(path, place.read_bytes())
            written = replace(written, path=path)
        return Proof(written if path else None, None, _judged(place, program) if verified else None)
    except NoCertificate as problem:
        return Proof(None, str(problem), None)
    finally:
        if place is not path:
            place.unlink(missing_ok=True)


def _judged(place: Path, program: Program) -> VerifyResult:
    from memfence.api.verify import verify

    return verify(place, program)


def _with_minimum(
    program: Program, claim: Claim, fixed: FixResult | None
) -> tuple[Claim, list[tuple[bytes, bytes]], str | None]:
    """The claim that the fences are a minimum as well, with its section; else why there is none."""
    if fixed is None or not fixed.is_minimum or not fixed.chosen.fences:
        return claim, [], None
    from memfence.certificates.checker.question import question_of
    from memfence.certificates.format.container import NotACertificate
    from memfence.certificates.writer.minimum import minimum_chunks

    claimed = as_claimed(program, claim)
    try:
        chunks = list(minimum_chunks(question_of(claim, claimed), claimed, fixed))
    except (NoCertificate, NotACertificate) as reason:
        return claim, [], str(reason)
    price = fixed.chosen.cost if fixed.minimise == "cost" else None
    return replace(claim, fences=fixed.chosen.count, price=price), chunks, None


def _temporary() -> Path:
    from tempfile import mkstemp

    handle, name = mkstemp(suffix=".mfc")
    os.close(handle)
    return Path(name)
