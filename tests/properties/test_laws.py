"""What is true of every program, asked of the real engines: no oracle needed.

Each law is tested on programs that can break it: the tests count those in which the law says more than nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest

from memfence.engines.native.explicit import explore
from memfence.engines.native.symbolic import explore_symbolic
from memfence.models.spec import PSO, SC, TSO, ModelSpec
from memfence.program.ir import Program, Store
from memfence.tasks.task import Safety
from support.engines import LIMITS, outcomes_of, outcomes_within
from support.fenced import with_fences
from support.generators.cycles import looping_cycles
from support.generators.cyclic_programs import cyclic_program
from support.generators.racing_programs import racing_program
from twins.reference_search import Outcome

RELAXED = (TSO, PSO)
MODELS = (SC, *RELAXED)
MODEL = pytest.mark.parametrize("model", RELAXED, ids=lambda model: model.name)
SEEDS = range(200)
FEWER = range(80)


@cache
def looping_programs() -> list[Program]:
    """Every process has a loop in which it may store; the cycles tell the models apart, which chance hardly does."""
    return [*looping_cycles(4), *map(cyclic_program, range(1_000, 1_060))]


@cache
def outcomes(seed: int, model: ModelSpec) -> set[Outcome]:
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
        assert outcomes(seed, SC) <= outcomes(seed, TSO) <= outcomes(seed, PSO), f"racing {seed}"


def test_many_programs_tell_the_models_apart() -> None:
    def differing(stronger: ModelSpec, weaker: ModelSpec) -> int:
        return sum(outcomes(seed, stronger) != outcomes(seed, weaker) for seed in SEEDS)

    assert min(differing(SC, TSO), differing(TSO, PSO)) >= len(SEEDS) // 4
    assert differing(SC, PSO) >= len(SEEDS) // 3


def test_adding_a_fence_anywhere_never_adds_an_outcome() -> None:
    asked = useful = 0
    for seed in FEWER:
        program = racing_program(seed)
        for site in sites(program):
            for model, kind in ((TSO, "mfence"), (PSO, "mfence"), (PSO, "sfence")):
                left = outcomes_of(with_fences(program, {site: kind}), model)
                assert left <= outcomes(seed, model), f"racing {seed} under {model.name}, {kind} behind {site}"
                asked, useful = asked + 1, useful + (left != outcomes(seed, model))
    assert useful >= asked // 20, "hardly a fence that matters"


def test_an_sfence_changes_nothing_under_tso_and_no_fence_does_under_sc() -> None:
    for seed in FEWER:
        program = racing_program(seed)
        separated = with_fences(program, dict.fromkeys(sites(program), "sfence"))
        assert outcomes_of(separated, TSO) == outcomes(seed, TSO), f"racing {seed}"
        assert outcomes_of(fenced_everywhere(program), SC) == outcomes(seed, SC), f"racing {seed}"


def test_sfences_everywhere_make_pso_tso() -> None:
    for seed in SEEDS:
        program = racing_program(seed)
        separated = with_fences(program, dict.fromkeys(sites(program, behind_stores=True), "sfence"))
        assert outcomes_of(separated, PSO) == outcomes(seed, TSO), f"racing {seed}"


@MODEL
def test_an_mfence_behind_every_store_restores_sc(model: ModelSpec) -> None:
    for seed in SEEDS:
        assert outcomes_of(fenced_everywhere(racing_program(seed)), model) == outcomes(seed, SC), f"racing {seed}"


@MODEL
def test_a_larger_bound_never_removes_an_outcome(model: ModelSpec) -> None:
    grown = 0
    for seed in SEEDS:
        program = racing_program(seed)
        within = [outcomes(seed, SC), *(outcomes_within(program, model.bounded(bound)) for bound in (1, 2, 3, 4))]
        assert all(smaller <= larger for smaller, larger in pairwise(within)), f"racing {seed}"
        assert within[-1] <= outcomes(seed, model), f"racing {seed}"
        grown += within[1] != within[-1]
    assert grown >= 5, "hardly a bound that matters"


# Programs with loops: which locations are reached together.


def locations(program: Program, model: ModelSpec) -> frozenset[tuple[int, ...]]:
    if not model.has_buffers:
        states = explore(program, model, Safety(failures=False), limits=LIMITS).states()
        return frozenset(state.locations for state in states)
    found = explore_symbolic(program, model, Safety(failures=False), limits=LIMITS)
    assert found.complete, program.name
    return found.reachable_locations()


def test_a_weaker_model_keeps_every_location_of_programs_with_loops() -> None:
    apart: Counter[str] = Counter()
    for program in looping_programs():
        sc, tso, pso = (locations(program, model) for model in MODELS)
        assert sc <= tso <= pso, program.name
        apart.update({"tso": sc != tso, "pso": tso != pso})
    assert min(apart["tso"], apart["pso"]) >= 5, "hardly a program that matters"


@MODEL
def test_an_mfence_behind_every_store_restores_sc_in_programs_with_loops(model: ModelSpec) -> None:
    for program in looping_programs():
        fenced = fenced_everywhere(program)
        relaxed, plain = (waiting_aside(program, locations(fenced, each)) for each in (model, SC))
        assert relaxed == plain, program.name


def waiting_aside(program: Program, found: frozenset[tuple[int, ...]]) -> frozenset[tuple[int, ...]]:
    """Without the tuples in which some process has a fence before it: only there is a store pending."""
    counts = [len(process.locations) for process in program.processes]
    return frozenset(at for at in found if all(here < count for here, count in zip(at, counts, strict=True)))
