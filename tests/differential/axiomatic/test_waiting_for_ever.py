"""Threads that wait for ever: under SC, TSO and PSO what a search of all states finds; the solver finds what
enumeration finds under every model."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from differential.axiomatic.test_axiomatic_against_oracle import C_MODELS, title
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.waiting import undecided_wait, waiting_for_ever
from memfence.engines.axiomatic.goals import WaitsForEver
from memfence.engines.axiomatic.solve import Executions, Found
from memfence.models.spec import PSO, SC, TSO, ModelSpec
from support.generators.waiting_programs import waiting_program
from twins import waiting
from twins.enumeration import executions

MACHINES = pytest.mark.parametrize("spec", [SC, TSO, PSO], ids=lambda spec: spec.name)


def check_machines(seeds: Iterable[int], spec: ModelSpec) -> tuple[int, int]:
    """How many programs wait for ever, and how many do not."""
    counts = [0, 0]
    for seed in seeds:
        program = waiting_program(seed)
        code = unroll(program, 1)
        assert undecided_wait(code) is None
        asked = Executions(code)
        found = isinstance(asked.find(asked.add(models_named(spec.name)[0]), WaitsForEver()), Found)
        assert found == waiting.waits_for_ever(program, spec.definition), f"{program.name} under {spec.name}"
        counts[found] += 1
    return counts[1], counts[0]


def check_oracle(seeds: Iterable[int], model: AxiomaticModel) -> None:
    for seed in seeds:
        code = unroll(waiting_program(seed), 1)
        asked = Executions(code)
        found = isinstance(asked.find(asked.add(model), WaitsForEver()), Found)
        assert found == any(map(waiting_for_ever, executions(code, model))), f"{seed} under {title(model)}"


@MACHINES
def test_threads_wait_for_ever_where_the_machine_does(spec: ModelSpec) -> None:
    assert min(check_machines(range(60), spec)) >= 10


@pytest.mark.parametrize("model", C_MODELS, ids=title)
def test_the_solver_finds_those_who_wait_that_enumeration_finds(model: AxiomaticModel) -> None:
    check_oracle(range(15), model)


def test_some_programs_wait_for_ever_under_weaker_models_only() -> None:
    verdicts = set()
    for seed in range(60):
        asked = Executions(unroll(waiting_program(seed), 1))
        found = [isinstance(asked.find(asked.add(model), WaitsForEver()), Found) for model in C_MODELS[:5]]
        verdicts.add(tuple(found))
    assert len(verdicts) > 2


@pytest.mark.slow
@MACHINES
def test_threads_wait_for_ever_where_the_machine_does_in_many_programs(spec: ModelSpec) -> None:
    check_machines(range(1_000, 3_000), spec)


@pytest.mark.slow
@pytest.mark.parametrize("model", C_MODELS, ids=title)
def test_the_solver_finds_those_who_wait_in_many_programs(model: AxiomaticModel) -> None:
    check_oracle(range(1_000, 1_500), model)
