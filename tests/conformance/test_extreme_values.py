"""The largest and smallest values that a variable can have travel through every buffer unchanged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.diagnostics import InputError
from memfence.models.reference_search import outcomes
from memfence.models.spec import SPECS, ModelName
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import Domain, Fence, Load, Op, Program, SharedVar, Store
from support.engines import outcomes_of

INT = Domain(-(2**31), 2**31 - 1)
X, Y = variable_address(0), variable_address(1)


def writer_and_reader(*writes: Op) -> Program:
    """One process does `writes` and reads x; the other reads x."""
    processes = []
    for name, ops in (("writer", (*writes, Load(0, X))), ("reader", (Load(0, X),))):
        builder = ProcessBuilder(name, name)
        builder.register("r", INT)
        for here, op in enumerate(ops):
            builder.location()
            builder.emit(here, here + 1, op)
        builder.location()
        processes.append(builder.build(0))
    return Program("extreme", (SharedVar("x", INT), SharedVar("y", INT)), tuple(processes))


def check_outcomes(program: Program, model: ModelName) -> None:
    assert outcomes_of(program, SPECS[model]) == outcomes(program, SPECS[model].definition)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize("value", [INT.lo, -1, 1, INT.hi - 1])
def test_a_value_is_read_as_it_was_stored(value: int, model: ModelName) -> None:
    check_outcomes(writer_and_reader(Store(X, Const(value))), model)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_the_largest_value_is_read_as_it_was_stored(model: ModelName) -> None:
    check_outcomes(writer_and_reader(Store(X, Const(INT.hi))), model)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize("value", [INT.lo + 1, 1, INT.hi])
def test_a_value_beside_an_sfence_is_read_as_it_was_stored(value: int, model: ModelName) -> None:
    program = writer_and_reader(Store(X, Const(value)), Fence("sfence"), Store(Y, Const(1)))
    check_outcomes(with_domain(program, Domain(INT.lo + 1, INT.hi)), model)


def test_pso_refuses_a_full_range_beside_an_sfence() -> None:
    program = writer_and_reader(Store(X, Const(1)), Fence("sfence"), Store(Y, Const(1)))
    for model in ("sc", "tso"):
        check_outcomes(program, model)
    with pytest.raises(InputError, match="`x` takes every 32-bit value"):
        outcomes_of(program, SPECS["pso"])


def with_domain(program: Program, domain: Domain) -> Program:
    return replace(program, variables=tuple(replace(variable, domain=domain) for variable in program.variables))
