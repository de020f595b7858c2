"""JUnit XML: well-formed whatever the program contains, and green only for proofs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memfence.diagnostics import InputError
from memfence.pipeline import load, load_text
from memfence.questions import check
from memfence.report.describe.error import error_report
from memfence.report.described import written
from memfence.report.formats.junit import render
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.synthesise import fix_fences as fix
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions

LOST_WAKEUP = Path(__file__).resolve().parents[3] / "examples" / "lost_wakeup.pml"


def suite_of(text: str) -> ElementTree.Element:
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    (suite,) = root
    return suite


def test_a_violation_is_a_failure_with_the_run_as_its_text() -> None:
    suite = suite_of(written(check(load(LOST_WAKEUP), CheckOptions(model="tso")), "junit"))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.text is not None
    assert "waiting = true" in failure.text
    assert "VIOLATED" in failure.get("message", "")


def test_a_proof_is_green() -> None:
    suite = suite_of(written(check(load(LOST_WAKEUP), CheckOptions(model="sc")), "junit"))
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    assert [child.tag for child in suite[0]] == ["system-out"]


@pytest.mark.parametrize("verdict", [Verdict.HOLDS_UP_TO, Verdict.UNKNOWN])
def test_what_is_not_proved_is_not_green(verdict: Verdict) -> None:
    proof = check(load(LOST_WAKEUP), CheckOptions(model="sc"))
    suite = suite_of(written(replace(proof, answer=replace(proof.answer, verdict=verdict)), "junit"))
    assert suite.get("errors") == "1"
    assert suite.find("testcase/error") is not None


def test_bad_input_is_an_error_and_control_characters_do_no_harm() -> None:
    with pytest.raises(InputError) as caught:
        load_text(SourceText("bad.pml", "active proctype P() { \x01 <&> }"))
    suite = suite_of(render(error_report(caught.value, "b\x02d.pml")))
    error = suite.find("testcase/error")
    assert error is not None and "MF001" in error.get("message", "")


def test_a_missing_fence_is_a_failure_with_the_patch() -> None:
    suite = suite_of(written(fix(load(LOST_WAKEUP), FixOptions(model="tso")), "junit"))
    failure = suite.find("testcase/failure")
    assert failure is not None and "+    mfence();" in (failure.text or "")
    holds = suite_of(written(fix(load(LOST_WAKEUP.with_name("message_passing.pml")), FixOptions()), "junit"))
    assert (holds.get("failures"), holds.get("errors")) == ("0", "0")
