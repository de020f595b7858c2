"""What is true of every program, asked of the real engines: no oracle needed.

Each law is tested on programs that can break it: the tests count those in which the law says more than nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise
from random import Random

import pytest

from memfence.engines.native.explicit import explore
from memfence.engines.native.symbolic import explore_symbolic
from memfence.models.reference_search import Outcome
from memfence.models.spec import ModelName, ModelSpec
from memfence.program.expressions import FALSE, At, Binary, Const, Expr, RegisterOf, conjunction
from memfence.program.ir import Assume, FenceKind, Location, Program, Store, Transition
from memfence.tasks.task import Safety, Task
from support.cycles import cycles
from support.cyclic_programs import cyclic_program
from support.engines import LIMITS, outcomes_of, outcomes_within, task_of, verdicts
from support.fenced import with_fences
from support.models import spec
from support.racing_programs import racing_program

RELAXED: tuple[ModelSpec, ...] = ("tso", "pso")
MODELS: tuple[ModelName, ...] = ("sc", *RELAXED)
KINDS: tuple[FenceKind, ...] = ("mfence", "sfence")
SEEDS = range(200)
FEWER = range(80)


@cache
def looping_programs() -> list[Program]:
    """Every process has a loop in which it may store; the cycles tell the models apart, which chance hardly does."""
    found = [cycle.looping_program() for cycle in cycles(4) if cycle.is_seen_by_reads]
    return [*found, *(cyclic_program(seed) for seed in range(1_000, 1_060))]


@cache
def outcomes(seed: int, model: ModelName) -> set[Outcome]:
    return outcomes_of(racing_program(seed), model)


def sites(program: Program, *, behind_stores: bool = False) -> Iterator[tuple[int, int]]:
    """(process, transition) of all transitions, or of those with a store that waits in a buffer."""
    for p, process in enumerate(program.processes):
        for t, transition in enumerate(process.transitions):
            stores = not transition.locked and any(isinstance(op, Store) for op in transition.ops)
            if stores or not behind_stores:
                yield p, t


def fenced_everywhere(program: Program) -> Program:
    return with_fences(program, dict.fromkeys(sites(program, behind_stores=True), "mfence"))


# Programs without loops: all their outcomes.


def test_a_weaker_model_keeps_every_outcome() -> None:
    for seed in SEEDS:
        assert outcomes(seed, "sc") <= outcomes(seed, "tso") <= outcomes(seed, "pso"), f"racing {seed}"


def test_many_programs_tell_the_models_apart() -> None:
    def differing(stronger: ModelName, weaker: ModelName) -> int:
        return sum(outcomes(seed, stronger) != outcomes(seed, weaker) for seed in SEEDS)

    assert min(differing("sc", "tso"), differing("tso", "pso")) >= len(SEEDS) // 4
    assert differing("sc", "pso") >= len(SEEDS) // 3


def test_adding_a_fence_anywhere_never_adds_an_outcome() -> None:
    asked = useful = 0
    for seed in FEWER:
        program = racing_program(seed)
        for site in sites(program):
            for model, kind in (("tso", "mfence"), ("pso", "mfence"), ("pso", "sfence")):
                left = outcomes_of(with_fences(program, {site: kind}), model)
                assert left <= outcomes(seed, model), f"racing {seed} under {model}, {kind} behind {site}"
                asked, useful = asked + 1, useful + (left != outcomes(seed, model))
    assert useful >= asked // 20, "hardly a fence that matters"


def test_an_sfence_changes_nothing_under_tso_and_no_fence_does_under_sc() -> None:
    for seed in FEWER:
        program = racing_program(seed)
        separated = with_fences(program, dict.fromkeys(sites(program), "sfence"))
        assert outcomes_of(separated, "tso") == outcomes(seed, "tso"), f"racing {seed}"
        assert outcomes_of(fenced_everywhere(program), "sc") == outcomes(seed, "sc"), f"racing {seed}"


def test_sfences_everywhere_make_pso_tso() -> None:
    for seed in SEEDS:
        program = racing_program(seed)
        separated = with_fences(program, dict.fromkeys(sites(program, behind_stores=True), "sfence"))
        assert outcomes_of(separated, "pso") == outcomes(seed, "tso"), f"racing {seed}"


@pytest.mark.parametrize("model", RELAXED)
def test_an_mfence_behind_every_store_restores_sc(model: ModelName) -> None:
    for seed in SEEDS:
        assert outcomes_of(fenced_everywhere(racing_program(seed)), model) == outcomes(seed, "sc"), f"racing {seed}"


@pytest.mark.parametrize("model", RELAXED)
def test_a_larger_bound_never_removes_an_outcome(model: ModelName) -> None:
    grown = 0
    for seed in SEEDS:
        program = racing_program(seed)
        within = [outcomes(seed, "sc"), *(outcomes_within(program, model, bound) for bound in (1, 2, 3, 4))]
        assert all(smaller <= larger for smaller, larger in pairwise(within)), f"racing {seed}"
        assert within[-1] <= outcomes(seed, model), f"racing {seed}"
        grown += within[1] != within[-1]
    assert grown >= 5, "hardly a bound that matters"


# Programs with loops: which locations are reached together.


def locations(program: Program, model: ModelName) -> frozenset[tuple[int, ...]]:
    if model == "sc":
        states = explore(program, spec("sc"), Safety(failures=False), limits=LIMITS).states()
        return frozenset(state.locations for state in states)
    found = explore_symbolic(program, spec(model), Safety(failures=False), limits=LIMITS)
    assert found.complete, program.name
    return found.reachable_locations()


def test_a_weaker_model_keeps_every_location_of_programs_with_loops() -> None:
    apart: Counter[str] = Counter()
    for program in looping_programs():
        sc, tso, pso = (locations(program, model) for model in MODELS)
        assert sc <= tso <= pso, program.name
        apart.update({"tso": sc != tso, "pso": tso != pso})
    assert min(apart["tso"], apart["pso"]) >= 5, "hardly a program that matters"


@pytest.mark.parametrize("model", RELAXED)
def test_an_mfence_behind_every_store_restores_sc_in_programs_with_loops(model: ModelName) -> None:
    for program in looping_programs():
        fenced = fenced_everywhere(program)
        relaxed, plain = (waiting_aside(program, locations(fenced, name)) for name in (model, "sc"))
        assert relaxed == plain, program.name


def waiting_aside(program: Program, found: frozenset[tuple[int, ...]]) -> frozenset[tuple[int, ...]]:
    """Without the tuples in which some process has a fence before it: only there is a store pending."""
    counts = [len(process.locations) for process in program.processes]
    return frozenset(at for at in found if all(here < count for here, count in zip(at, counts, strict=True)))


# Every engine that takes a task gives the answer of every other one.


def ends(program: Program) -> list[Expr]:
    """Every process stands at a location without transitions."""
    halts = [
        frozenset(n for n in range(len(process.locations)) if not any(process.leaving(n)))
        for process in program.processes
    ]
    return [At(p, places) for p, places in enumerate(halts)]


def registers_are(registers: tuple[tuple[int, ...], ...]) -> list[Expr]:
    return [
        Binary("==", RegisterOf(p, r), Const(value))
        for p, values in enumerate(registers)
        for r, value in enumerate(values)
    ]


def racing_tasks(seed: int) -> Iterator[Task]:
    """An outcome of each model that the stronger ones do not have, where there is one, and one that nobody has."""
    program, random = racing_program(seed), Random(seed)
    seen = [{registers for registers, _ in outcomes(seed, model)} for model in MODELS]
    new = [seen[0], seen[1] - seen[0], seen[2] - seen[1]]
    wanted = [random.choice(sorted(these)) for these in new if these]
    wanted += [tuple(tuple(random.randint(0, 4) for _ in values) for values in registers) for registers in wanted[:1]]
    for registers in wanted:
        for model in MODELS:
            bad = conjunction(*ends(program), *registers_are(registers))
            yield task_of(program, model, Safety(bad=bad, failures=False))


def looping_tasks(program: Program) -> Iterator[Task]:
    """Whether some place is reached by all processes at once; the more of them are at their last one, the better."""
    random = Random(program.name)
    last = [len(process.locations) - 1 for process in program.processes]
    for model in MODELS:
        at = [here if random.random() < 0.7 else random.randint(0, here) for here in last]
        bad = conjunction(*(At(p, frozenset({here})) for p, here in enumerate(at)))
        yield task_of(program, model, Safety(bad=bad, failures=False))


def dead_tasks(program: Program) -> Iterator[Task]:
    """Whether a place is reached to which no way is open."""
    first, *others = program.processes
    dead = len(first.locations)
    closed = Transition(first.initial, dead, (Assume(FALSE),))
    changed = replace(first, locations=(*first.locations, Location("dead")), transitions=(*first.transitions, closed))
    for model in MODELS:
        question = Safety(bad=At(0, frozenset({dead})), failures=False)
        yield task_of(replace(program, processes=(changed, *others)), model, question)


def check_agreement(tasks: Iterator[Task]) -> Counter[tuple[str, bool]]:
    """How often each engine found something, and how often it proved that there is nothing."""
    said: Counter[tuple[str, bool]] = Counter()
    for task in tasks:
        found = verdicts(task)
        assert len(set(found.values())) == 1, f"{task.program.name} under {task.model.name}: {found}, {task.goal}"
        said.update(found.items())
    return said


def test_engines_agree_on_programs_without_loops() -> None:
    said = check_agreement(task for seed in FEWER for task in racing_tasks(seed))
    for name in ("auto", "explicit", "symbolic", "dual"):
        assert min(said[name, True], said[name, False]) >= 20, said


def test_engines_agree_on_programs_with_loops() -> None:
    said = check_agreement(task for program in looping_programs() for task in looping_tasks(program))
    for name in ("auto", "symbolic", "dual"):
        assert min(said[name, True], said[name, False]) >= 20, said


def test_engines_agree_on_places_without_a_way_to_them() -> None:
    programs = [racing_program(seed) for seed in range(10)] + looping_programs()[::10]
    said = check_agreement(task for program in programs for task in dead_tasks(program))
    assert said["control flow", False] == said["auto", False] == 3 * len(programs)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(2_000, 4_000, 500))
def test_engines_agree_on_many_programs(start: int) -> None:
    seeds = range(start, start + 500)
    assert check_agreement(task for seed in seeds for task in racing_tasks(seed))
    assert check_agreement(task for seed in seeds for task in looping_tasks(cyclic_program(seed)))
