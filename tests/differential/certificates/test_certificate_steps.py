"""The rules of the fast checker against the reference models: the same steps in every state, with the same outcome."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings

from memfence import _core
from memfence.certificates.checker.native import BUFFERS, step_of
from memfence.certificates.format.columns import Columns
from memfence.models.spec import ModelSpec
from memfence.models.state import Failure
from memfence.models.steps import successors
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.pipeline import load_text
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import (
    Binary,
    BinaryOp,
    Conditional,
    Const,
    Expr,
    Register,
    Unary,
    UnaryOp,
    variable_address,
)
from memfence.program.ir import Assign, Domain, Fence, Load, Op, Program, SharedVar, Store
from memfence.program.text.canonical import canonical_text, expression_text
from memfence.source import SourceText
from support.certificates import row_of
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec
from twins.reference_search import explore

MEMORIES = (
    spec("sc"),
    *(spec("tso", k) for k in (1, 3)),
    spec("tso", 1, per_variable=True),
    *(spec("pso", k) for k in (1, 2)),
)
MOST_STATES = 1_500
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SMALL = Shape(statements=(1, 3), features=EVERYTHING | {"assertions", "errors", "regions"})
FAILED = 2
R, S = Register(0), Register(1)
EDGES: tuple[Expr, ...] = (
    *(Binary(op, R, S) for op in get_args(BinaryOp)),
    *(Unary(op, R) for op in get_args(UnaryOp)),
    *(Binary(op, Binary("*", R, Binary("*", R, S)), S) for op in ("+", "-", "*", "<<")),
    Unary("-", Binary("<<", Binary("<<", R, Const(31)), Const(1))),
    Conditional(S, Binary("/", R, S), Unary("~", R)),
)
"""Division by zero, shifts too far, results beyond 32 and 64 bits."""


def native(program: Program, memory: ModelSpec, capacity: int) -> _core.InvariantChecker:
    buffers = BUFFERS[memory.buffering]
    text = canonical_text(program)
    return _core.InvariantChecker(
        text, buffers, memory.bound or 0, memory.per_variable, capacity, "", False, [], -1, []
    )


def capacity_of(program: Program, memory: ModelSpec) -> int:
    """Room for all that may be pending."""
    return (memory.bound or 0) * (len(program.variables) if memory.per_variable else 1)


def check_steps(program: Program, memory: ModelSpec) -> int:
    """Every step of every reachable state, or of many of them; returns how many there are."""
    found = explore(program, memory.definition, most_states=MOST_STATES)
    capacity = capacity_of(program, memory)
    columns = Columns(program, memory.buffering, capacity)
    checker = native(program, memory, capacity)
    count = 0
    for state in found.states:
        row = row_of(columns, state)
        assert columns.state(row) == state
        expected = {
            step: b"" if isinstance(after, Failure) else row_of(columns, after)
            for step, after in successors(program, memory.definition, state)
        }
        taken = {step_of(step): (outcome, after) for step, outcome, after in checker.steps(row)}
        assert {step: after for step, (_, after) in taken.items()} == expected
        assert all((outcome == FAILED) == (after == b"") for outcome, after in taken.values())
        count += len(taken)
    return count


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda m: f"{m.name}-{m.bound}-{m.per_variable}")
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(program=programs(SMALL) | programs(SMALL).map(fuse_lock_regions))
def test_the_fast_checker_takes_the_steps_of_the_reference(memory: ModelSpec, program: Program) -> None:
    check_steps(program, memory)


MEETINGS = """
byte x, y[2] = {1, 0};
channel c;
process P { byte r; state a, b, d; init a;
  trans a -> b { guard x < 2; sync c!x + 1; effect x = x + 1, r = y[x]; }, b -> d { effect y[r % 2] = x / (2 - r); },
        d -> a { guard Q.f; }; }
process Q { byte s = 3; state e, f; commit f; init e;
  trans e -> f { guard y[0] == 1 or s > 1; sync c?s; effect y[1] = s; }, f -> e { effect s = P->r; }; }
process R { byte t; state g, h; init g; trans g -> h { sync c?t; }, h -> g { guard t == x; effect t = 0; }; }
system async;
"""


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda m: f"{m.name}-{m.bound}-{m.per_variable}")
def test_meetings_and_committed_locations_are_the_same_as_well(memory: ModelSpec) -> None:
    program = load_text(SourceText("test.dve", MEETINGS))
    assert check_steps(program, memory) >= 8


WIDTHS = (
    Domain(0, 3),
    *(Domain(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 32, 63, 64)),
    Domain(1, 2**63 - 1),
)


def at_the_edges_of(domain: Domain) -> Program:
    """Stores of the least and the greatest value, with an sfence between them, and a process that looks at them."""
    x, y = variable_address(0), variable_address(1)
    least, greatest = Const(domain.lo), Const(domain.hi)
    stores: list[Op] = [Store(x, least), Fence("sfence"), Store(y, greatest), Store(x, greatest)]
    processes = []
    for name, ops in (("P", [*stores, Load(0, x)]), ("Q", [Load(0, y), Store(y, least), Load(0, x)])):
        builder = ProcessBuilder(name, name)
        builder.register("r", domain, (domain.hi,))
        for here, op in enumerate(ops):
            builder.location()
            builder.emit(here, here + 1, op)
        builder.location()
        processes.append(builder.build(0))
    variables = tuple(SharedVar(name, domain, (domain.hi,)) for name in "xy")
    return Program(f"{domain.lo}..{domain.hi}", variables, tuple(processes))


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda m: f"{m.name}-{m.bound}-{m.per_variable}")
@pytest.mark.parametrize("domain", WIDTHS, ids=str)
def test_values_of_every_width_stand_beside_separators(domain: Domain, memory: ModelSpec) -> None:
    assert check_steps(at_the_edges_of(domain), memory) > 20


SHORT = """#include "memfence.h"
byte x, y, a[2];
active proctype P() { byte r; x = 1; x = 2; r = x; y = r; mfence(); x = 3; sfence(); y = x; r = y }
active proctype Q() { byte r; a[y] = 1; atomic { r = x; x = r + 1 }; r = a[1]; assert(r < 2) }
"""


@pytest.mark.parametrize("memory", MEMORIES, ids=lambda m: f"{m.name}-{m.bound}-{m.per_variable}")
def test_own_stores_fences_and_locked_steps_are_the_same_as_well(memory: ModelSpec) -> None:
    program = load_text(SourceText(str(EXAMPLES / "short.pml"), SHORT))
    assert check_steps(program, memory) > 100


def at_the_edges(expr: Expr) -> Program:
    """A program that computes the expression from thirty pairs of numbers."""
    builder = ProcessBuilder("P", "P")
    wide = Domain(-(2**31), 2**31 - 1, "wrap")
    builder.register("r", wide, (-(2**31), -1, 0, 3, 40, 2**31 - 1))
    builder.register("s", wide, (-7, 0, 1, 31, 2**31 - 1))
    first, last = builder.location(), builder.location()
    builder.emit(first, last, Assign(0, expr))
    return Program("edges", (SharedVar("x", wide),), (builder.build(first),))


@pytest.mark.parametrize("expr", EDGES, ids=expression_text)
def test_arithmetic_at_the_edges_is_the_same_as_well(expr: Expr) -> None:
    assert check_steps(at_the_edges(expr), spec("sc")) == 30
