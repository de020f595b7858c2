"""Certificates of temporal properties: there is one exactly where the native search finds no accepted run."""

from __future__ import annotations

import io
import json
from pathlib import Path
from random import Random

import pytest

from memfence.api.certify import check_certified
from memfence.certificates.checker import tableau
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.verify import verify
from memfence.certificates.format.columns import Columns, planes
from memfence.certificates.format.container import NotACertificate, read_chunks
from memfence.certificates.format.header import Claim
from memfence.certificates.format.ranks import NUMBER
from memfence.certificates.format.sections import OBJECT, ROWS
from memfence.models.buffering import Buffering
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.questions.ltl.parser import parse_formula
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from support.certificates import beginning, blocks_of, container, judge
from support.generators.cyclic_programs import cyclic_program

FORMULAS = (
    "[] {a}", "<> {a}", "[] <> {a}", "<> [] {a}", "{a} U {b}", "{a} R {b}", "X {a}", "[] ({a} -> <> {b})", "{a} W {b}",
    "!(<> {a} && [] <> {b})", "[] ({a} -> X ({b} U !{a}))", "<> {a} || [] !{b}",
)  # fmt: skip
PETERSON = Path(__file__).resolve().parents[3] / "examples" / "peterson.pml"
DVE = """byte x; process P { state a, b; init a; trans a -> b { effect x = 1; }, b -> a { effect x = 0; }; }
process Spec { state s, t; init s; accept t; trans s -> s { }, s -> t { guard x == 2; }, t -> t { }; }
system async property Spec;"""


def atom(random: Random, program: Program) -> str:
    process = random.randrange(len(program.processes))
    place = random.randrange(len(program.processes[process].locations))
    return random.choice([f"P{process}@#{place}", f"(x0 == {random.randrange(2)})"])


def answers(seeds: range, folder: Path) -> dict[Verdict, int]:
    """Each answer is compared with whether there is a certificate, and each certificate is checked."""
    counted = dict.fromkeys(Verdict, 0)
    for seed in seeds:
        random = Random(seed)
        program = cyclic_program(seed)
        formula = random.choice(FORMULAS).format(a=atom(random, program), b=atom(random, program))
        asked = {"ltl": formula, "model": random.choice(["sc", "tso", "pso"]), "fair": random.random() < 0.5}
        if asked["model"] != "sc":  # of buffers of any length there is no certificate
            asked["buffer_bound"] = 1
        proof = check_certified(program, folder / "proof.mfc", verified=True, **asked)
        counted[proof.result.verdict] += 1
        if proof.result.verdict is Verdict.VIOLATED:
            assert proof.written is None
        else:
            assert proof.verified is not None and proof.verified.is_valid, (seed, formula, proof.missing)
    return counted


def test_what_holds_has_ranks(tmp_path: Path) -> None:
    counted = answers(range(60), tmp_path)
    assert min(counted[Verdict.HOLDS], counted[Verdict.HOLDS_UP_TO], counted[Verdict.VIOLATED]) >= 5


@pytest.mark.slow
def test_what_holds_has_ranks_in_many_programs(tmp_path: Path) -> None:
    assert answers(range(1000, 2500), tmp_path)[Verdict.VIOLATED] > 100


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Program, list[tuple[bytes, bytes]]]:
    """That whoever is in leaves again: it holds under SC."""
    path = tmp_path_factory.mktemp("ranks") / "proof.mfc"
    program = load_text(SourceText(str(PETERSON), PETERSON.read_text()))
    check_certified(program, path, verified=False, ltl="[] (P[0]@cs -> <> !P[0]@cs)", model="sc")
    return program, [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO(path.read_bytes()))]


def rows_of(program: Program, chunks: list[tuple[bytes, bytes]]) -> list[bytes]:
    width = Columns(program, Buffering.NOWHERE, 0).width + 2 * NUMBER
    return [row for kind, content in chunks if kind == ROWS for row in planes(content, width)]


