"""Searches on real clusters of Ray, several machines played by this one. `test_shared_search` has most of the cases."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

import pytest
from paper_tables.command import CommandFailed, ask
from paper_tables.everywhere import each_measured
from paper_tables.families import measure_families
from paper_tables.table import Sources

from memfence.api.check import check
from memfence.api.explore import explore
from memfence.api.fix import fix
from memfence.api.jobs import check_each
from memfence.api.run import run
from memfence.cluster.session import connected
from memfence.engines.attacks import AttackEngine, from_every_state
from memfence.engines.cluster.engine import ClusterEngine
from memfence.engines.cluster.rounds import Settings
from memfence.engines.emptiness import EmptinessEngine
from memfence.engines.engine import Engine
from memfence.engines.explicit import ExplicitEngine
from memfence.engines.races import RaceEngine
from memfence.models.fairness import Fairness
from memfence.pipeline import load, load_text, read_source
from memfence.program.ir import Ltl
from memfence.questions.ltl.check import claim_of_formula, task_of
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits
from memfence.tasks.task import Keeps, Safety, Task
from support.engines import observed
from support.fenced import fenced_everywhere
from support.generators.cyclic_programs import cyclic_program
from support.generators.racing_programs import racing_program
from support.machines import Machines, playing
from support.models import spec

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
ALONE = AttackEngine(from_every_state, small_first=False)
EAGER = Settings(round_states=2_000, checkpoint_seconds=0.0, nearby_states=0)


@pytest.fixture(scope="module")
def machines() -> Iterator[Machines]:
    with playing(2) as two:
        yield two


def numbers_of(answer: Answer) -> tuple[Verdict, int, int, int]:
    return answer.verdict, answer.cost.states, answer.cost.transitions, answer.cost.depth


def large_task() -> Task:
    """About 100,000 states, and none of them bad."""
    return Task(load(EXAMPLES / "lamport_fast.pml"), spec("pso", 2), Safety(failures=False), Limits())


def test_two_machines_count_what_one_counts(machines: Machines) -> None:
    task = large_task()
    mine = ClusterEngine().answer(task.within(cluster=machines.address))
    assert numbers_of(mine) == numbers_of(ExplicitEngine().answer(task))


def test_two_machines_find_a_run_that_replays(machines: Machines) -> None:
    program = load(EXAMPLES / "store_buffering.litmus")
    task = Task(program, spec("tso", 2), Safety(deadlock=True), Limits())
    mine = ClusterEngine().answer(task.within(cluster=machines.address))
    assert mine.verdict is ExplicitEngine().answer(task).verdict


@pytest.mark.parametrize(
    ("criterion", "model"), [(Criterion.PERSISTENT, "tso"), (Criterion.ROBUST, "tso"), (Criterion.ROBUST, "pso")]
)
def test_two_machines_decide_criteria_as_one_does(machines: Machines, criterion: Criterion, model: str) -> None:
    for program in (load(EXAMPLES / "szymanski.pml"), fenced_everywhere(load(EXAMPLES / "lamport_fast.pml"))):
        task = Task(program, spec(model), Keeps(criterion), Limits())
        mine, theirs = (
            ClusterEngine(EAGER).answer(task.within(cluster=machines.address)),
            ALONE.answer(task),
        )
        assert mine.verdict is theirs.verdict
        if mine.verdict is Verdict.HOLDS:
            assert numbers_of(mine) == numbers_of(theirs)


def test_what_a_cluster_did_is_part_of_the_statistics(machines: Machines) -> None:
    """Races: attacks that a few states show are found by the machine that asks."""
    result = check(EXAMPLES / "szymanski.pml", criterion="drf", cluster=machines.address)
    extra = dict(result.stats.extra)
    assert extra["lost"] == 0 and extra["rounds"] > 0 and "sent" in extra


def test_machines_share_the_executions_of_a_program(machines: Machines) -> None:
    if not shutil.which("g++"):
        pytest.skip("no g++ here")
    one, both = (run(EXAMPLES / "c" / "sober_lost_wakeup.c", cluster=where) for where in (None, machines.address))
    assert both.verdict is one.verdict
    assert both.counts.executions == one.counts.executions


def test_machines_share_the_executions_of_a_model(machines: Machines) -> None:
    for options in ({}, {"preemptions": 2}):
        one, both = (
            explore(EXAMPLES / "sober" / "dekker.pml", cluster=where, **options) for where in (None, machines.address)
        )
        assert both.verdict is one.verdict
        assert [(i.counts.interleavings, i.counts.borderline) for i in both.iterations] == [
            (i.counts.interleavings, i.counts.borderline) for i in one.iterations
        ]


def test_machines_measure_a_row_each(machines: Machines) -> None:
    sources = Sources(EXAMPLES, None, 60)
    with connected(machines.address):
        (family, *_) = measure_families(sources, 2, machines.address)
        assert family.cells()[:3] == ("filter_lock", "2", "holds")
        with pytest.raises(CommandFailed, match="nowhere"):
            list(each_measured([partial(ask, "check", Path("nowhere.pml"), timeout_seconds=10)], machines.address))


def test_machines_take_a_file_each(machines: Machines) -> None:
    files = [EXAMPLES / "peterson.pml", EXAMPLES / "szymanski.pml", EXAMPLES / "store_buffering.litmus"]
    answers = list(check_each(files, machines.address, {"model": "sc"}))
    expected = [check(file, model="sc") for file in files]
    assert [(one.verdict, one.stats.states) for one in answers] == [(one.verdict, one.stats.states) for one in expected]


def large_criterion() -> Task:
    """Peterson's algorithm for four processes: 72,457 SC states, and no attack from any of them."""
    three = read_source(EXAMPLES / "algorithms" / "generalised_peterson.pml")
    program = fenced_everywhere(load_text(replace(three, text=three.text.replace("3", "4"))))
    return Task(program, spec("tso"), Keeps(Criterion.PERSISTENT), Limits())


