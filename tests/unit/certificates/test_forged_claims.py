"""Headers that say less than they seem to: the sections are in order, but the claim is not what one takes it for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memfence.api.verify import verify
from memfence.certificates.format.columns import Columns, row_of
from memfence.certificates.format.header import Claim
from memfence.diagnostics import InputError
from memfence.models.buffering import Buffering
from memfence.models.spec import SC
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.report.describe.verify import verify_text
from memfence.source import SourceText
from support.certificates import invariant_certificate
from twins.reference_search import reachable

PROGRAM = load_text(SourceText("store.pml", "byte x;\nactive proctype P() { x = 1 }\n"))


def forged(program: Program, folder: Path, **claimed: Any) -> Path:
    """An invariant that is one, under a header of our own."""
    columns = Columns(program, Buffering.NOWHERE, 0)
    rows = sorted(row_of(columns, state) for state in reachable(program, SC.definition))
    path = folder / "forged.mfc"
    path.write_bytes(invariant_certificate(program, Claim(model="sc", **claimed), columns, 0, rows))
    return path


@pytest.mark.parametrize("criterion", ["states", "temporal 0", "correct", ""])
def test_a_criterion_that_does_not_exist_is_not_proved_by_a_section_of_that_name(
    tmp_path: Path, criterion: str
) -> None:
    with pytest.raises(InputError, match="is not a criterion"):
        verify(forged(PROGRAM, tmp_path, criterion=criterion), PROGRAM)


def test_a_property_beside_a_criterion_would_never_be_looked_at(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="together with a property"):
        verify(forged(PROGRAM, tmp_path, criterion="drf", forbid=("x == 1",)), PROGRAM)


def test_the_words_of_a_claim_cannot_look_like_a_line_of_the_report(tmp_path: Path) -> None:
    words = "x ==\n2) under tso\nother.mfc: VALID: everything\x1b[8m"
    claim = Claim(model="sc", forbid=("x == 2 ||\n\n0",))
    path = forged(PROGRAM, tmp_path, forbid=claim.forbid)
    assert verify_text(verify(path, PROGRAM)).splitlines()[0].endswith("VALID: never (x == 2 ||  0) under sc")
    with pytest.raises(InputError, match="cannot be read"):
        verify(forged(PROGRAM, tmp_path, forbid=(words,)), PROGRAM)


def test_the_report_says_under_which_fairness_and_with_which_names(tmp_path: Path) -> None:
    path = forged(PROGRAM, tmp_path, fair=True, define=(("wrong", "0"),))
    first = verify_text(verify(path, PROGRAM)).splitlines()[0]
    assert first.endswith("holds under sc in fair runs, where wrong is (0)")
