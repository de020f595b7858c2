"""The verdicts in `examples/verdicts.csv`, by exhaustive search of the reference models with small buffers.

Buffers of the bound below are enough: for a violation any bound that shows it is, and no process of a program that
holds has more stores pending than fit.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest

from memfence.models.spec import ModelName
from memfence.models.state import State
from memfence.models.steps import MemoryModel, evaluate_in
from memfence.pipeline import load
from memfence.program.expressions import Expr
from memfence.program.ir import Invariant, Program
from memfence.source import NOWHERE
from support.models import memory_model
from twins.reference_search import shortest_steps

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS = list(csv.DictReader((EXAMPLES / "verdicts.csv").read_text().splitlines()))
MODELS: tuple[ModelName, ...] = ("sc", "tso", "pso")
BOUND = {"sc": 0, "tso": 2, "pso": 1}


def is_violated(program: Program, model: MemoryModel) -> bool:
    """Whether some run fails an assertion or leaves an invariant; stops at the first."""
    invariants = [prop.expr for prop in program.properties if isinstance(prop, Invariant)]
    return shortest_steps(program, model, lambda state: leaves(program, state, invariants)) is not None


def leaves(program: Program, state: State, invariants: Sequence[Expr]) -> bool:
    return not all(evaluate_in(program, state, 0, expr) for expr in invariants)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["program"])
def test_an_example_has_the_verdict_of_the_table(row: dict[str, str], model: ModelName) -> None:
    program = load(EXAMPLES / f"{row['program']}.pml")
    violated = is_violated(program, memory_model(model, bound=BOUND[model]))
    assert ("violated" if violated else "holds") == row[model]


def test_every_example_is_in_the_table() -> None:
    assert [row["program"] for row in ROWS] == sorted(path.stem for path in EXAMPLES.glob("*.pml"))


def test_every_example_begins_with_what_it_shows() -> None:
    assert [path.name for path in EXAMPLES.glob("*.pml") if not path.read_text().startswith("/* ")] == []


SOURCES = sorted(path for path in EXAMPLES.rglob("*") if path.suffix in {".pml", ".dve", ".litmus", ".rmm", ".pst"})


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_every_step_can_be_shown_in_the_text(path: Path) -> None:
    program = load(path)
    steps = [transition for process in program.processes for transition in process.transitions]
    assert steps
    assert [step for step in steps if step.span.source is NOWHERE.source] == []
