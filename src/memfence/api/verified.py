"""`--verify` of `compare` and `explore`: answers whose proofs are written down and checked at once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.certify import prove
from memfence.api.explore import explore
from memfence.api.inputs import Source, options_for, read_program, understand
from memfence.certificates.format.header import Claim
from memfence.certificates.result import CertifiedComparison, CertifiedExploration, Proof
from memfence.certificates.writer.claim import claim_of
from memfence.deadline import Deadline
from memfence.program.ir import Program
from memfence.questions.compare import Compared
from memfence.synthesis.comparison import compare
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Bound
from memfence.tasks.options import CheckOptions

if TYPE_CHECKING:
    from memfence.api.typed import CompareKeywords, ExploreKeywords

NO_FAILURE = Claim(model="sc", invariant=("true",))
"""No step fails. A trivial invariant: what else the program states, `explore` does not look at."""
SAME_TRACES = Claim(model="tso", criterion="robust")


def compare_verified(
    source: Source, options: CheckOptions | None = None, *, fences: bool = True, **typed: Unpack[CompareKeywords]
) -> CertifiedComparison:
    """`memfence.compare`, and every answer that is a proof is certified and checked at once.

    A derived answer is certified by itself: checkers know no implications but those that they prove.
    """
    keywords = dict[str, Any](typed)
    usage = understand("compare", source, keywords, options)
    deadline = Deadline(keywords.get("timeout_seconds"))
    program = read_program(source, keywords, deadline, usage)
    asked = options_for(CheckOptions, program, options, keywords, deadline, usage)
    comparison = compare(program, asked, fences=fences)
    proofs = {row.requirement: _proof(program, asked, row) for row in comparison.rows if _is_proof(row)}
    return CertifiedComparison(comparison, proofs)


def _is_proof(row: Compared) -> bool:
    if row.answer is None:
        return row.verdict is Verdict.HOLDS
    return row.answer.verdict is Verdict.HOLDS or isinstance(row.answer.evidence, Bound)


def _proof(program: Program, options: CheckOptions, row: Compared) -> Proof:
    criterion, evidence = row.requirement.criterion, None if row.answer is None else row.answer.evidence
    asked = replace(options.afresh(), criterion=criterion, model=row.requirement.model.name)
    return prove(program, claim_of(program, asked, criterion, evidence), row.answer, asked.limits)


def explore_verified(source: Source, **keywords: Unpack[ExploreKeywords]) -> CertifiedExploration:
    """`memfence.explore`; where all executions are correct, that is proved once more, from all states.

    Executions one by one are no invariant: what is certified are the two facts that follow from them.
    """
    result = explore(source, **keywords)
    if result.verdict is not Verdict.HOLDS:
        return CertifiedExploration(result, Proof(None, "the answer is not a proof", None), None)
    safe = prove(result.program, NO_FAILURE, None, result.limits)
    robust = prove(result.program, SAME_TRACES, None, result.limits) if result.counts.monitored else None
    return CertifiedExploration(result, safe, robust)
