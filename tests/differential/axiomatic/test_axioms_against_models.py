"""Two definitions of SC, TSO and PSO agree: the rules of a machine, and axioms on executions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.models.spec import SPECS, ModelName
from memfence.program.ir import Program
from support.generators.programs import EVERYTHING, Shape, programs
from support.generators.racing_programs import racing_program
from support.samples import Sample
from support.sampling import sampled
from twins import axiomatic
from twins.reference_search import Outcome, outcomes

LOOP_FREE = Shape(processes=(2, 2), statements=(1, 3), features=EVERYTHING - {"loops"} | {"assertions", "errors"})
THREE = replace(LOOP_FREE, processes=(3, 3), statements=(1, 2))
ANYTHING = programs(LOOP_FREE) | programs(THREE)


def by_rules(program: Program) -> dict[ModelName, set[Outcome]]:
    return {model: outcomes(program, SPECS[model].definition) for model in axiomatic.MODELS}


def check_program(program: Program) -> dict[ModelName, set[Outcome]]:
    expected = by_rules(program)
    assert axiomatic.outcomes(program) == expected, program.name
    return expected


def check_seeds(seeds: range) -> None:
    """At least a third of the programs must tell some two models apart."""
    found = [check_program(racing_program(seed)) for seed in seeds]
    assert 3 * sum(f["sc"] != f["tso"] or f["tso"] != f["pso"] for f in found) >= len(seeds)


def test_racing_programs_end_as_the_axioms_say() -> None:
    check_seeds(range(120))


@sampled(quick=60, slow=3_000, program=ANYTHING)
def test_programs_of_any_kind_end_as_the_axioms_say(program: Program) -> None:
    check_program(program)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 5_000, 500))
def test_many_racing_programs_end_as_the_axioms_say(start: int) -> None:
    check_seeds(range(start, start + 500))


# Programs that show one clause of the axioms each: the outcome and the models that allow it.


def two(first: str, second: str) -> Program:
    """`x := 1; r := y`, one process each."""
    return Sample("two", "x y").process("P", *first.split("; ")).process("Q", *second.split("; ")).build()


CLAUSES: dict[str, tuple[Program, Outcome, set[str]]] = {
    "a load overtakes a store": (
        two("x := 1; a := y", "y := 1; a := x"), (((0,), (0,)), (1, 1)), {"tso", "pso"}
    ),
    "not past an mfence": (
        two("x := 1; mfence; a := y", "y := 1; mfence; a := x"), (((0,), (0,)), (1, 1)), set()
    ),
    "past an sfence": (
        two("x := 1; sfence; a := y", "y := 1; sfence; a := x"), (((0,), (0,)), (1, 1)), {"tso", "pso"}
    ),
    "a locked store waits for those before it": (
        two("x := 1; locked y := 1", "a := y; b := x"), (((), (1, 0)), (1, 1)), set()
    ),
    "and those behind wait for it": (
        two("locked x := 1; y := 1", "a := y; b := x"), (((), (1, 0)), (1, 1)), set()
    ),
    "stores overtake each other": (
        two("x := 1; y := 1", "a := y; b := x"), (((), (1, 0)), (1, 1)), {"pso"}
    ),
    "not past an sfence, though": (
        two("x := 1; sfence; y := 1", "a := y; b := x"), (((), (1, 0)), (1, 1)), set()
    ),
    "a process sees its own pending store": (
        two("x := 1; a := x; b := y", "y := 1; a := y; b := x"), (((1, 0), (1, 0)), (1, 1)), {"tso", "pso"}
    ),
    "stores to one variable stay in order": (
        two("x := 1; x := 2", "a := x; b := x"), (((), (2, 1)), (2, 0)), set()
    ),
}  # fmt: skip


@pytest.mark.parametrize("clause", CLAUSES)
def test_an_outcome_is_allowed_by_the_models_named(clause: str) -> None:
    program, outcome, allowed = CLAUSES[clause]
    assert {model for model, found in check_program(program).items() if outcome in found} == allowed


def test_what_has_no_executions_of_this_kind_is_refused() -> None:
    again = two("x := 1", "y := 1")
    process = again.processes[0]
    loop = replace(process, transitions=(replace(process.transitions[0], target=process.initial),))
    with pytest.raises(axiomatic.Outside):
        axiomatic.outcomes(replace(again, processes=(loop,)))
