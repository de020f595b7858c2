"""What the guide says about the DVE examples: who waits gets in, with and without fairness and store buffers."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.models.fairness import memory_fairness, process_fairness
from memfence.models.sc import Sc
from memfence.models.spec import ModelName
from memfence.pipeline import load
from memfence.program.ir import Ltl
from memfence.questions import check
from memfence.questions.ltl.formula import Not
from memfence.questions.ltl.parser import parse_formula
from memfence.questions.ltl.translate import translate
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from support.models import memory_model
from twins.emptiness import has_accepted_run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "dve"
RESPONSE = "G (P@wait -> F P@cs)"
EXCLUSION = "G !(P@cs && Q@cs)"
ROWS: list[tuple[str, str, ModelName, bool, bool]] = [
    ("peterson", RESPONSE, "sc", False, False),
    ("peterson", RESPONSE, "sc", True, True),
    ("peterson", RESPONSE, "tso", False, False),
    ("peterson", RESPONSE, "tso", True, True),
    ("peterson", EXCLUSION, "sc", True, True),
    ("peterson", EXCLUSION, "tso", True, False),
    ("dekker", RESPONSE, "sc", False, False),
    ("dekker", RESPONSE, "sc", True, True),
    ("dekker", RESPONSE, "tso", False, False),
    ("dekker", RESPONSE, "tso", True, False),
    ("dekker", EXCLUSION, "sc", True, True),
    ("dekker", EXCLUSION, "tso", True, False),
]


@pytest.mark.parametrize(("name", "formula", "model", "fair", "expected"), ROWS)
def test_an_example_has_the_verdict_of_the_guide(
    name: str, formula: str, model: ModelName, fair: bool, expected: bool
) -> None:
    program = load(EXAMPLES / f"{name}.dve")
    options = CheckOptions(model=model, ltl=Ltl("ltl", formula), fair=fair)
    verdict = check(program, options).verdict
    assert verdict is (Verdict.HOLDS if expected else Verdict.VIOLATED)


@pytest.mark.parametrize(("name", "formula", "model", "fair", "expected"), ROWS)
def test_the_slow_twin_agrees(name: str, formula: str, model: ModelName, fair: bool, expected: bool) -> None:
    program = load(EXAMPLES / f"{name}.dve")
    memory = Sc() if model == "sc" else memory_model("tso", bound=1, per_variable=True)
    parsed = parse_formula(formula, program, {})
    atoms = tuple(atom.expr for atom in parsed.atoms)
    conditions = (*memory_fairness(program, memory), *(process_fairness(program) if fair else ()))
    assert has_accepted_run(program, memory, translate(Not(parsed.formula)), atoms, conditions) != expected
