"""Bits compute what `expressions` computes, on random expressions and values."""

from __future__ import annotations

from random import Random

from memfence.engines.axiomatic.clauses import Clauses
from memfence.engines.axiomatic.sat import Assignment, Sat
from memfence.engines.axiomatic.terms import Leaf, Terms
from memfence.engines.axiomatic.vectors import Vector, constant, free_vector, width_of
from memfence.program.expressions import (
    Binary,
    BinaryOp,
    Conditional,
    Const,
    EvaluationError,
    Expr,
    Register,
    Unary,
    UnaryOp,
    evaluate,
)
from memfence.program.facts.interval_arithmetic import Interval
from memfence.tasks.limits import Limits

UNARY: tuple[UnaryOp, ...] = ("-", "!", "~")
BINARY: tuple[BinaryOp, ...] = (
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||",
)  # fmt: skip


def random_expression(random: Random, depth: int) -> Expr:
    kind = random.random()
    if depth == 0 or kind < 0.15:
        constants = Const(random.choice([0, 1, -1, 2, 3, -5, 8, 7, 16]))
        return Register(random.randrange(3)) if random.random() < 0.7 else constants
    parts = [random_expression(random, depth - 1) for _ in range(3)]
    if kind < 0.25:
        return Unary(random.choice(UNARY), parts[0])
    if kind < 0.35:
        return Conditional(*parts)
    return Binary(random.choice(BINARY), parts[0], parts[1])


def value_by_bits(sat: Sat, registers: list[Vector], values: list[int], result: Vector) -> int:
    bits = [
        bit if value >> n & 1 else -bit
        for vector, value in zip(registers, values, strict=True)
        for n, bit in enumerate(vector.bits)
    ]
    found = sat.solve(bits)
    assert isinstance(found, Assignment)
    return found.value(result.bits)


def test_expressions_have_the_same_values_as_bits() -> None:
    random, compared = Random(1), 0
    for _ in range(250):
        intervals = [Interval(lo := random.randint(-9, 5), lo + random.randint(0, 20)) for _ in range(3)]
        clauses = Clauses()
        registers = [free_vector(clauses, interval) for interval in intervals]

        def leaf(node: Leaf, registers: list[Vector] = registers) -> Vector:
            assert isinstance(node, Register)
            return registers[node.index]

        expr = random_expression(random, 3)
        result = Terms(clauses, leaf).value(expr)
        sat = Sat(clauses, Limits())
        for _ in range(4):
            values = [random.randint(*interval) for interval in intervals]
            try:
                expected = evaluate(expr, lambda node, _, values=values: values[node.index])  # type: ignore[misc]
            except EvaluationError:
                continue
            assert value_by_bits(sat, registers, values, result) == expected, (expr, values)
            compared += 1
        sat.close()
    assert compared > 700


def test_a_vector_is_no_wider_than_its_values() -> None:
    widths = [width_of(Interval(*pair)) for pair in ((0, 0), (0, 1), (-1, 0), (0, 7), (-8, 7), (-9, 0))]
    assert widths == [1, 2, 1, 4, 4, 5]
    assert constant(-5).bits == (1, 1, -1, 1)


def test_equal_gates_are_one_gate() -> None:
    clauses = Clauses()
    a, b, c = (clauses.fresh() for _ in range(3))
    assert clauses.both(clauses.both(a, b), c) == clauses.all_of((c, b, a))
    assert clauses.both(clauses.both(a, b), -a) == -1
    assert clauses.differ(a, -b) == -clauses.differ(b, a)