def random_question(seed: int) -> tuple[Task, Engine]:
    """About a random program: everything at its end, or a criterion."""
    random = Random(seed)
    program = cyclic_program(seed) if seed % 2 else racing_program(seed)
    criterion = random.choice([None, Criterion.PERSISTENT, Criterion.ROBUST, Criterion.DRF, Criterion.TRF])
    if criterion is None:
        final = tuple(expr for _, expr in observed(program))
        memory = random.choice([spec("sc"), spec("tso", 2), spec("pso", 1)])
        return Task(program, memory, Safety(failures=False, final_values=final), Limits()), ExplicitEngine()
    is_pso = criterion is Criterion.ROBUST and random.random() < 0.5
    engine = RaceEngine() if criterion.is_about_races else ALONE
    return Task(program, spec("pso" if is_pso else "tso"), Keeps(criterion), Limits()), engine


def check_random_questions(machines: Machines, seeds: range) -> None:
    with connected(machines.address):
        for seed in seeds:
            task, alone = random_question(seed)
            mine, theirs = ClusterEngine(EAGER).answer(task.within(cluster=machines.address)), alone.answer(task)
            assert mine.verdict is theirs.verdict
            assert mine.cost.depth == theirs.cost.depth
            if mine.verdict is not Verdict.VIOLATED:
                assert numbers_of(mine) == numbers_of(theirs)
                finals = ([(s.values, s.count) for s in answer.final_states] for answer in (mine, theirs))
                assert next(finals) == next(finals)


def test_two_machines_say_what_one_says_about_random_programs(machines: Machines) -> None:
    check_random_questions(machines, range(6))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 1_500, 50))
def test_two_machines_say_what_one_says_about_many_programs(machines: Machines, start: int) -> None:
    check_random_questions(machines, range(start, start + 50))


def answer_after_a_loss(machines: Machines, random: Random, task: Task, states: int) -> Answer:
    """What the machines answer though one of them is killed at some moment of the search."""
    moment = random.randrange(states)
    killed: list[int] = []

    def progress(states: int, *rest: object) -> None:
        if states > moment and not killed:
            killed.append(random.randrange(len(machines.machines)))
            machines.kill(killed[0])

    with connected(machines.address):
        answer = ClusterEngine(EAGER).answer(task.within(cluster=machines.address, progress=progress))
    assert killed
    return answer


def check_after_a_loss(machines: Machines, random: Random, task: Task, alone: Engine) -> None:
    """Kill a machine at some moment of the search: the answer is that of one machine, or none."""
    expected = alone.answer(task)
    answer = answer_after_a_loss(machines, random, task, expected.cost.states)
    assert answer.verdict is Verdict.UNKNOWN or numbers_of(answer) == numbers_of(expected)


