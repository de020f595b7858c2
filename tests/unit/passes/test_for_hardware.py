"""Orders and read-modify-write ops become what a model's hardware has, and nothing else changes."""

from __future__ import annotations

import pytest

from memfence.models.spec import PSO, SC, SPECS, TSO, ModelSpec
from memfence.models.state import State
from memfence.passes.intervals import bound_values
from memfence.passes.orders import as_written, for_hardware
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, Const, Register, variable_address
from memfence.program.facts.dead_locations import locations_in_reach
from memfence.program.facts.may_fail import may_fail
from memfence.program.ir import (
    UNDECLARED,
    Assign,
    Assume,
    Domain,
    Fence,
    Load,
    Lock,
    Op,
    Program,
    Rmw,
    RmwKind,
    SharedVar,
    Store,
    Sync,
    Unlock,
)
from memfence.program.orders import MemoryOrder
from memfence.program.text.steps import print_ops
from memfence.program.validate import validate

X = variable_address(0)
R, S, OLD = 0, 1, 2
BYTE = Domain(0, 255, "wrap")
RELEASE, SEQ_CST, ACQUIRE = MemoryOrder.RELEASE, MemoryOrder.SEQ_CST, MemoryOrder.ACQUIRE
EVERY_MODEL = pytest.mark.parametrize("model", SPECS.values(), ids=lambda spec: spec.name)


def program(*ops: Op, registers: Domain = BYTE, domain: Domain = BYTE, sync: Sync | None = None) -> Program:
    """One process with registers r and s and the step `ops`, beside variables x and y."""
    builder = ProcessBuilder("P", "P")
    builder.register("r", registers)
    builder.register("s", registers)
    builder.location()
    builder.location()
    builder.emit(0, 1, *ops, sync=sync)
    return Program("p", (SharedVar("x", domain), SharedVar("y", domain)), (builder.build(0),))


def rewritten(subject: Program, model: ModelSpec) -> tuple[tuple[Op, ...], bool]:
    (step,) = for_hardware(subject, model).processes[0].transitions
    return step.ops, step.locked


@EVERY_MODEL
def test_a_program_without_orders_is_the_same_object(model: ModelSpec) -> None:
    subject = program(Load(R, X), Store(X, Const(1)), Fence("sfence"), Fence("mfence"))
    assert for_hardware(subject, model) is subject


def test_stores_become_what_the_model_reads_them_as() -> None:
    plain = Store(X, Const(1))
    release, sequential = Store(X, Const(1), order=RELEASE), Store(X, Const(1), order=SEQ_CST)
    assert rewritten(program(release), SC) == rewritten(program(sequential), SC) == ((plain,), False)
    assert rewritten(program(release), TSO) == ((plain,), False)
    assert rewritten(program(sequential), TSO) == rewritten(program(sequential), PSO) == ((plain,), True)
    assert rewritten(program(release), PSO) == ((Fence("sfence"), plain), False)


def test_a_release_store_in_a_locked_step_needs_no_fence() -> None:
    ops, locked = rewritten(program(Store(X, Const(1), order=RELEASE), Rmw(R, X, "add", Const(1))), PSO)
    assert locked and Fence("sfence") not in ops


def test_fences_become_what_the_model_reads_them_as() -> None:
    sequential, release, acquire = (Fence("thread_fence", order) for order in (SEQ_CST, RELEASE, ACQUIRE))
    assert rewritten(program(sequential), TSO) == ((Fence("mfence"),), False)
    assert rewritten(program(release), TSO) == rewritten(program(acquire), PSO) == ((), False)
    assert rewritten(program(release), PSO) == ((Fence("sfence"),), False)


@EVERY_MODEL
def test_a_register_that_can_hold_the_old_value_does(model: ModelSpec) -> None:
    increment = Store(X, Binary("+", Register(R), Const(1)))
    assert rewritten(program(Rmw(R, X, "add", Const(1))), model) == ((Load(R, X), increment), True)
    assert len(for_hardware(program(Rmw(R, X, "add", Const(1))), model).processes[0].registers) == 2


@pytest.mark.parametrize(
    ("op", "handed_over"),
    [
        (Rmw(None, X, "exchange", Const(1)), ()),
        (Rmw(R, X, "exchange", Register(R)), (Assign(R, Register(OLD)),)),
        (Rmw(R, Address(0, 2, Register(R)), "exchange", Const(1)), (Assign(R, Register(OLD)),)),
    ],
    ids=str,
)
def test_otherwise_the_process_gets_a_register_for_it(op: Rmw, handed_over: tuple[Op, ...]) -> None:
    ops, _ = rewritten(program(op), TSO)
    assert ops == (Load(OLD, op.address), Store(op.address, op.operand), *handed_over)
    old = for_hardware(program(op), TSO).processes[0].registers[OLD]
    assert old.transient and (old.domain.lo, old.domain.hi) == (0, 255)


def test_a_register_that_is_too_narrow_gets_the_old_value_last() -> None:
    ops, _ = rewritten(program(Rmw(R, X, "exchange", Const(1)), registers=Domain(0, 3)), TSO)
    assert ops == (Load(OLD, X), Store(X, Const(1)), Assign(R, Register(OLD)))


def test_a_compare_exchange_stores_under_its_condition() -> None:
    ops, _ = rewritten(program(Rmw(R, X, "compare_exchange", Const(1), Const(0))), TSO)
    assert ops == (Load(R, X), Store(X, Const(1), when=Binary("==", Register(R), Const(0))))


