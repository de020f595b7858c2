"""Ranks before the checker that is itself proved: it says of them, and of what was made of them, what Python says."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from differential.certificates.test_certificate_ranks import FORMULAS, atom, with_rows
from memfence.api.certify import check_certified
from memfence.certificates.checker.proved import ProvedRanks
from memfence.certificates.checker.ranks import Product
from memfence.certificates.checker.refusal import Condition, NotProved, Refused
from memfence.certificates.checker.tableau import Refuting, refuting_formula
from memfence.certificates.format.columns import Columns, planes
from memfence.certificates.format.container import read_chunks
from memfence.certificates.format.ranks import NUMBER
from memfence.certificates.format.sections import OBJECT, ROWS, SECTION
from memfence.models.spec import SPECS
from memfence.program.ir import Program
from memfence.questions.ltl.parser import parse_formula
from support.certificates import Chunks, container, judge
from support.generators.cyclic_programs import cyclic_program
from support.proved import needs_the_proved_checker, proved_checker

pytestmark = [needs_the_proved_checker, pytest.mark.usefixtures("proved_checker")]
__all__ = ["proved_checker"]
MUTANTS = 12
"""Of each certificate."""


def ranked(seed: int, folder: Path) -> tuple[Program, str, Chunks] | None:
    """A program, the name of a model and a certificate of a formula; None where the formula is not true."""
    random = Random(seed)
    program = cyclic_program(seed)
    formula = random.choice(FORMULAS).format(a=atom(random, program), b=atom(random, program))
    model, path = random.choice(["sc", "tso", "pso"]), folder / "proof.mfc"
    fair = random.random() < 0.5
    if check_certified(program, path, verified=False, ltl=formula, model=model, fair=fair).written is None:
        return None
    return program, model, [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(path.read_bytes()))]


def rows_of(program: Program, model: str, chunks: Chunks) -> list[bytes]:
    (details,) = (json.loads(content) for kind, content in chunks if kind == SECTION)
    width = Columns(program, SPECS[model].buffering, details["capacity"]).width + 2 * NUMBER
    return [row for kind, content in chunks if kind == ROWS for row in planes(content, width)]


def mutant_of(random: Random, chunks: Chunks, rows: list[bytes]) -> bytes:
    """A certificate with one thing changed: a pair left out, another rank or node, another mark, another formula."""
    at = random.randrange(len(rows))
    row = rows[at]
    number = random.randrange(6)
    match random.randrange(5):
        case 0:
            return with_rows(chunks, rows[:at] + rows[at + 1 :])
        case 1:
            return with_rows(chunks, [*rows[:at], row[:-NUMBER] + number.to_bytes(NUMBER), *rows[at + 1 :]])
        case 2:
            node = row[: -2 * NUMBER] + number.to_bytes(NUMBER) + row[-NUMBER:]
            return with_rows(chunks, sorted({*rows[:at], node, *rows[at + 1 :]}))
        case 3:
            return with_rows(chunks, [row[:-NUMBER] + bytes(NUMBER) for row in rows])
        case _:
            (marks,) = (json.loads(content)["marks"] for kind, content in chunks if kind == OBJECT)
            marks[random.randrange(len(marks))] = random.choice((0, 1, 2, 7, -1, 10**30))
            new = json.dumps({"marks": marks}).encode()
            return container([(kind, new if kind == OBJECT else content) for kind, content in chunks])


def compare(seeds: range, folder: Path) -> tuple[int, int]:
    """How many certificates, and how many mutants of them, were accepted by both."""
    accepted = accepted_mutants = 0
    for seed in seeds:
        found = ranked(seed, folder)
        if found is None:
            continue
        program, model, chunks = found
        assert judge(container(chunks), program, proved=True).condition is None
        accepted += 1
        random, rows = Random(seed), rows_of(program, model, chunks)
        for _ in range(MUTANTS):
            mutant = mutant_of(random, chunks, rows)
            slow, proved = judge(mutant, program), judge(mutant, program, proved=True)
            assert (slow.condition is None) == (proved.condition is None), (seed, slow, proved)
            accepted_mutants += proved.condition is None
    return accepted, accepted_mutants


def test_the_proved_checker_judges_ranks_as_python_does(tmp_path: Path) -> None:
    accepted, mutants = compare(range(45), tmp_path)
    assert accepted >= 10
    assert mutants < accepted * MUTANTS / 2


@pytest.mark.parametrize("formula", ["[] <> {a}", "<> {a}", "{a} U {b}", "[] ({a} -> X ({b} U !{a}))"])
def test_an_automaton_that_is_no_tableau_of_the_formula_is_noticed(formula: str) -> None:
    program = cyclic_program(1)
    parsed = parse_formula(formula.format(a="(x0 == 0)", b="(x0 == 1)"), program, {})
    whole = refuting_formula(parsed.formula, tuple(found.expr for found in parsed.atoms))
    columns = Columns(program, SPECS["sc"].buffering, 0)

    def judged(refuting: Refuting) -> str:
        product = Product(program, SPECS["sc"].definition, refuting, ())
        try:
            ProvedRanks(product, SPECS["sc"], columns, 0, []).check([], most_bytes=1 << 20)
        except NotProved as reason:
            return str(reason)
        except Refused as refused:
            return refused.condition.value
        raise AssertionError("there are no ranks at all")

    assert judged(whole) == Condition.INITIAL.value
    for node, moves in enumerate(whole.moves):
        for at in range(len(moves)):
            fewer = (*whole.moves[:node], (*moves[:at], *moves[at + 1 :]), *whole.moves[node + 1 :])
            assert "no tableau" in judged(replace(whole, moves=fewer))


@pytest.mark.slow
def test_it_does_so_for_many_certificates(tmp_path: Path) -> None:
    accepted, _ = compare(range(3000, 3600), tmp_path)
    assert accepted > 200
