"""PSO questions about the corpus that were open for long, each decided in seconds now."""

from __future__ import annotations

import pytest

import memfence
from support.corpus import CORPUS, needs_corpus

pytestmark = needs_corpus

SINGLE = CORPUS / "persist" / "single"


@pytest.mark.parametrize(
    ("file", "criterion", "verdict"),
    [
        ("mutex/peterson/peterson.rmm", "safety", "violated"),
        ("nbw/seqlock/seqlock.rmm", "safety", "holds"),
        ("dynamic_struture_algorithms/LIFO_iWSQ/LIFO-iWSQ.txt", "robust", "violated"),
        pytest.param("mutex/clhlock/clhlock.txt", "robust", "violated", marks=pytest.mark.slow),
    ],
)
def test_the_question_is_decided(file, criterion, verdict):
    result = memfence.check(SINGLE / file, model="pso", criterion=criterion, timeout_seconds=120)
    assert result.verdict == verdict
