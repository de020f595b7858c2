"""Threads that share a search for infinite runs say what one thread says, and their lassos are as good."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from memfence.engines.cluster.rounds import Settings
from memfence.engines.emptiness import FEWEST_THREADS
from memfence.models.fairness import Fairness
from memfence.models.spec import ModelSpec
from memfence.pipeline import load, load_text
from memfence.program.ir import Ltl
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


def check_seeds(model: ModelSpec, seeds: range) -> None:
    said = set()
    for seed in seeds:
        random = Random(f"threads {model.name} {seed}")
        program = cyclic_program(random.randrange(10**6))
        asked = claim(random, program) if seed % 3 else claim_of_automaton(property_automaton(random, program))
        fairness, threads = random.choice(list(Fairness)), random.randint(FEWEST_THREADS, FEWEST_THREADS + 2)
        alone = decide(program, asked, model, fairness=fairness, limits=Limits())
        shared = decide(program, asked, model, fairness=fairness, limits=Limits(asked_threads=threads))
        assert shared.verdict is alone.verdict
        if alone.verdict is not Verdict.VIOLATED:
            assert shared.cost.states == alone.cost.states
        said.add(alone.verdict)
    assert len(said) > 1


@pytest.mark.parametrize("model", MEMORIES, ids=str)
def test_threads_give_the_answer_of_one(model: ModelSpec) -> None:
    check_seeds(model, range(40))


@pytest.mark.slow
@pytest.mark.parametrize("model", MEMORIES, ids=str)
def test_threads_give_the_answer_of_one_on_many_programs(model: ModelSpec) -> None:
    check_seeds(model, range(1_000, 1_500))


def test_threads_find_a_lasso_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memfence.engines.cluster.engine.Settings", lambda: Settings(nearby_states=0, round_states=7))
    result = check(
        load(EXAMPLES / "peterson.pml"), CheckOptions(ltl=Ltl("ltl", "[] <> P[0]@cs"), threads=FEWEST_THREADS)
    )
    assert result.verdict is Verdict.VIOLATED and isinstance(result.evidence, Lasso)


def test_threads_end_with_the_time() -> None:
    counter = "int {0};\nactive proctype P{0}() {{ do :: {0} < 1000 -> {0} = {0} + 1 :: else -> {0} = 0 od }}\n"
    program = load_text(SourceText("endless.pml", "".join(counter.format(name) for name in "abcd")))
    options = CheckOptions(model="sc", ltl=Ltl("ltl", "[] (a <= 1000)"), threads=FEWEST_THREADS, timeout_seconds=1)
    result = check(program, options)
    assert result.verdict is Verdict.UNKNOWN and result.answer.stop is Stop.TIMEOUT
