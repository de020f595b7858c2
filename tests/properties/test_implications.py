"""The criteria imply each other as `docs/theory/criteria.md` says, and not otherwise."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memfence.models.spec import ModelName
from memfence.pipeline import load_text
from memfence.program.facts.effects import has_guarded_writes
from memfence.program.ir import Program, Store
from memfence.questions.criteria import check_criterion
from memfence.questions.safety import check_safety
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from support.generators.criteria_programs import RICH, criteria_programs
from support.generators.cyclic_programs import cyclic_program
from support.sampling import sampled

PAGE = Path(__file__).resolve().parents[2] / "docs/theory/criteria.md"

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


def verdicts(program: Program, timeout_seconds: float | None = None) -> dict[str, Verdict]:
    return {
        name: check_criterion(program, criterion, CheckOptions(model=model, timeout_seconds=timeout_seconds)).verdict
        for name, (criterion, model) in CRITERIA.items()
    }


def satisfied(program: Program) -> set[str]:
    found = verdicts(program)
    assert set(found.values()) <= {Verdict.HOLDS, Verdict.VIOLATED}
    return {name for name, verdict in found.items() if verdict is Verdict.HOLDS}


def has_torn_steps(program: Program) -> bool:
    steps = [t for p in program.processes for t in p.transitions if not t.locked]
    return any(sum(isinstance(op, Store) for op in t.ops) > 1 for t in steps)


def check_no_contradiction(program: Program, found: dict[str, Verdict]) -> None:
    """Whatever is implied by what holds is not violated; it may be undecided."""
    violated = {name for name, verdict in found.items() if verdict is Verdict.VIOLATED}
    for name, verdict in found.items():
        wrong = implied_by(name) & violated if verdict is Verdict.HOLDS else set()
        if name == "drf" and has_torn_steps(program):
            wrong -= {"persistent"}
        if name == "trf" and (has_torn_steps(program) or has_guarded_writes(program)):
            continue
        assert not wrong, f"{program.name}: {name} without {wrong}"


def check_implications(program: Program) -> None:
    found = verdicts(program)
    check_no_contradiction(program, found)
    for model in ("tso", "pso"):
        if found[f"state-robust ({model.upper()})"] is Verdict.HOLDS:
            under_sc = check_safety(program, CheckOptions(model="sc")).verdict
            assert check_safety(program, CheckOptions(model=model, engine="explicit")).verdict is under_sc


@sampled(quick=150, slow=3_000, program=criteria_programs(RICH))
def test_stronger_criteria_imply_weaker_ones_and_safety(program: Program) -> None:
    check_implications(program)


# The criteria of cyclic programs are decided by engines that have nothing in common: SC attacks, races, and the states
# of the relaxed models.


def test_cyclic_programs_do_not_contradict_the_implications() -> None:
    for seed in range(150, 350):
        program = cyclic_program(seed)
        check_no_contradiction(program, verdicts(program, timeout_seconds=5))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 10_000, 1_000))
def test_many_cyclic_programs_do_not_contradict_the_implications(start: int) -> None:
    for seed in range(start, start + 1_000):
        program = cyclic_program(seed)
        check_no_contradiction(program, verdicts(program, timeout_seconds=5))


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
