"""Random expressions over registers of 64 bits, whose values lie at the edges of every width."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from memfence.program.builder import ProcessBuilder
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
from memfence.program.ir import WIDEST, Assign, Domain, Program, SharedVar

UNARY: tuple[UnaryOp, ...] = ("-", "!", "~")
BINARY: tuple[BinaryOp, ...] = (
    "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||",
)  # fmt: skip
REGISTERS = 3
_POWERS = (7, 8, 15, 31, 32, 33, 61, 62, 63)
EDGES = sorted({sign * 2**n + d for n in _POWERS for sign in (1, -1) for d in (-1, 0, 1)} | set(range(-3, 4)))
VALUES = [value for value in EDGES if WIDEST.holds(value)]
SHIFTS = (0, 1, 31, 32, 33, 62, 63, 64, 65, 126, 127, 128, -1)
WHOLE = Domain(WIDEST.lo, WIDEST.hi, "wrap")


def random_value(random: Random) -> int:
    return random.choice(VALUES) if random.random() < 0.7 else random.getrandbits(64) - 2**63


def random_expression(random: Random, depth: int) -> Expr:
    """Constants may have 128 bits; counts of shifts are near those that are allowed."""
    kind = random.random()
    if depth == 0 or kind < 0.15:
        if random.random() < 0.7:
            return Register(random.randrange(REGISTERS))
        wide = random.choice([2**64, 2**96 - 1, -(2**100), 2**127 - 1, -(2**127)])
        return Const(wide if random.random() < 0.1 else random_value(random))
    parts = [random_expression(random, depth - 1) for _ in range(3)]
    if kind < 0.25:
        return Unary(random.choice(UNARY), parts[0])
    if kind < 0.35:
        return Conditional(*parts)
    op = random.choice(BINARY)
    if op in ("<<", ">>") and random.random() < 0.8:
        return Binary(op, parts[0], Const(random.choice(SHIFTS)))
    return Binary(op, parts[0], parts[1])


def value_of(expr: Expr, values: list[int]) -> int | None:
    """What the reference computes; None for an error."""
    try:
        return evaluate(expr, _leaf(values))
    except EvaluationError:
        return None


def error_of(expr: Expr, values: list[int]) -> str | None:
    """Why the reference computes nothing; None where it computes something."""
    try:
        evaluate(expr, _leaf(values))
    except EvaluationError as error:
        return str(error)
    return None


def _leaf(values: list[int]) -> Callable[[object, int], int]:
    def leaf(node: object, _: int) -> int:
        assert isinstance(node, Register)
        return values[node.index]

    return leaf


def computing(expressions: list[Expr], values: list[int], domain: Domain = WHOLE) -> Program:
    """A program that computes one of the expressions; the n-th one leads to location n + 1, with its value in `s`."""
    builder = ProcessBuilder("P", "P")
    for number, value in enumerate(values):
        builder.register(f"r{number}", WHOLE, (value,))
    result = builder.register("s", domain)
    first = builder.location()
    for expr in expressions:
        builder.emit(first, builder.location(), Assign(result, expr))
    return Program("computing", (SharedVar("x", WHOLE),), (builder.build(first),))
