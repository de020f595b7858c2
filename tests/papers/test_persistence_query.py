"""The paper's program Q, by our own SC search and by Spin, against the persistence that one exploration decides."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings

from memfence.codes import Code
from memfence.diagnostics import InputError
from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.pipeline import load, load_text
from memfence.program.ir import Program
from memfence.program.validate import validate
from memfence.questions import check
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.options import CheckOptions
from memfence.translation.persistence_query import persistence_query
from memfence.translation.promela import render_promela
from support.generators.criteria_programs import RICH, criteria_programs
from support.sampling import sampled

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None, reason="spin (Debian package) or gcc not installed"
)
SINGLE = criteria_programs(RICH - {"steps", "assertions", "initial"}, torn_steps=False)
QUICK = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
READS_ITS_OWN_STORE = """
byte x, y;
active proctype P() { byte a; y = 1; a = y; a == 1; a = x }
active proctype Q() { x = 1 }
"""
COMPLETED_BY_A_LOCKED_WRITE = """
byte x, y;
active proctype P() { byte a; y = 1; a = x }
active proctype Q() { atomic { x = 1 } }
"""


def is_persistent(program: Program) -> bool:
    return not explore_attacks(program, AttackKind.PERSISTENCE).attacks


def query_of(program: Program) -> Program:
    """The query; programs with steps that the paper's language lacks are not meant."""
    try:
        query = persistence_query(program)
    except InputError:
        assume(False)
        raise
    validate(query)
    return query


def fails_in_spin(query: Program, folder: Path) -> bool:
    (folder / "query.pml").write_text(render_promela(query))
    for command in (["spin", "-a", "query.pml"], ["gcc", "-O1", "-w", "-DSAFETY", "-o", "pan", "pan.c"]):
        made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert made.returncode == 0, made.stdout + made.stderr
    output = subprocess.run(["./pan", "-E", "-m1000000"], cwd=folder, capture_output=True, text=True).stdout
    assert "search depth too small" not in output
    errors = re.search(r"errors: (\d+)", output)
    assert errors, output
    return int(errors[1]) > 0


@QUICK
@given(program=SINGLE)
def test_the_assertion_of_the_query_fails_exactly_where_the_program_is_fragile(program: Program) -> None:
    query = query_of(program)
    result = check(query, CheckOptions(model="sc", criterion="safety"))
    assert result.verdict in (Verdict.HOLDS, Verdict.VIOLATED)
    assert (result.verdict is Verdict.HOLDS) == is_persistent(program)


@needs_spin
@sampled(quick=6, slow=100, program=SINGLE)
def test_spin_answers_the_query_as_we_do(program: Program, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert fails_in_spin(query_of(program), tmp_path_factory.mktemp("query")) == (not is_persistent(program))


def in_the_papers_language() -> list[Path]:
    found = []
    for path in sorted(EXAMPLES.rglob("*.pml")):
        try:
            persistence_query(load(path))
        except InputError:
            continue
        found.append(path)
    return found


@needs_spin
@pytest.mark.parametrize("name", ["dekker", "peterson", "message_passing", "criteria/persistent_not_robust"])
def test_spin_answers_the_query_of_an_example(name: str, tmp_path: Path) -> None:
    program = load(EXAMPLES / f"{name}.pml")
    assert fails_in_spin(persistence_query(program), tmp_path) == (not is_persistent(program))


@needs_spin
@pytest.mark.slow
def test_spin_answers_the_query_of_every_example_that_has_one(tmp_path: Path) -> None:
    paths = in_the_papers_language()
    assert len(paths) >= 10
    for number, path in enumerate(paths):
        folder = tmp_path / str(number)
        folder.mkdir()
        program = load(path)
        assert fails_in_spin(persistence_query(program), folder) == (not is_persistent(program)), path


@pytest.mark.parametrize("text", [READS_ITS_OWN_STORE, COMPLETED_BY_A_LOCKED_WRITE], ids=["own store", "locked write"])
def test_patterns_that_the_printed_program_misses_are_found(text: str) -> None:
    program = load_text(SourceText("pattern.pml", text))
    assert not is_persistent(program)
    assert check(persistence_query(program), CheckOptions(model="sc")).verdict is Verdict.VIOLATED


def test_steps_that_the_papers_language_lacks_are_refused_with_their_place() -> None:
    program = load_text(SourceText("step.pml", "byte x; active proctype P() { x = x + 1 }"))
    with pytest.raises(InputError) as refused:
        persistence_query(program)
    (diagnostic,) = refused.value.diagnostics
    assert diagnostic.code is Code.UNSUPPORTED
    assert diagnostic.at.span.text.startswith("x = x + 1")
