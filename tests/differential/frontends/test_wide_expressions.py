"""Arithmetic on integers of 64 bits, exact up to 128: every evaluator computes what `expressions` computes."""

from __future__ import annotations

from random import Random

import pytest

from differential.certificates.test_certificate_steps import check_steps as check_steps_in_cpp
from differential.certificates.test_proved_checker import check_steps as check_proved_steps
from memfence.axiomatic.unrolling.definedness import conditions
from memfence.engines.axiomatic.clauses import Clauses
from memfence.engines.axiomatic.sat import Assignment, Sat
from memfence.engines.axiomatic.terms import Leaf, Terms
from memfence.engines.axiomatic.vectors import Vector, free_vector, width_of
from memfence.engines.native.explicit import explore
from memfence.models.spec import SC
from memfence.program.expressions import Expr, Register
from memfence.program.facts.interval_arithmetic import EVERYTHING, MACHINE, Interval
from memfence.program.facts.interval_arithmetic import value_of as interval_of
from memfence.program.ir import WIDEST, Domain
from memfence.tasks.limits import Limits
from memfence.tasks.task import Safety
from support.generators.wide_expressions import (
    REGISTERS,
    WHOLE,
    computing,
    error_of,
    random_expression,
    random_value,
    value_of,
)
from support.proved import needs_the_proved_checker

DOMAINS = [
    WHOLE,
    Domain(-(2**31), 2**31 - 1, "wrap"),
    Domain(0, 2**63 - 1, "wrap"),
    Domain(-5, 2**62, "wrap"),
    Domain(WIDEST.lo, WIDEST.hi),
    Domain(-1, 2**40),
]
BY_DOMAIN = pytest.mark.parametrize("domain", DOMAINS, ids=str)


def drawn(random: Random, count: int) -> tuple[list[Expr], list[int]]:
    values = [random_value(random) for _ in range(REGISTERS)]
    return [random_expression(random, random.randint(1, 4)) for _ in range(count)], values


@BY_DOMAIN
def test_the_core_computes_what_the_reference_computes(domain: Domain) -> None:
    random, compared, failed = Random(str(domain)), 0, 0
    for _ in range(60):
        expressions, values = drawn(random, 25)
        explored = explore(computing(expressions, values, domain), SC, Safety(failures=False), reductions=frozenset())
        found = {state.locations[0]: state.registers[0][-1] for state in explored.states()}
        for number, expr in enumerate(expressions, start=1):
            expected = value_of(expr, values)
            if expected is not None and (domain.overflow == "wrap" or domain.holds(expected)):
                assert found.get(number) == domain.fit(expected), (expr, values)
                compared += 1
            else:
                assert number not in found, (expr, values)
                failed += 1
    assert compared > 500 and failed > 100


@BY_DOMAIN
def test_the_fast_checker_computes_what_the_reference_computes(domain: Domain) -> None:
    random = Random(str(domain))
    for _ in range(20):
        assert check_steps_in_cpp(computing(*drawn(random, 25), domain), SC) == 25


@needs_the_proved_checker
@BY_DOMAIN
def test_the_proved_checker_computes_what_the_reference_computes(domain: Domain) -> None:
    random = Random(str(domain))
    for _ in range(3):
        assert check_proved_steps(computing(*drawn(random, 60), domain), SC) == 60


def test_bits_compute_what_the_reference_computes() -> None:
    random, compared = Random(1), 0
    while compared < 150:
        clauses = Clauses()
        registers = [free_vector(clauses, Interval(WIDEST.lo, WIDEST.hi)) for _ in range(REGISTERS)]

        def leaf(node: Leaf, registers: list[Vector] = registers) -> Vector:
            assert isinstance(node, Register)
            return registers[node.index]

        expr = random_expression(random, 2)
        result = Terms(clauses, leaf).value(expr)
        assert len(result.bits) <= width_of(MACHINE) + 1
        sat = Sat(clauses, Limits())
        for _ in range(4):
            values = [random_value(random) for _ in range(REGISTERS)]
            expected = value_of(expr, values)
            if expected is None:
                continue
            bits = [
                bit if value >> n & 1 else -bit
                for vector, value in zip(registers, values, strict=True)
                for n, bit in enumerate(vector.bits)
            ]
            found = sat.solve(bits)
            assert isinstance(found, Assignment)
            assert found.value(result.bits) == expected, (expr, values)
            compared += 1
        sat.close()


def test_an_expression_has_a_value_where_its_conditions_hold() -> None:
    """The first condition that does not hold names the error."""
    random, failed = Random(2), 0
    whole = (Interval(WIDEST.lo, WIDEST.hi),) * REGISTERS

    def ranges(expr: Expr) -> Interval:
        return interval_of(expr, whole, lambda _: EVERYTHING) or MACHINE

    for _ in range(2_000):
        expr = random_expression(random, random.randint(1, 4))
        needed = list(conditions(expr, ranges))
        for _ in range(3):
            values = [random_value(random) for _ in range(REGISTERS)]
            missing = (error for condition, error in needed if value_of(condition, values) == 0)
            assert next(missing, None) == error_of(expr, values), (expr, values)
            failed += error_of(expr, values) is not None
    assert failed > 500


def test_intervals_hold_every_value() -> None:
    random = Random(3)
    for _ in range(3_000):
        expr = random_expression(random, random.randint(1, 4))
        values = [random_value(random) for _ in range(REGISTERS)]
        around = tuple(Interval(value - random.randint(0, 3), value + random.randint(0, 3)) for value in values)
        expected = value_of(expr, values)
        if expected is not None:
            found = interval_of(expr, around, lambda _: EVERYTHING)
            assert found is not None and found.lo <= expected <= found.hi, (expr, values)
