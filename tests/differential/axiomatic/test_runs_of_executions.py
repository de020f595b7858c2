"""Every execution that the axioms of SC, TSO and PSO allow is a run of the machine with the same name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

import pytest

from differential.axiomatic.test_axiomatic_against_oracle import unrolled
from memfence.axiomatic.execution import Execution
from memfence.axiomatic.library import models_named
from memfence.engines.axiomatic.runs import run_of
from memfence.models.spec import PSO, SC, TSO, ModelSpec
from memfence.models.state import Failure, State
from memfence.program.ir import Program
from support.generators.racing_programs import racing_program
from twins.enumeration import executions, lasting_registers

FEW = 30
"""Of programs with more executions, only so many are looked at."""
MODELS = pytest.mark.parametrize("spec", [SC, TSO, PSO], ids=lambda spec: spec.name)


def ends_like(program: Program, execution: Execution, after: State | Failure) -> bool:
    """Every process has ended, all stores are in memory, and the values are those of the execution."""
    if isinstance(after, Failure) or not after.is_plain or after.memory != execution.memory:
        return False
    if any(any(process.leaving(at)) for process, at in zip(program.processes, after.locations, strict=True)):
        return False
    pairs = zip(program.processes, after.registers, strict=True)
    kept = tuple(tuple(v for r, v in zip(p.registers, values, strict=True) if not r.transient) for p, values in pairs)
    return kept == lasting_registers(execution)


def check_runs(seeds: Iterable[int], spec: ModelSpec) -> int:
    """How many executions became runs."""
    (model,) = models_named(spec.name)
    count = 0
    for seed in seeds:
        program = racing_program(seed)
        for number, execution in enumerate(executions(unrolled(program), model)):
            if number < FEW and execution.ended and not execution.failed:
                wanted = partial(ends_like, program, execution)
                assert run_of(program, spec.definition, model, execution, wanted) is not None, (program.name, execution)
                count += 1
    return count


@MODELS
def test_every_execution_is_a_run(spec: ModelSpec) -> None:
    assert check_runs(range(12), spec) >= 60


@pytest.mark.slow
@MODELS
def test_every_execution_is_a_run_in_many_programs(spec: ModelSpec) -> None:
    assert check_runs(range(1_000, 1_400), spec) >= 2_000
