"""The Dual-TSO engine on programs with known answers, and what it declines to answer."""

from __future__ import annotations

import pytest

from memfence.engines.native.dual import explore_dual, unsupported
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import (
    At,
    Binary,
    BufferEmpty,
    Const,
    Register,
    RegisterOf,
    Shared,
    conjunction,
    variable_address,
)
from memfence.program.ir import Assert, Assume, Domain, Fence, Load, Lock, Process, Program, SharedVar, Store
from memfence.tasks.evidence import BadState, StepFails
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Safety
from support.samples import Sample, ends, message_passing, register_is, store_buffering

BIT = Domain(0, 1)
X, Y = variable_address(0), variable_address(1)


def bad_of(program: Program) -> Safety:
    return Safety(bad=program.properties[0].expr)


def is_one(register: int) -> Assume:
    return Assume(Binary("==", Register(register), Const(1)))


def test_store_buffering_is_found():
    result = explore_dual(store_buffering(), bad_of(store_buffering()))
    assert result.complete
    assert result.finding == BadState()


def test_fences_forbid_store_buffering():
    sample = Sample("sb", "x y")
    sample.process("P0", "x := 1", "mfence", "r := y").process("P1", "y := 1", "mfence", "r := x")
    program = sample.build()
    both = conjunction(register_is(0, 0, 0), register_is(1, 0, 0), ends(program, 0), ends(program, 1))
    result = explore_dual(program, Safety(bad=both))
    assert result.complete
    assert not result.found


def test_message_passing_keeps_its_order():
    result = explore_dual(message_passing(), bad_of(message_passing()))
    assert result.complete
    assert not result.found


def mixing_cycles(middle: bool) -> Program:
    """No run has y = 1 pending in front of x = 1, unless x = 1 may also be stored in the middle (errata: no mixing)."""
    p = ProcessBuilder("p", "p")
    first, second = p.location(), p.location()
    p.emit(first, first, Store(X, Const(1)))
    p.emit(first, second)
    p.emit(second, second, Store(Y, Const(1)))
    if middle:
        p.emit(second, second, Store(X, Const(1)))
    q = ProcessBuilder("q", "q")
    scratch = q.scratch(0, BIT)
    here = q.location()
    steps = (
        (Store(Y, Const(0)),), (Fence(),), (Load(scratch, Y), is_one(scratch)),
        (Store(X, Const(0)),), (Fence(),), (Load(scratch, X), is_one(scratch)),
    )  # fmt: skip
    for ops in steps:
        there = q.location()
        q.emit(here, there, *ops)
        here = there
    return Program("cycles", (SharedVar("x", BIT, (0,)), SharedVar("y", BIT, (1,))), (p.build(first), q.build(0)))


@pytest.mark.parametrize("middle", [False, True])
def test_cycles_of_different_locations_are_not_mixed(middle):
    result = explore_dual(mixing_cycles(middle), Safety(bad=At(1, frozenset({6}))))
    assert result.complete
    assert result.found == middle


def single(*ops, locked=False) -> Program:
    builder = ProcessBuilder("p", "p")
    builder.register("r", BIT)
    first, second = builder.location(), builder.location()
    builder.emit(first, second, *ops, locked=locked)
    variables = (SharedVar("x", BIT), SharedVar("y", BIT))
    return Program("single", variables, (builder.build(first), other()))


def other() -> Process:
    builder = ProcessBuilder("q", "q")
    first, second = builder.location(), builder.location()
    builder.emit(first, second, Store(X, Const(1)))
    return builder.build(first)


def test_a_failing_assertion_is_found():
    program = single(Load(0, X), Assert(Binary("==", Register(0), Const(0))))
    assert explore_dual(program, Safety()).finding == StepFails()
    assert not explore_dual(program, Safety(failures=False)).found


def test_an_assertion_that_cannot_fail_is_proved():
    result = explore_dual(single(Load(0, Y), Assert(Binary("==", Register(0), Const(0)))), Safety())
    assert result.complete
    assert not result.found


def test_a_value_outside_its_range_is_a_failure():
    assert explore_dual(single(Load(0, X), Store(Y, Binary("+", Register(0), Const(1)))), Safety()).found


def test_a_fence_behind_a_store_of_the_same_step_never_passes():
    program = single(Store(X, Const(1)), Fence())
    result = explore_dual(program, Safety(bad=At(0, frozenset({1}))))
    assert result.complete
    assert not result.found


@pytest.mark.parametrize(
    "question",
    [
        Safety(bad=Binary("==", Shared(X), Const(1))),
        Safety(bad=BufferEmpty(0)),
        Safety(deadlock=True),
    ],
)
def test_questions_about_memory_buffers_and_deadlock_are_declined(question):
    result = explore_dual(single(), question)
    assert not result.complete
    assert not result.found
    assert result.unsupported


@pytest.mark.parametrize(
    "program",
    [
        single(Lock()),
        single(Store(X, Const(1), direct=True)),
        single(Assume(RegisterOf(0, 0))),
        single(Assume(At(1, frozenset({1})))),
        single(Assume(BufferEmpty(0))),
    ],
)
def test_steps_that_look_beyond_their_own_process_are_declined(program):
    assert unsupported(program, Safety()) is not None


def test_a_direct_store_of_a_locked_step_is_a_locked_store():
    assert unsupported(single(Store(X, Const(1), direct=True), locked=True), Safety()) is None


def test_a_timeout_claims_nothing():
    builders = []
    for n in range(4):
        builder = ProcessBuilder(f"p{n}", "p")
        register = builder.register("r", Domain(0, 200))
        here, there = builder.location(), builder.location()
        builder.emit(here, there, Load(register, variable_address((n + 1) % 4)))
        builder.emit(
            there, here, Store(variable_address(n), Binary("%", Binary("+", Register(register), Const(1)), Const(200)))
        )
        builders.append(builder.build(here))
    program = Program("wide", tuple(SharedVar(f"x{n}", Domain(0, 200)) for n in range(4)), tuple(builders))
    bad = conjunction(*(Binary("==", RegisterOf(n, 0), Const(150)) for n in range(4)))
    result = explore_dual(program, Safety(bad=bad), limits=Limits(timeout_seconds=0.2))
    assert result.stop is Stop.TIMEOUT
    assert not result.complete
    assert not result.found
