"""Machines that share a search for an accepted infinite run say what one machine says, and their lassos are as good.

Every lasso has passed the check of `questions.ltl.witness`: replayed, closed, fair, and a violation by the definition.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

import pytest

from memfence.cluster import placing
from memfence.engines.cluster.engine import ClusterEngine
from memfence.engines.cluster.rounds import Settings
from memfence.engines.registry import engine_named
from memfence.models.fairness import Fairness
from memfence.pipeline import load
from memfence.program.ir import PropertyAutomaton
from memfence.questions.ltl.check import Claim, claim_of_automaton, decide
from memfence.strategy import portfolio
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.evidence import Lasso
from memfence.tasks.limits import Limits, Stop
from support.corpus import corpus_files, needs_corpus
from support.generators.cyclic_programs import cyclic_program
from support.generators.ltl_claims import claim, property_automaton
from support.models import spec
from support.one_process_ray import OneProcessRay

MEMORIES = (spec("sc"), spec("tso", 1, True), spec("tso", 2, True), spec("tso", 2), spec("pso", 1))
ALL_TOGETHER = Settings(round_states=7, nearby_states=0, most_lost=1_000)
"""Lassos are found by the machines together, and nothing fits into one round."""
BEEM_STATES = 1_000_000


def shared(
    monkeypatch: pytest.MonkeyPatch, ask: partial[Answer], settings: Settings, random: Random, losing_one_in: int = 0
) -> Answer:
    """The answer of a cluster of up to five machines, which may lose some now and then."""
    ray = OneProcessRay(random.randint(1, 5), lambda _: losing_one_in > 0 and random.randrange(losing_one_in) == 0)
    engine = ClusterEngine(settings, ray.connect)
    with monkeypatch.context() as patched:
        patched.setattr(placing, "ANOTHER_LOOK_SECONDS", 0.0)
        patched.setattr(portfolio, "engine_named", lambda name: engine if name == "cluster" else engine_named(name))
        return ask(limits=Limits(cluster="test"))


def is_same_lasso(mine: Answer, theirs: Answer) -> bool:
    one, other = mine.evidence, theirs.evidence
    assert isinstance(one, Lasso) and isinstance(other, Lasso)
    return one.loop_start == other.loop_start and one.trace.steps == other.trace.steps


def question(seed: int) -> partial[Answer]:
    random = Random(f"cycles {seed}")
    program = cyclic_program(random.randrange(10**6))
    asked: Claim = claim(random, program)
    if seed % 3 == 0:
        asked = claim_of_automaton(property_automaton(random, program))
    return partial(
        decide, program, asked, random.choice(MEMORIES), fairness=random.choice((Fairness.NONE, Fairness.WEAK))
    )


def check_seeds(monkeypatch: pytest.MonkeyPatch, seeds: range, losing_one_in: int = 0) -> None:
    said = set()
    for seed in seeds:
        ask, random = question(seed), Random(seed)
        expected = ask(limits=Limits())
        settings = ALL_TOGETHER if seed % 2 else Settings(most_lost=1_000)
        answer = shared(monkeypatch, ask, settings, random, losing_one_in)
        assert answer.verdict is expected.verdict
        if answer.verdict is Verdict.VIOLATED:
            assert seed % 2 or is_same_lasso(answer, expected)
        else:
            assert answer.cost.states == expected.cost.states
            assert answer.cost.transitions == expected.cost.transitions
        said.add(answer.verdict)
    assert said >= {Verdict.HOLDS, Verdict.VIOLATED}


def test_several_machines_say_what_one_says(monkeypatch: pytest.MonkeyPatch) -> None:
    check_seeds(monkeypatch, range(60))


def test_machines_that_are_lost_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    check_seeds(monkeypatch, range(1_000, 1_020), losing_one_in=500)


def test_machines_that_are_lost_again_and_again_leave_it_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = shared(monkeypatch, question(0), Settings(most_lost=2), Random(0), losing_one_in=3)
    assert answer.verdict is Verdict.UNKNOWN and answer.stop is Stop.LOST


@pytest.mark.slow
@pytest.mark.parametrize("start", range(5_000, 5_500, 100))
def test_several_machines_say_what_one_says_about_many_programs(monkeypatch: pytest.MonkeyPatch, start: int) -> None:
    check_seeds(monkeypatch, range(start, start + 100))
    check_seeds(monkeypatch, range(start, start + 100), losing_one_in=1_000)


@needs_corpus
@pytest.mark.slow
@pytest.mark.parametrize("path", corpus_files("beem/*/*.prop*.dve"), ids=lambda path: path.stem)
def test_several_machines_say_what_one_says_on_beem(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    program = load(path)
    stated = [p for p in program.properties if isinstance(p, PropertyAutomaton)]
    assert stated
    ask = partial(decide, program, claim_of_automaton(stated[0]), spec("sc"))
    expected = ask(limits=Limits(most_states=BEEM_STATES))
    if expected.verdict is Verdict.UNKNOWN:
        pytest.skip(f"more than {BEEM_STATES:,} states")
    answer = shared(monkeypatch, ask, Settings(round_states=50_000), Random(0))
    assert answer.verdict is expected.verdict
    if answer.verdict is Verdict.VIOLATED:
        assert is_same_lasso(answer, expected)
    else:
        assert answer.cost.states == expected.cost.states
