"""The largest and smallest values that a variable can have travel through every buffer unchanged."""

from __future__ import annotations

import pytest

from memfence.models.spec import SPECS, ModelName
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Const, variable_address
from memfence.program.ir import Domain, Fence, Load, Op, Program, SharedVar, Store
from support.engines import outcomes_of
from twins.reference_search import outcomes

DOMAINS = [
    *(Domain(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 33, 63, 64)),
    Domain(0, 2**32 - 1),
    Domain(0, 2**63 - 1),
    Domain(-(2**63), -1),
    Domain(2**63 - 2, 2**63 - 1),
]
X, Y = variable_address(0), variable_address(1)


def writer_and_reader(domain: Domain, *writes: Op) -> Program:
    """One process does `writes` and reads x; the other reads x."""
    processes = []
    for name, ops in (("writer", (*writes, Load(0, X))), ("reader", (Load(0, X),))):
        builder = ProcessBuilder(name, name)
        builder.register("r", domain, (domain.hi,))
        for here, op in enumerate(ops):
            builder.location()
            builder.emit(here, here + 1, op)
        builder.location()
        processes.append(builder.build(0))
    variables = tuple(SharedVar(name, domain, (domain.hi,)) for name in "xy")
    return Program("extreme", variables, tuple(processes))


def values_of(domain: Domain) -> list[int]:
    inside = {domain.lo, domain.lo + 1, -1, 0, 1, -(2**31), 2**31, domain.hi - 1, domain.hi}
    return sorted(value for value in inside if domain.holds(value))


CASES = [pytest.param(d, v, id=f"{v} in {d.lo}..{d.hi}") for d in DOMAINS for v in values_of(d)]


def check_outcomes(program: Program, model: ModelName) -> None:
    assert outcomes_of(program, SPECS[model]) == outcomes(program, SPECS[model].definition)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize(("domain", "value"), CASES)
def test_a_value_is_read_as_it_was_stored(domain: Domain, value: int, model: ModelName) -> None:
    check_outcomes(writer_and_reader(domain, Store(X, Const(value))), model)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize(("domain", "value"), CASES)
def test_a_value_beside_an_sfence_is_read_as_it_was_stored(domain: Domain, value: int, model: ModelName) -> None:
    writes = (Store(X, Const(value)), Fence("sfence"), Store(Y, Const(value)))
    check_outcomes(writer_and_reader(domain, *writes), model)
