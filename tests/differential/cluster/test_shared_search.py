"""A search that several machines share says what one machine says: verdicts, numbers, lengths of runs, final states.

Ray itself is not needed here: `support.one_process_ray` stands in for it, and loses machines at every possible call.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from memfence.cluster import placing
from memfence.engines.cluster.engine import ClusterEngine
from memfence.engines.cluster.rounds import Settings
from memfence.engines.explicit import ExplicitEngine
from memfence.engines.races import RaceEngine
from memfence.models.spec import ModelSpec
from memfence.pipeline import load
from memfence.program.expressions import At, Expr, conjunction
from memfence.program.ir import Program
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Limit
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Keeps, Safety, Task
from support.corpus import corpus_files, needs_corpus
from support.engines import observed
from support.generators.cyclic_programs import cyclic_program
from support.generators.racing_programs import racing_program
from support.models import spec
from support.one_process_ray import OneProcessRay

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MEMORIES = (spec("sc"), spec("tso", 1), spec("tso", 2), spec("tso", 1, True), spec("pso", 1), spec("pso", 2))
SMALL_ROUNDS = Settings(round_states=5, checkpoint_seconds=0.0, most_lost=1_000)
BEEM_STATES = 1_000_000


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "ANOTHER_LOOK_SECONDS", 0.0)


def shared(task: Task, count: int, settings: Settings, losing: Callable[[int], bool] = lambda call: False) -> Answer:
    ray = OneProcessRay(count, losing)
    return ClusterEngine(settings, ray.connect).answer(task.within(cluster="test"))


def alone(task: Task) -> Answer:
    return ExplicitEngine().answer(task)


def check_same(mine: Answer, theirs: Answer) -> None:
    assert mine.verdict is theirs.verdict
    if mine.verdict is Verdict.VIOLATED:
        assert mine.trace is not None and theirs.trace is not None
        assert len(mine.trace.steps) == len(theirs.trace.steps)
    else:
        assert (mine.cost.states, mine.cost.transitions) == (theirs.cost.states, theirs.cost.transitions)
        assert (mine.cost.depth, mine.cost.state_bits) == (theirs.cost.depth, theirs.cost.state_bits)
        assert [(s.values, s.count) for s in mine.final_states] == [(s.values, s.count) for s in theirs.final_states]
        for one, other in zip(mine.final_states, theirs.final_states, strict=True):
            assert len(one.run().steps) == len(other.run().steps)


def a_place(random: Random, program: Program) -> Expr:
    """Every process at some location, the last ones preferred."""
    last = [len(process.locations) - 1 for process in program.processes]
    at = [here if random.random() < 0.7 else random.randint(0, here) for here in last]
    return conjunction(*(At(p, frozenset({here})) for p, here in enumerate(at)))


def question(seed: int) -> Task:
    """A random program with loops or without, a model, and what to look for: a place, a deadlock, or all outcomes."""
    random = Random(seed)
    program = cyclic_program(seed) if seed % 2 else racing_program(seed)
    goal = random.choice(
        [
            Safety(bad=a_place(random, program), failures=False),
            Safety(deadlock=True),
            Safety(failures=False, final_values=tuple(expr for _, expr in observed(program))),
        ]
    )
    memory: ModelSpec = random.choice(MEMORIES)
    return Task(program, memory, goal, Limits(most_states=20_000))


def check_seeds(seeds: range, losing_one_in: int = 0) -> None:
    said = set()
    for seed in seeds:
        task, random = question(seed), Random(seed)
        expected = alone(task)
        if isinstance(expected.evidence, Limit):
            continue
        settings = SMALL_ROUNDS if seed % 3 else Settings(most_lost=1_000)

        def losing(call: int, random: Random = random) -> bool:
            return losing_one_in > 0 and random.randrange(losing_one_in) == 0

        check_same(shared(task, random.randint(1, 5), settings, losing), expected)
        said.add(expected.verdict)
    assert said >= {Verdict.HOLDS, Verdict.VIOLATED}


def test_several_machines_say_what_one_says() -> None:
    check_seeds(range(60))


def test_machines_that_are_lost_change_nothing() -> None:
    check_seeds(range(1_000, 1_040), losing_one_in=150)


def test_several_machines_find_the_races_that_one_finds() -> None:
    said = set()
    for seed in range(60):
        random = Random(seed)
        program = cyclic_program(seed) if seed % 2 else racing_program(seed)
        task = Task(program, spec("tso"), Keeps(random.choice([Criterion.DRF, Criterion.TRF])), Limits())
        expected = RaceEngine().answer(task)
        mine = shared(task, random.randint(1, 5), SMALL_ROUNDS)
        check_same(mine, expected)
        said.add(expected.verdict)
    assert said == {Verdict.HOLDS, Verdict.VIOLATED}


def test_each_call_may_be_the_last_of_a_machine() -> None:
    program = load(EXAMPLES / "peterson.pml")
    task = Task(program, spec("tso", 2), Safety(failures=False), Limits())
    expected = alone(task)
    calls = OneProcessRay(3)
    ClusterEngine(SMALL_ROUNDS, calls.connect).answer(task.within(cluster="test"))
    assert calls.calls > 50
    for lost in range(1, calls.calls + 1, 3):
        answer = shared(task, 3, SMALL_ROUNDS, lambda call, lost=lost: call == lost)
        check_same(answer, expected)
        assert dict(answer.counts)["lost"] == 1


def test_machines_that_are_lost_again_and_again_leave_it_unknown() -> None:
    task = question(1)
    answer = shared(task, 2, Settings(most_lost=2), lambda call: call % 5 == 0)
    assert answer.verdict is Verdict.UNKNOWN
    assert isinstance(answer.evidence, Limit) and answer.evidence.stop is Stop.LOST


def test_no_state_is_lost_on_its_way() -> None:
    task = Task(load(EXAMPLES / "lamport_fast.pml"), spec("pso", 2), Safety(failures=False), Limits())
    expected = alone(task)
    assert expected.cost.states > 50_000
    check_same(shared(task, 3, Settings(round_states=5_000)), expected)


def test_a_limit_on_states_ends_the_search_after_a_level() -> None:
    task = Task(load(EXAMPLES / "lamport_fast.pml"), spec("pso", 2), Safety(failures=False), Limits(most_states=1_000))
    mine, theirs = shared(task, 3, SMALL_ROUNDS), alone(task)
    assert isinstance(mine.evidence, Limit) and mine.evidence.stop is Stop.STATES
    assert mine.cost.depth == theirs.cost.depth


def test_a_full_memory_leaves_it_unknown() -> None:
    limits = Limits(memory_megabytes=1)
    task = Task(load(EXAMPLES / "lamport_fast.pml"), spec("pso", 2), Safety(failures=False), limits)
    answer = shared(task, 2, Settings())
    assert isinstance(answer.evidence, Limit) and answer.evidence.stop is Stop.MEMORY


def test_an_initial_state_may_be_bad() -> None:
    program = racing_program(0)
    bad = conjunction(*(At(p, frozenset({one.initial})) for p, one in enumerate(program.processes)))
    task = Task(program, spec("tso", 1), Safety(bad=bad), Limits())
    answer = shared(task, 3, Settings())
    assert answer.verdict is Verdict.VIOLATED and answer.trace is not None and not answer.trace.steps


@pytest.mark.slow
@pytest.mark.parametrize("start", range(5_000, 5_500, 100))
def test_several_machines_say_what_one_says_about_many_programs(start: int) -> None:
    check_seeds(range(start, start + 100))
    check_seeds(range(start, start + 100), losing_one_in=100)


@needs_corpus
@pytest.mark.slow
@pytest.mark.parametrize("path", corpus_files("beem/*/*.dve"), ids=lambda path: path.stem)
def test_several_machines_count_what_one_counts_on_beem(path: Path) -> None:
    task = Task(load(path), spec("sc"), Safety(failures=False), Limits(most_states=BEEM_STATES))
    expected = alone(task)
    if isinstance(expected.evidence, Limit):
        pytest.skip(f"more than {BEEM_STATES:,} states")
    check_same(shared(task, 3, Settings(round_states=50_000)), expected)
