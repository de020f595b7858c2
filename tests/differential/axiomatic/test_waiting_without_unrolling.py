"""What the solver says of unrolled code is what a twin finds that follows the program itself: how it ends, whether it
fails, and whether threads wait for ever, in loops of every shape, under every model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

from differential.axiomatic.test_axiomatic_against_oracle import outcomes_by_solver, title, unrolled
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.engines.axiomatic.goals import Fails, Goal, ReachesCut, WaitsForEver
from memfence.engines.axiomatic.solve import Executions, Found
from support.generators.await_programs import await_program
from twins.graphs import Graphs

MODELS = [model for name in ("sc", "x86", "rc11", "armv8", "riscv") for model in models_named(name)]
MOST_STEPS = 12
MOST_PAIRS = 4_000
"""What two threads can do by themselves, put together: beyond, the twin takes too long."""


def check_programs(seeds: Iterable[int], model: AxiomaticModel) -> Counter[str]:
    """How many programs wait for ever, fail, or do neither."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        program = await_program(seed)
        twin = Graphs(program, model, MOST_STEPS)
        if not twin.is_complete or twin.pairs > MOST_PAIRS:
            continue
        executions = Executions(unrolled(program))
        added = executions.add(model, dependencies=False)

        def finds(goal: Goal, executions: Executions = executions, model: object = added) -> bool:
            return isinstance(executions.find(model, goal), Found)  # type: ignore[arg-type]

        is_cut, where = finds(ReachesCut()), f"{program.name} under {title(model)}"
        waits, fails = finds(WaitsForEver()), finds(Fails())
        assert waits <= twin.waits_for_ever() and fails <= twin.fails(), where
        if not is_cut:
            assert (waits, fails) == (twin.waits_for_ever(), twin.fails()), where
            assert outcomes_by_solver(program, executions, added) == twin.outcomes(), where
        counts["waits" if waits else "fails" if fails else "is cut" if is_cut else "holds"] += 1
    return counts


@pytest.mark.parametrize("model", MODELS, ids=title)
def test_threads_wait_for_ever_where_no_way_leads_on_with_last_values(model: AxiomaticModel) -> None:
    assert min(check_programs(range(80), model)[kind] for kind in ("waits", "holds")) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=title)
def test_threads_wait_for_ever_where_no_way_leads_on_in_many_programs(model: AxiomaticModel) -> None:
    check_programs(range(1_000, 2_000), model)