def with_rows(chunks: list[tuple[bytes, bytes]], changed: list[bytes]) -> bytes:
    return container([*((k, c) for k, c in chunks if k != ROWS), *((ROWS, block) for block in blocks_of(changed))])


def test_no_pair_can_be_left_out_and_no_rank_be_raised_at_will(
    ranked: tuple[Program, list[tuple[bytes, bytes]]],
) -> None:
    program, chunks = ranked
    whole = rows_of(program, chunks)
    assert verify(io.BytesIO(container(chunks)), program).states == len(whole)
    for at, row in enumerate(whole):
        with pytest.raises(Refused):
            verify(io.BytesIO(with_rows(chunks, whole[:at] + whole[at + 1 :])), program)
        changed = row[:-4] + b"\x7f\xff\xff\xff"
        with pytest.raises(NotACertificate):
            verify(io.BytesIO(with_rows(chunks, [*whole[:at], changed, *whole[at + 1 :]])), program)
    flat = [row[:-4] + bytes(4) for row in whole]
    with pytest.raises(Refused):
        verify(io.BytesIO(with_rows(chunks, flat)), program)


@pytest.mark.parametrize("marks", [None, ["a"], [], [10**9] * 100, [-1] * 100])
def test_marks_that_do_not_exist_are_noticed(marks: object, ranked: tuple[Program, list[tuple[bytes, bytes]]]) -> None:
    program, chunks = ranked
    changed = [(kind, json.dumps({"marks": marks}).encode() if kind == OBJECT else content) for kind, content in chunks]
    with pytest.raises((NotACertificate, Refused)):
        verify(io.BytesIO(container(changed)), program)


@pytest.mark.parametrize("formula", ["<> P[0]@cs", "[] !P[0]@cs", "[] <> P[0]@cs", "nonsense ("])
def test_ranks_of_one_formula_prove_no_other(formula: str, ranked: tuple[Program, list[tuple[bytes, bytes]]]) -> None:
    program, chunks = ranked
    header = json.loads(chunks[0][1])
    header["claim"]["ltl"] = formula
    forged = [(chunks[0][0], json.dumps(header).encode()), *chunks[1:]]
    with pytest.raises((NotACertificate, Refused)):
        verify(io.BytesIO(container(forged)), program)


def test_formulas_with_very_many_ways_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each `[]` may fail now or later: there are 2 ^ 40 ways to begin."""
    monkeypatch.setattr(tableau, "MOST_MOVES", 1_000)
    program = cyclic_program(0)
    few, many = (
        parse_formula(" || ".join(f"[](x0 == {n})" for n in range(count)), program, {}).formula for count in (5, 40)
    )
    assert len(tableau.refuting_formula(few, ()).moves) >= 2**5
    with pytest.raises(NotACertificate, match="too large"):
        tableau.refuting_formula(many, ())


def test_property_processes_have_ranks_as_well(tmp_path: Path) -> None:
    program, path = load_text(SourceText("t.dve", DVE)), tmp_path / "p.mfc"
    proof = check_certified(program, path, verified=True, model="tso", buffer_bound=1)
    assert proof.verified is not None and proof.verified.is_valid


def test_a_proof_about_fair_runs_is_none_about_all(tmp_path: Path) -> None:
    """Q stores, if it is ever scheduled."""
    text = "bit x, y; active proctype P() { do :: y = 1 - y od } active proctype Q() { x = 1 }"
    program, formula = load_text(SourceText("t.pml", text)), "<> (x == 1)"
    proof = check_certified(program, tmp_path / "proof.mfc", verified=True, ltl=formula, model="sc", fair=True)
    assert proof.verified is not None and proof.verified.is_valid
    chunks = [(chunk.kind, chunk.content) for chunk in read_chunks(io.BytesIO((tmp_path / "proof.mfc").read_bytes()))]
    forged = container([*beginning(program, Claim(model="sc", ltl=formula)), *chunks[3:]])
    for fast in (False, True):
        assert judge(forged, program, fast=fast).condition in (Condition.RANK, "not a certificate")
