"""The checker that is itself proved: its steps are those of the models, its answers those of the other two."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from differential.certificates.test_certificate_mutations import (
    CASES,
    KINDS,
    MANY,
    columns_of,
    expected,
    judged,
    made,
    subject,
)
from differential.certificates.test_certificate_steps import (
    EDGES,
    EXAMPLES,
    MEETINGS,
    MEMORIES,
    MOST_STATES,
    SHORT,
    SMALL,
    WIDTHS,
    at_the_edges,
    at_the_edges_of,
    capacity_of,
)
from memfence.certificates.checker.proved import state_of, step_of
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.columns import Columns
from memfence.certificates.format.header import Claim
from memfence.certificates.writer.certify import certify
from memfence.models.spec import ModelSpec
from memfence.models.state import Failure
from memfence.models.steps import successors
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.pipeline import load, load_text
from memfence.program.expressions import Expr
from memfence.program.ir import Domain, Program
from memfence.program.text.canonical import expression_text
from memfence.source import SourceText
from memfence.tasks.limits import Limits
from support.certificates import blocks_of, chunks_of, judge, row_of
from support.generators.programs import programs
from support.models import spec
from support.proved import needs_the_proved_checker, proved_checker, steps_of
from twins.reference_search import explore

pytestmark = needs_the_proved_checker
__all__ = ["proved_checker"]
MUTATIONS = 24
MANY_PROGRAMS = 5_000
PROGRAMS = programs(SMALL) | programs(SMALL).map(fuse_lock_regions)
MODELS = pytest.mark.parametrize("memory", MEMORIES, ids=lambda m: f"{m.name}-{m.bound}-{m.per_variable}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("certificates")


def check_steps(program: Program, memory: ModelSpec, most_states: int = MOST_STATES) -> int:
    """Every step of every reachable state, or of many of them; returns how many there are."""
    capacity = capacity_of(program, memory)
    columns = Columns(program, memory.buffering, capacity)
    states = {row_of(columns, s): s for s in explore(program, memory.definition, most_states=most_states).states}
    rows = sorted(states)
    lines = steps_of(program, memory, capacity, blocks_of(rows))
    assert len(lines) == len(rows)
    count = 0
    for row, line in zip(rows, lines, strict=True):
        found = json.loads(line)
        taken = {step_of(step): None if after is None else state_of(after) for step, after in found}
        assert len(taken) == len(found), "a step is listed twice"
        assert taken == {
            step: None if isinstance(after, Failure) else after
            for step, after in successors(program, memory.definition, states[row])
        }
        count += len(taken)
    return count


@MODELS
@settings(max_examples=100 // len(MEMORIES) + 1, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS)
def test_the_proved_checker_takes_the_steps_of_the_reference(memory: ModelSpec, program: Program) -> None:
    check_steps(program, memory, most_states=300)


@pytest.mark.slow
@MODELS
@settings(max_examples=MANY_PROGRAMS // len(MEMORIES) + 1, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=PROGRAMS)
def test_it_does_so_for_thousands_of_programs(memory: ModelSpec, program: Program) -> None:
    check_steps(program, memory)


@MODELS
def test_meetings_and_committed_locations_are_the_same_as_well(memory: ModelSpec) -> None:
    assert check_steps(load_text(SourceText("test.dve", MEETINGS)), memory) >= 8


@MODELS
def test_own_stores_fences_and_locked_steps_are_the_same_as_well(memory: ModelSpec) -> None:
    assert check_steps(load_text(SourceText(str(EXAMPLES / "short.pml"), SHORT)), memory) > 100


@pytest.mark.parametrize("expr", EDGES, ids=expression_text)
def test_arithmetic_at_the_edges_is_the_same_as_well(expr: Expr) -> None:
    assert check_steps(at_the_edges(expr), spec("sc")) == 30


@MODELS
@pytest.mark.parametrize("domain", WIDTHS, ids=str)
def test_values_of_every_width_stand_beside_separators(domain: Domain, memory: ModelSpec) -> None:
    assert check_steps(at_the_edges_of(domain), memory) > 20


@pytest.mark.slow
@pytest.mark.usefixtures("proved_checker")
def test_hundreds_of_thousands_of_states_are_no_trouble(tmp_path: Path) -> None:
    """Lists of this length overflow the stack of whoever goes through them by recursion that is not a loop."""
    program = load(EXAMPLES / "linden_wolper" / "generalised_peterson.pml")
    certify(program, Claim(model="tso"), tmp_path / "peterson.mfc", Limits())
    with (tmp_path / "peterson.mfc").open("rb") as file:
        assert verify(file, program, proved=True).states > 300_000


def check_mutants(name: str, claim: Claim, folder: Path, count: int) -> None:
    """It accepts what the other two accept, and refuses what they refuse."""
    program, content = subject(name), made(name, claim, folder)
    assert judge(content, program, proved=True).condition is None
    chunks = chunks_of(content)
    columns = columns_of(program, claim, chunks)
    random = Random(count + 1)
    for number in range(count):
        mutation = KINDS[number % len(KINDS)]
        mutant = mutation(columns, random, chunks)
        others, found = judged(mutant, program), judge(mutant, program, proved=True)
        assert (found.condition is None) == (others.condition is None), f"{mutation.__name__} number {number}"
        assert found.condition is not None or expected(program, mutant)


@pytest.mark.usefixtures("proved_checker")
@pytest.mark.parametrize(("name", "claim"), CASES, ids=lambda value: str(getattr(value, "model", value)))
def test_it_says_of_a_mutant_what_the_others_say(name: str, claim: Claim, folder: Path) -> None:
    check_mutants(name, claim, folder, MUTATIONS)


@pytest.mark.slow
@pytest.mark.usefixtures("proved_checker")
@pytest.mark.parametrize(("name", "claim"), CASES, ids=lambda value: str(getattr(value, "model", value)))
def test_it_says_so_of_thousands_of_them(name: str, claim: Claim, folder: Path) -> None:
    check_mutants(name, claim, folder, MANY)
