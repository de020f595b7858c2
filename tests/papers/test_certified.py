"""Every answer that holds carries a certificate that the checkers accept: `certified.py` prints the same as a table."""

from __future__ import annotations

from pathlib import Path

import pytest
from certified import GROUPS, Asked, certified, random_programs

from support.corpus import needs_corpus

SAMPLE = 40


def holds_with_proof(asked: Asked, folder: Path) -> bool:
    """Whether the answer is HOLDS; then it must have a certificate, which `certified` has judged."""
    found = certified(asked, folder / "proof.mfc", 60, 20_000)
    if found is None:
        return False
    if not asked.program().any_number:  # of these, only some have one
        assert found.missing is None, f"{asked.name}: {found.missing}"
    return True


def test_random_programs_carry_certificates(tmp_path: Path) -> None:
    count = sum(holds_with_proof(asked, tmp_path) for asked in random_programs(SAMPLE))
    assert count >= SAMPLE // 4, "the sample has answers that hold"


@pytest.mark.slow
@pytest.mark.parametrize("group", ["examples", "linden-wolper", "random"])
def test_our_own_programs_carry_certificates(group: str, tmp_path: Path) -> None:
    assert sum(holds_with_proof(asked, tmp_path) for asked in GROUPS[group]()) > 0


@needs_corpus
@pytest.mark.slow
@pytest.mark.parametrize("group", ["persistence", "beem"])
def test_programs_of_others_carry_certificates(group: str, tmp_path: Path) -> None:
    assert sum(holds_with_proof(asked, tmp_path) for asked in GROUPS[group]()) > 0