def test_a_machine_that_is_killed_leaves_no_wrong_verdict(machines: Machines) -> None:
    check_after_a_loss(machines, Random(0), large_task(), ExplicitEngine())


def test_a_machine_that_is_killed_leaves_no_wrong_verdict_about_attacks(machines: Machines) -> None:
    check_after_a_loss(machines, Random(0), large_criterion(), ALONE)


def large_question() -> Task:
    """About 100,000 states of the product, and no run that is accepted."""
    program = load(EXAMPLES / "lamport_fast.pml")
    claim = claim_of_formula(Ltl("ltl", "[] (x <= 9)"), program, {})
    return task_of(program, claim, spec("pso", 2), fairness=Fairness.NONE, limits=Limits(), reductions=frozenset())


def check_infinite_runs_after_a_loss(machines: Machines, random: Random, task: Task) -> None:
    """Kill a machine at some moment: the search begins again, and gives the answer of one machine."""
    expected = EmptinessEngine().answer(task)
    assert expected.verdict is Verdict.HOLDS_UP_TO
    answer = answer_after_a_loss(machines, random, task, expected.cost.states)
    assert dict(answer.counts)["lost"] >= 1
    assert (answer.verdict, answer.cost.states) == (expected.verdict, expected.cost.states)


def test_a_machine_that_is_killed_does_not_end_the_search_for_infinite_runs(machines: Machines) -> None:
    check_infinite_runs_after_a_loss(machines, Random(1), large_question())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_no_machine_that_is_killed_ends_the_search_for_infinite_runs(machines: Machines, seed: int) -> None:
    check_infinite_runs_after_a_loss(machines, Random(seed), large_question())


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_two_machines_find_the_fences_that_one_finds(machines: Machines, model: str) -> None:
    with connected(machines.address):
        shared = fix(EXAMPLES / "dekker.pml", model=model, cluster=machines.address)
    alone = fix(EXAMPLES / "dekker.pml", model=model)
    assert shared.verdict is alone.verdict and shared.is_minimum
    assert shared.chosen.cost == alone.chosen.cost


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_no_machine_that_is_killed_leaves_a_wrong_verdict(machines: Machines, seed: int) -> None:
    check_after_a_loss(machines, Random(seed), large_task(), ExplicitEngine())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_no_machine_that_is_killed_leaves_a_wrong_verdict_about_attacks(machines: Machines, seed: int) -> None:
    check_after_a_loss(machines, Random(seed), large_criterion(), ALONE)


def test_the_own_node_that_is_killed_gives_no_verdict(tmp_path: Path) -> None:
    """Ray ends the process that asked, with the exit code of a violation."""
    pytest.importorskip("ray")
    counter = "int {0};\nactive proctype P{0}() {{ do :: {0} < 1000 -> {0} = {0} + 1 :: else -> {0} = 0 od }}\n"
    (tmp_path / "endless.pml").write_text("".join(counter.format(name) for name in "abcd"))
    question = ("--model", "sc", "--forbid", "a == 1000 && b == 1000 && c == 1000", "--reduce", "none")
    command = [sys.executable, "-m", "memfence", "check", str(tmp_path / "endless.pml"), *question]
    process = subprocess.Popen(
        [*command, "--cluster", "local:2", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    names: dict[str, int] = {}
    while not any(name.startswith("ray::") and not name.startswith(RAYS_OWN) for name in names):  # somebody searches
        assert process.poll() is None
        time.sleep(0.1)
        names = {name_of(child): child for child in descendants(process.pid)}
    os.kill(names["raylet"], signal.SIGKILL)
    output, _ = process.communicate(timeout=120)
    assert (process.returncode, json.loads(output)["verdict"]) == (4, "unknown")


RAYS_OWN = ("ray::IDLE", "ray::Dashboard", "ray::Runtime")


def descendants(parent: int) -> list[int]:
    """Processes that were started by it, or by those."""
    children = [
        int(word) for path in Path(f"/proc/{parent}/task").glob("*/children") for word in path.read_text().split()
    ]
    return children + [grandchild for child in children for grandchild in descendants(child)]


def name_of(process: int) -> str:
    try:
        return Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""
