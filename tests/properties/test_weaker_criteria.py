"""PoVso and Po by their definitions: what implies them, what they imply, and programs that tell them from others."""

from __future__ import annotations

import pytest

from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.generators.criteria_programs import RICH, criteria_programs
from support.sampling import sampled
from twins import criteria as twin

WRITE_ORDER = """
byte x, y;
active proctype P() { x = 1; y = 1 }
active proctype Q() { byte a; y = 2; a = x }
"""
SAME_STATES = """
byte x, y;
active proctype P() { byte a; x = 0; a = y }
active proctype Q() { y = 1; x = 0 }
"""
READS_LEFT_OUT = """
byte x, y;
active proctype P() { byte a; x = 1; if :: a = y :: skip fi }
active proctype Q() { byte b; y = 1; if :: b = x :: skip fi }
"""
BOTH_HALVES = """
byte x, y, u, v;
active proctype P() { byte a; x = 1; a = y }
active proctype Q() { y = 1 }
active proctype R() { byte c; u = 0; c = v }
active proctype S() { byte d; v = 0; d = u }
"""
# What each program meets of: persistent, robust, PoVso, Po, state-robust.
TABLE = (
    (WRITE_ORDER, {"po"}),
    (SAME_STATES, {"po", "state-robust"}),
    (READS_LEFT_OUT, {"state-robust"}),
    (BOTH_HALVES, {"povso", "po", "state-robust"}),
)


def met_by(program: Program) -> set[str]:
    found = {
        "persistent": twin.is_persistent(program),
        "robust": twin.is_robust(program, "tso"),
        "povso": twin.keeps_stores_of_each_variable(program),
        "po": twin.keeps_program_order(program),
        "state-robust": twin.is_state_robust(program, "tso"),
    }
    return {name for name, holds in found.items() if holds}


NAMES = ("persistent", "robust", "povso", "po", "state-robust")


@pytest.mark.parametrize(("text", "met"), TABLE)
def test_check_says_of_a_program_of_the_page_what_the_page_says(text: str, met: set[str]) -> None:
    program = load_text(SourceText("t.pml", text))
    verdicts = {name: check(program, CheckOptions(criterion=name)).verdict for name in NAMES}
    assert {name for name, verdict in verdicts.items() if verdict is Verdict.HOLDS} == met
    assert set(verdicts.values()) <= {Verdict.HOLDS, Verdict.VIOLATED}


@pytest.mark.parametrize(("text", "met"), TABLE)
def test_a_program_of_the_page_meets_what_the_page_says(text: str, met: set[str]) -> None:
    assert met_by(load_text(SourceText("t.pml", text))) == met


IMPLIED = {"persistent": {"povso"}, "robust": {"povso"}, "povso": {"po", "state-robust"}}


@sampled(quick=150, slow=3_000, program=criteria_programs(RICH, torn_steps=False))
def test_stronger_criteria_imply_the_weaker_ones(program: Program) -> None:
    met = met_by(program)
    for stronger, weaker in IMPLIED.items():
        assert stronger not in met or weaker <= met, stronger
