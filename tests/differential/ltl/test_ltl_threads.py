"""All states first, by several threads, says what the search in depth says; its lassos do not depend on the threads."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from memfence.models.fairness import Fairness
from memfence.models.spec import ModelSpec
from memfence.pipeline import load, load_text
from memfence.program.ir import Ltl, Program
from memfence.questions import check
from memfence.questions.ltl.check import claim_of_automaton, decide
from memfence.source import SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import Lasso
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.options import CheckOptions
from support.generators.cyclic_programs import cyclic_program
from support.generators.ltl_claims import claim, property_automaton
from support.models import spec

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MEMORIES = (spec("sc"), spec("tso", 1, True), spec("tso", 2), spec("pso", 1))
ALONE = "memfence.engines.native.emptiness.ALONE_STATES"


def counters(count: int, most: int) -> Program:
    """So many processes, each counting round and round."""
    text = "int {0};\nactive proctype P{0}() {{ do :: {0} < {1} -> {0} = {0} + 1 :: else -> {0} = 0 od }}\n"
    names = [chr(ord("a") + number) for number in range(count)]
    return load_text(SourceText("counters.pml", "".join(text.format(name, most) for name in names)))


def check_seeds(model: ModelSpec, seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    said = set()
    for seed in seeds:
        random = Random(f"threads {model.name} {seed}")
        program = cyclic_program(random.randrange(10**6))
        asked = claim(random, program) if seed % 3 else claim_of_automaton(property_automaton(random, program))
        fairness = random.choice(list(Fairness))
        answers = []
        for alone in (10**6, random.choice((0, 0, 3, 20))):
            monkeypatch.setattr(ALONE, alone)
            answers.append(decide(program, asked, model, fairness=fairness, limits=Limits(threads=2)))
        in_depth, shared = answers
        assert shared.verdict is in_depth.verdict
        if in_depth.verdict is not Verdict.VIOLATED:
            assert shared.cost.states == in_depth.cost.states
            assert shared.cost.transitions == in_depth.cost.transitions
        said.add(in_depth.verdict)
    assert len(said) > 1


@pytest.mark.parametrize("model", MEMORIES, ids=str)
def test_all_states_first_give_the_answer_of_depth(model: ModelSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    check_seeds(model, range(60), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("model", MEMORIES, ids=str)
def test_all_states_first_on_many_programs(model: ModelSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    check_seeds(model, range(1_000, 1_500), monkeypatch)


def test_lassos_beyond_the_search_in_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ALONE, 5)
    result = check(load(EXAMPLES / "peterson.pml"), CheckOptions(ltl=Ltl("ltl", "[] <> P[0]@cs"), threads=2))
    assert result.verdict is Verdict.VIOLATED and isinstance(result.evidence, Lasso)


@pytest.mark.parametrize("formula", ["[] (a <= 30)", "[] <> (a == 0)", "[] (a == 29 -> <> (b == 31))"])
@pytest.mark.parametrize("fair", [False, True])
def test_any_number_of_threads_gives_the_same(formula: str, fair: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """29,791 states and more: levels that threads share."""
    monkeypatch.setattr(ALONE, 100)
    program, seen = counters(3, 30), set()
    for threads in (1, 2, 3):
        asked = CheckOptions(model="sc", ltl=Ltl("ltl", formula), fair=fair, threads=threads)
        answer = check(program, asked).answer
        steps = [str(taken.step) for taken in answer.evidence.trace.steps] if isinstance(answer.evidence, Lasso) else []
        seen.add((answer.verdict, answer.cost.states, answer.cost.transitions, *steps))
    assert len(seen) == 1


def test_threads_end_with_the_time() -> None:
    options = CheckOptions(model="sc", ltl=Ltl("ltl", "[] (a <= 1000)"), threads=2, timeout_seconds=1)
    result = check(counters(4, 1000), options)
    assert result.verdict is Verdict.UNKNOWN and result.answer.stop is Stop.TIMEOUT


def test_threads_end_with_memory() -> None:
    """Also the search in depth, which follows since it writes no arcs down."""
    options = CheckOptions(model="sc", ltl=Ltl("ltl", "[] (a <= 20)"), threads=2, memory_megabytes=1)
    result = check(counters(4, 20), options)
    assert result.verdict is Verdict.UNKNOWN and result.answer.stop is Stop.MEMORY
