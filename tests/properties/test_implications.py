"""The criteria imply each other as `docs/theory/criteria.md` says, and not otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from criteria_programs import RICH, criteria_programs
from memfence.analyses.criteria import check_criterion
from memfence.analyses.options import CheckOptions, Criterion
from memfence.analyses.result import Verdict
from memfence.analyses.safety import check_safety
from memfence.models import ModelName
from memfence.pipeline import load_text
from memfence.program.ir import Program, Store
from memfence.source import SourceText

PAGE = Path(__file__).resolve().parents[2] / "docs/theory/criteria.md"
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
THOROUGH = settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))

CRITERIA: dict[str, tuple[Criterion, ModelName]] = {
    "drf": ("drf", "tso"),
    "trf": ("trf", "tso"),
    "persistent": ("persistent", "tso"),
    "robust (TSO)": ("robust", "tso"),
    "robust (PSO)": ("robust", "pso"),
    "state-robust (TSO)": ("state-robust", "tso"),
    "state-robust (PSO)": ("state-robust", "pso"),
}
STEPS = {
    "drf": {"trf", "robust (PSO)"},
    "trf": {"persistent", "robust (TSO)"},
    "persistent": {"state-robust (TSO)"},
    "robust (PSO)": {"robust (TSO)", "state-robust (PSO)"},
    "robust (TSO)": {"state-robust (TSO)"},
    "state-robust (PSO)": {"state-robust (TSO)"},
    "state-robust (TSO)": set(),
}


def implied_by(name: str) -> set[str]:
    """Everything that `name` implies, itself included."""
    return {name}.union(*(implied_by(weaker) for weaker in STEPS[name]))


def satisfied(program: Program) -> set[str]:
    found = set()
    for name, (criterion, model) in CRITERIA.items():
        verdict = check_criterion(program, criterion, CheckOptions(model=model)).verdict
        assert verdict in (Verdict.HOLDS, Verdict.VIOLATED)
        if verdict is Verdict.HOLDS:
            found.add(name)
    return found


def has_torn_steps(program: Program) -> bool:
    steps = [t for p in program.processes for t in p.transitions if not t.locked]
    return any(sum(isinstance(op, Store) for op in t.ops) > 1 for t in steps)


def implications_hold(program: Program) -> None:
    found = satisfied(program)
    for name in found:
        missing = implied_by(name) - found
        if name in ("drf", "trf") and has_torn_steps(program):
            missing -= {"persistent"}
        assert not missing, f"{name} without {missing}"
    for model in ("tso", "pso"):
        if f"state-robust ({model.upper()})" in found:
            under_sc = check_safety(program, CheckOptions(model="sc")).verdict
            assert check_safety(program, CheckOptions(model=model, engine="explicit")).verdict is under_sc


@QUICK
@given(program=criteria_programs(RICH))
def test_stronger_criteria_imply_weaker_ones_and_safety(program: Program) -> None:
    implications_hold(program)


@pytest.mark.slow
@THOROUGH
@given(program=criteria_programs(RICH))
def test_stronger_criteria_imply_weaker_ones_and_safety_on_many_programs(program: Program) -> None:
    implications_hold(program)


EXAMPLES = {
    name: (code, set(violated.split(", ")))
    for name, code, violated in re.findall(
        r"^### ([^\n]+)\n.*?^```pst\n(.*?)^```\nviolates: ([^\n]+)$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
}


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_an_example_of_the_page_violates_what_the_page_says(name: str) -> None:
    code, violated = EXAMPLES[name]
    assert set(CRITERIA) - satisfied(load_text(SourceText("example.pst", code))) == violated


@pytest.mark.parametrize("stronger", list(CRITERIA))
@pytest.mark.parametrize("weaker", list(CRITERIA))
def test_an_example_separates_every_pair_without_implication(stronger: str, weaker: str) -> None:
    separating = [name for name, (_, violated) in EXAMPLES.items() if weaker in violated and stronger not in violated]
    assert bool(separating) == (weaker not in implied_by(stronger)), separating
