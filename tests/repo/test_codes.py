"""One table of codes: each is explained, and each is shown by some golden case or test."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memfence.codes import Code
from memfence.explanations import explanation

TESTS = Path(__file__).resolve().parents[1]
SHOWN = "".join(path.read_bytes().decode() for path in sorted(TESTS.glob("golden/errors/*/*.expected")))

NOT_OF_A_FRONT_END = {
    Code.UNREADABLE: "cli/test_commands.py",
    Code.UNKNOWN_LANGUAGE: "cli/test_commands.py",
    Code.NO_COMPILER: "unit/frontends/test_c.py",
    Code.FIXED_NUMBER: "unit/questions/test_parameterised_questions.py",
    Code.OTHER_PROCESSOR: "unit/questions/test_other_processors.py",
    Code.BAD_PROPERTY: "cli/test_commands.py",
    Code.RACING_ACCESSES: "unit/questions/test_plain_races.py",
    Code.RACES_UNFINISHED: "unit/questions/test_plain_races.py",
    Code.STUCK: "unit/questions/test_vacuity.py",
    Code.NEVER_TAKEN: "unit/questions/test_vacuity.py",
    Code.NEVER_TRUE: "unit/questions/test_vacuity.py",
    Code.X86_ASSEMBLY: "unit/questions/test_other_processors.py",
    Code.NO_WAY_THERE: "unit/questions/test_vacuity.py",
    Code.NOTHING_TO_CHECK: "unit/questions/test_vacuity.py",
    Code.BAD_OBJECT: "cli/test_objects.py",
    Code.BAD_TRACE: "cli/test_sober_commands.py",
    Code.NOT_SEQUENTIAL: "cli/test_sober_commands.py",
    Code.BAD_SCHEDULE: "cli/test_sober_commands.py",
    Code.BAD_COMMAND: "cli/test_simulate.py",
    Code.BAD_CERTIFICATE: "cli/test_verify.py",
    Code.NOT_PROVED: "cli/test_verify.py",
}
"""Raised outside the front ends: the file that shows them instead."""


NOT_RAISED_YET = {Code.SEVERAL_READS: "a warning; warnings are not reported before all front ends collect them"}


@pytest.mark.parametrize("code", Code, ids=lambda code: code.id)
def test_some_golden_case_shows(code: Code) -> None:
    if code in NOT_RAISED_YET:
        assert f"[{code.id}]" not in SHOWN, "take it off the list"
    elif code in NOT_OF_A_FRONT_END:
        assert code.id in (TESTS / NOT_OF_A_FRONT_END[code]).read_text()
    else:
        assert f"[{code.id}]" in SHOWN


@pytest.mark.parametrize("code", Code, ids=lambda code: code.id)
def test_memfence_explain_has_a_text_with_an_example_for(code: Code) -> None:
    text = explanation(code)
    assert re.search(r"^    \S", text, re.MULTILINE), "no indented example"
    assert max(map(len, text.splitlines())) <= 120
    assert text.endswith("\n")


def test_ids_are_unique_and_well_formed() -> None:
    ids = [code.id for code in Code]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"MF[01239]\d\d", number) for number in ids)


def test_every_code_that_is_shown_is_in_the_table() -> None:
    assert set(re.findall(r"\[(MF\d{3})\]", SHOWN)) <= {code.id for code in Code}
