"""What the solver finds is what enumerating all executions finds: outcomes, executions, failures and flags, under every
model; and under SC, TSO and PSO what the machines with store buffers do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from memfence.axiomatic.code import Code
from memfence.axiomatic.execution import Execution
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unroll import unroll
from memfence.engines.axiomatic.goals import Anything, Fails, Raises
from memfence.engines.axiomatic.solve import Activated, Executions, Found
from memfence.models.catalogue import NAMES
from memfence.models.spec import PSO, SC, TSO
from memfence.program.expressions import TRUE
from memfence.program.ir import Final, Program
from support.engines import observed, outcomes_of
from support.generators.ordered_programs import ordered_program
from support.generators.racing_programs import racing_program
from twins import enumeration
from twins.enumeration import Judged, judged_executions
from twins.reference_search import Outcome

C_MODELS = [model for name in NAMES if name != "x86" for model in models_named(name)]
ASSEMBLY_MODELS = models_named("armv8", language="aarch64")
FEW = 40
"""Executions are compared one by one where there are no more of them."""


def unrolled(program: Program) -> Code:
    """The code, with the last values of all registers."""
    everything = tuple((f"value {n}", expr) for n, (_, expr) in enumerate(observed(program)))
    return unroll(replace(program, properties=(Final("exists", TRUE, "true", everything),)), 1)


def title(model: AxiomaticModel) -> str:
    return f"{model.name} {model.variant}".strip()


def outcomes_by_solver(program: Program, executions: Executions, model: Activated) -> set[Outcome]:
    owners = [owner for owner, _ in observed(program)]
    found = set()
    for outcome in executions.outcomes(model, [expr for _, expr in observed(program)]):
        by_owner = [
            tuple(value for value, of in zip(outcome.values, owners, strict=True) if of == owner)
            for owner in (*range(len(program.processes)), None)
        ]
        found.add((tuple(by_owner[:-1]), by_owner[-1]))
    return found


def identity(execution: Execution) -> object:
    decisions = execution.decisions
    order = tuple(sorted(decisions.order.items()))
    return decisions.initial, frozenset(decisions.read_from.items()), order, frozenset(decisions.values.items())


def check_model(code: Code, model: AxiomaticModel) -> set[Outcome]:
    """All that both can say of the program is the same; the outcomes."""
    expected = list(judged_executions(code, model))
    outcomes = {
        (enumeration.lasting_registers(found.execution), found.execution.memory)
        for found in expected
        if found.execution.ended and not found.execution.failed
    }
    executions = Executions(code)
    active = executions.add(model)
    message = f"{code.program.name} under {title(model)}"
    assert outcomes_by_solver(code.program, executions, active) == outcomes, message
    check_findings(executions, active, expected, message)
    if len(expected) <= FEW:
        all_found = {identity(execution) for execution in executions.all(active, Anything())}
        assert all_found == {identity(found.execution) for found in expected}, message
    return outcomes


def check_findings(executions: Executions, model: Activated, expected: Iterable[Judged], message: str) -> None:
    fails = any(found.execution.failed for found in expected)
    flags = {flag.axiom.name for found in expected for flag in found.judgement.flags}
    assert isinstance(executions.find(model, Fails()), Found) == fails, message
    for name in model.flags:
        assert isinstance(executions.find(model, Raises(name)), Found) == (name in flags), message


def check_seeds(seeds: Iterable[int], model: AxiomaticModel, *, assembly: bool = False) -> None:
    for seed in seeds:
        check_model(unrolled(ordered_program(seed, assembly=assembly)), model)


@pytest.mark.parametrize("model", C_MODELS, ids=title)
def test_the_solver_finds_what_enumeration_finds(model: AxiomaticModel) -> None:
    check_seeds(range(40), model)


@pytest.mark.parametrize("model", ASSEMBLY_MODELS, ids=title)
def test_the_solver_finds_what_enumeration_finds_in_assembly(model: AxiomaticModel) -> None:
    check_seeds(range(40), model, assembly=True)


def test_most_programs_tell_some_models_apart() -> None:
    """Otherwise the tests here would compare what is the same everywhere."""
    different = 0
    for seed in range(30):
        code = unrolled(ordered_program(seed))
        outcomes = [frozenset(enumeration.outcomes(code, model)) for model in C_MODELS[:5]]
        different += len(set(outcomes)) > 1
    assert different >= 12


def check_against_machines(program: Program) -> None:
    code = unrolled(program)
    executions = Executions(code)
    for name, spec in (("sc", SC), ("tso", TSO), ("pso", PSO)):
        active = executions.add(models_named(name)[0])
        found = outcomes_by_solver(program, executions, active)
        assert found == outcomes_of(program, spec), f"{program.name} under {name}"


def test_the_solver_finds_what_store_buffers_do() -> None:
    for seed in range(40):
        check_against_machines(racing_program(seed))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 3_000, 500))
@pytest.mark.parametrize("model", C_MODELS, ids=title)
def test_the_solver_finds_what_enumeration_finds_in_many_programs(model: AxiomaticModel, start: int) -> None:
    check_seeds(range(start, start + 500), model)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 3_000, 500))
def test_the_solver_finds_what_enumeration_finds_in_much_assembly(start: int) -> None:
    check_seeds(range(start, start + 500), ASSEMBLY_MODELS[0], assembly=True)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 3_000, 500))
def test_the_solver_finds_what_store_buffers_do_in_many_programs(start: int) -> None:
    for seed in range(start, start + 500):
        check_against_machines(racing_program(seed))
