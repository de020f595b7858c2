"""Persistence and robustness, decided by several machines together, are what one machine decides.

Ray itself is not needed here: `support.one_process_ray` stands in for it, and loses machines when a test wants.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memfence.cluster import placing
from memfence.engines.attacks import AttackEngine, from_every_state
from memfence.engines.cluster.engine import ClusterEngine
from memfence.engines.cluster.found_attacks import merged_attacks
from memfence.engines.cluster.rounds import Settings
from memfence.engines.native.found_attack import FoundAttack
from memfence.engines.native.partition import PartAttack
from memfence.pipeline import load
from memfence.program.ir import Program
from memfence.program.load_options import LoadOptions
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Limit, NoAttack, Torn
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Keeps, Task
from support.corpus import corpus_files, needs_corpus
from support.fenced import fenced_everywhere
from support.generators.criteria_programs import criteria_programs
from support.generators.cyclic_programs import cyclic_program
from support.generators.racing_programs import racing_program
from support.generators.torn_stores import unseen_halves
from support.models import spec
from support.one_process_ray import OneProcessRay

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SMALL_ROUNDS = Settings(round_states=5, checkpoint_seconds=0.0, most_lost=1_000, nearby_states=0)
ALONE = AttackEngine(from_every_state, small_first=False)
MOST_STATES = 300_000
ASKED = ((Criterion.PERSISTENT, "tso"), (Criterion.ROBUST, "tso"), (Criterion.ROBUST, "pso"))


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placing, "ANOTHER_LOOK_SECONDS", 0.0)


def shared(
    task: Task, count: int, rounds: Settings = SMALL_ROUNDS, losing: Callable[[int], bool] = lambda call: False
) -> Answer:
    return ClusterEngine(rounds, OneProcessRay(count, losing).connect).answer(task.within(cluster="test"))


def check_same(mine: Answer, theirs: Answer) -> None:
    """Runs need not be the same: every machine finds its own first one of a level."""
    assert mine.verdict is theirs.verdict
    assert mine.cost.depth == theirs.cost.depth
    if mine.verdict is not Verdict.VIOLATED:
        assert (mine.cost.states, mine.cost.transitions) == (theirs.cost.states, theirs.cost.transitions)
        assert mine.evidence == theirs.evidence


def question(seed: int) -> Task:
    random = Random(seed)
    program = cyclic_program(seed) if seed % 2 else racing_program(seed)
    criterion, model = random.choice(ASKED)
    return Task(program, spec(model), Keeps(criterion), Limits())


def check_seeds(seeds: range, losing_one_in: int = 0) -> None:
    said = set()
    for seed in seeds:
        task, random = question(seed), Random(seed)

        def losing(call: int, random: Random = random) -> bool:
            return losing_one_in > 0 and random.randrange(losing_one_in) == 0

        expected = ALONE.answer(task)
        rounds = SMALL_ROUNDS if seed % 3 else Settings(most_lost=1_000, nearby_states=0)
        check_same(shared(task, random.randint(1, 5), rounds, losing), expected)
        assert isinstance(task.goal, Keeps)
        said.add((task.goal.criterion, expected.verdict))
    assert said >= {(criterion, verdict) for criterion, _ in ASKED for verdict in (Verdict.HOLDS, Verdict.VIOLATED)}


def test_several_machines_decide_what_one_decides() -> None:
    check_seeds(range(500))


def test_machines_that_are_lost_change_nothing() -> None:
    check_seeds(range(1_000, 1_100), losing_one_in=100)


@settings(max_examples=150, deadline=None)
@given(criteria_programs(), st.sampled_from(ASKED), st.integers(1, 4))
def test_the_same_for_programs_with_torn_steps(program: Program, asked: tuple[Criterion, str], count: int) -> None:
    criterion, model = asked
    task = Task(program, spec(model), Keeps(criterion), Limits())
    mine, theirs = shared(task, count), ALONE.answer(task)
    assert mine.verdict is theirs.verdict
    assert isinstance(mine.evidence, Torn) == isinstance(theirs.evidence, Torn)
    if mine.verdict is Verdict.HOLDS:
        check_same(mine, theirs)


def test_torn_steps_that_nobody_sees_are_looked_for_in_all_states() -> None:
    task = Task(unseen_halves(), spec("tso"), Keeps(Criterion.PERSISTENT), Limits())
    expected = ALONE.answer(task)
    assert isinstance(expected.evidence, Torn)
    for count in range(1, 4):
        check_same(shared(task, count), expected)


def test_torn_steps_are_remembered_whichever_call_is_the_last_of_a_machine() -> None:
    task = Task(unseen_halves(), spec("tso"), Keeps(Criterion.PERSISTENT), Limits())
    calls = OneProcessRay(2)
    ClusterEngine(SMALL_ROUNDS, calls.connect).answer(task.within(cluster="test"))
    for lost in range(1, calls.calls + 1):
        answer = shared(task, 2, losing=lambda call, lost=lost: call == lost)
        assert isinstance(answer.evidence, Torn) and answer.verdict is Verdict.UNKNOWN


def test_an_abstraction_is_searched_by_all_machines_too() -> None:
    program = fenced_everywhere(load(EXAMPLES / "peterson.pml"))
    task = Task(program, spec("tso"), Keeps(Criterion.PERSISTENT, flatten=2), Limits())
    mine, theirs = shared(task, 3), ALONE.answer(task)
    assert mine.evidence == theirs.evidence == NoAttack(2)
    check_same(mine, theirs)


def test_each_call_may_be_the_last_of_a_machine() -> None:
    task = Task(fenced_everywhere(load(EXAMPLES / "peterson.pml")), spec("tso"), Keeps(Criterion.ROBUST), Limits())
    expected = ALONE.answer(task)
    assert expected.verdict is Verdict.HOLDS
    calls = OneProcessRay(3)
    ClusterEngine(SMALL_ROUNDS, calls.connect).answer(task.within(cluster="test"))
    for lost in range(1, calls.calls + 1, 3):
        answer = shared(task, 3, losing=lambda call, lost=lost: call == lost)
        check_same(answer, expected)
        assert dict(answer.counts)["lost"] == 1


def test_machines_that_are_lost_again_and_again_leave_it_unknown() -> None:
    task = Task(load(EXAMPLES / "peterson.pml"), spec("tso"), Keeps(Criterion.PERSISTENT), Limits())
    answer = shared(task, 2, Settings(most_lost=2, nearby_states=0), lambda call: call % 5 == 0)
    assert answer.verdict is Verdict.UNKNOWN
    assert isinstance(answer.evidence, Limit) and answer.evidence.stop is Stop.LOST


def test_a_full_memory_leaves_it_unknown() -> None:
    limits = Limits(memory_megabytes=1)
    task = Task(fenced_everywhere(load(EXAMPLES / "peterson.pml")), spec("tso"), Keeps(Criterion.ROBUST), limits)
    answer = shared(task, 2)
    assert isinstance(answer.evidence, Limit) and answer.evidence.stop is Stop.MEMORY


def an_attack(state: int, crossed: tuple[int, ...]) -> FoundAttack:
    return FoundAttack(state, 0, False, 0, 0, -1, ((1, False),), crossed, (), (0,), (), ())


def test_of_what_parts_found_the_first_level_counts_and_the_smallest_state() -> None:
    early = [PartAttack(b"b", an_attack(7, (1, 2))), PartAttack(b"c", an_attack(8, (3,)))]
    late = [PartAttack(b"a", an_attack(9, (1,)))]
    again = [PartAttack(b"a", an_attack(5, (1, 2)))]
    merged = merged_attacks([(4, early), (5, late), (0, []), (4, again)], all_levels=False)
    assert [(owner, attack.state) for owner, attack in merged] == [(0, 8), (3, 5)]


@needs_corpus
@pytest.mark.slow
@pytest.mark.parametrize("path", corpus_files("persist/single/*/*/*.txt"), ids=lambda path: path.stem)
def test_several_machines_decide_what_one_decides_on_the_programs_of_persist(path: Path) -> None:
    program = load(path, LoadOptions(int_bits=3))
    for criterion, model in ASKED:
        task = Task(program, spec(model), Keeps(criterion), Limits(most_states=MOST_STATES, timeout_seconds=20.0))
        expected = ALONE.answer(task)
        if expected.verdict is not Verdict.UNKNOWN:
            check_same(shared(task, 3, Settings(round_states=5_000, nearby_states=0)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(5_000, 8_000, 500))
def test_several_machines_decide_what_one_decides_about_many_programs(start: int) -> None:
    check_seeds(range(start, start + 500))
    check_seeds(range(start, start + 500), losing_one_in=100)