def test_a_step_that_waits_for_success_stores_without_condition() -> None:
    success = Assume(Binary("==", Register(R), Const(0)))
    ops, _ = rewritten(program(Rmw(R, X, "compare_exchange", Const(1), Const(0)), success, Assign(S, Const(1))), TSO)
    assert ops == (Load(R, X), success, Store(X, Const(1)), Assign(S, Const(1)))


def test_waiting_for_another_value_is_another_matter() -> None:
    other = Assume(Binary("==", Register(R), Const(2)))
    ops, _ = rewritten(program(Rmw(R, X, "compare_exchange", Const(1), Const(0)), other), TSO)
    assert ops[-1] == other and isinstance(ops[1], Store) and ops[1].when is not None


def test_a_state_goes_back_without_the_additional_register() -> None:
    subject = program(Rmw(None, X, "add", Const(1)))
    state = State((0,), ((1, 2, 0),), (0, 0), ((),))
    assert as_written(subject, state).registers == ((1, 2),)


# What the passes before it make of these ops


KINDS: list[tuple[RmwKind, int, int]] = [("add", 0, 3), ("exchange", 0, 2), ("max", 0, 2), ("sub", -1, 0)]


@pytest.mark.parametrize(("kind", "lo", "hi"), KINDS)
def test_the_values_that_it_writes_are_bounded(kind: RmwKind, lo: int, hi: int) -> None:
    operand = Const(1 if kind == "sub" else 3 if kind == "add" else 2)
    bounded = bound_values(program(Rmw(R, X, kind, operand), domain=UNDECLARED, registers=UNDECLARED))
    assert (bounded.variables[0].domain.lo, bounded.variables[0].domain.hi) == (lo, hi)
    validate(bounded)


def test_a_compare_exchange_that_never_succeeds_adds_no_value_but_its_constant() -> None:
    op = Rmw(R, X, "compare_exchange", Binary("+", Register(S), Const(9)), Const(5))
    bounded = bound_values(program(op, domain=UNDECLARED, registers=UNDECLARED))
    assert bounded.variables[0].domain.hi == 0


def test_what_was_known_of_its_register_is_forgotten() -> None:
    builder = ProcessBuilder("P", "P")
    builder.register("r", BYTE)
    for _ in range(4):
        builder.location()
    is_one = Assume(Binary("==", Register(R), Const(1)))
    builder.emit(0, 1, Assume(Binary("==", Register(R), Const(0))))
    builder.emit(1, 2, Rmw(R, X, "exchange", Const(0)))
    builder.emit(2, 3, is_one)
    subject = Program("p", (SharedVar("x", BYTE),), (builder.build(0),))
    assert locations_in_reach(subject) == (frozenset({0, 1, 2, 3}),)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (Rmw(R, X, "add", Const(1)), True),
        (Rmw(R, X, "and", Const(1)), False),
        (Rmw(R, X, "exchange", Const(3)), False),
        (Rmw(None, X, "compare_exchange", Const(4), Const(0)), True),
        (Rmw(None, Address(0, 2, Register(R)), "exchange", Const(1)), True),
    ],
    ids=str,
)
def test_whether_it_may_be_a_run_time_error(op: Rmw, expected: bool) -> None:
    subject = program(op, domain=Domain(0, 3), registers=Domain(0, 3))
    assert may_fail(subject, subject.processes[0], op) == expected


@pytest.mark.parametrize(
    "ops",
    [
        (Load(R, X, order=RELEASE),),
        (Store(X, Const(1), order=ACQUIRE),),
        (Store(X, Const(1), direct=True, order=RELEASE),),
        (Fence("mfence", SEQ_CST),),
        (Fence("thread_fence"),),
        (Rmw(R, X, "exchange", Const(1), Const(0)),),
        (Rmw(R, X, "compare_exchange", Const(1)),),
        (Rmw(R, X, "compare_exchange", Const(1), Const(0), failure_order=RELEASE),),
        (Lock(), Rmw(R, X, "add", Const(1))),
        (Store(X, Const(1), order=SEQ_CST), Unlock()),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(ops: tuple[Op, ...]) -> None:
    with pytest.raises(AssertionError):
        validate(program(*ops))


def test_an_order_in_a_rendezvous_is_refused() -> None:
    with pytest.raises(AssertionError):
        validate(program(Store(X, Const(1), order=RELEASE), sync=Sync("c", True)))


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (Load(R, X, order=ACQUIRE), "r := x [acquire]"),
        (Store(X, Const(1), order=RELEASE), "x := 1 [release]"),
        (Store(X, Const(1), when=Register(R)), "if r: x := 1"),
        (Fence("thread_fence", SEQ_CST), "thread_fence [seq_cst]"),
        (Rmw(R, X, "exchange", Const(1)), "r := xchg(x, 1)"),
        (Rmw(None, X, "add", Register(S)), "fetch_add(x, s)"),
        (Rmw(R, X, "compare_exchange", Const(1), Const(0)), "r := cas(x, 0, 1)"),
        (Rmw(R, X, "or", Const(1), order=MemoryOrder.RELAXED), "r := fetch_or(x, 1) [relaxed]"),
    ],
    ids=str,
)
def test_ops_are_printed_as_what_they_are(op: Op, text: str) -> None:
    subject = program(op)
    assert print_ops(subject, 0, subject.processes[0].transitions[0]) == text
