"""What memory orders and read-modify-write ops mean in the reference semantics, one op at a time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.models.accesses import Access, accesses
from memfence.models.readings import StoreReading, is_locked
from memfence.models.replay import replay
from memfence.models.spec import PSO, SC, SPECS, TSO, ModelSpec
from memfence.models.state import SEPARATOR, Commit, DropSeparator, Failure, ProcessStep, State, Step
from memfence.models.steps import starts, take
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, Const, Expr, Register, variable_address
from memfence.program.ir import Assign, Domain, Fence, FenceKind, Load, Op, Program, Rmw, RmwKind, SharedVar, Store
from memfence.program.orders import MemoryOrder

X, Y = variable_address(0), variable_address(1)
R, S = 0, 1
BYTE = Domain(0, 255, "wrap")
ORDERS = tuple(MemoryOrder)
RELEASING = (MemoryOrder.RELEASE, MemoryOrder.ACQ_REL)
BUFFERED = pytest.mark.parametrize("model", [TSO, PSO, TSO.bounded(2), PSO.bounded(2)], ids=str)


def program(*steps: tuple[Op, ...], domain: Domain = BYTE, x: int = 0, registers: Domain | None = None) -> Program:
    """One process with registers r and s that takes `steps` one by one; variables x and y."""
    builder = ProcessBuilder("P", "P")
    for name in ("r", "s"):
        builder.register(name, registers or domain)
    builder.location()
    for number, ops in enumerate(steps):
        builder.location()
        builder.emit(number, number + 1, *ops)
    return Program("orders", (SharedVar("x", domain, (x,)), SharedVar("y", domain)), (builder.build(0),))


def after(subject: Program, model: ModelSpec, *steps: Step) -> State | None:
    """The state after `steps`; None where they are not possible."""
    replayed = replay(subject, model.definition, 0, steps)
    return replayed.end if replayed.is_possible else None


def start_of(subject: Program, model: ModelSpec = SC) -> State:
    return starts(subject, model.definition)[0]


# Readings


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.value)
def test_what_stores_of_each_order_are(order: MemoryOrder) -> None:
    sequential = order is MemoryOrder.SEQ_CST
    assert SC.reading_of_store(order) is StoreReading.PLAIN
    assert TSO.reading_of_store(order) is (StoreReading.LOCKED if sequential else StoreReading.PLAIN)
    separated = StoreReading.SEPARATED if order in RELEASING else StoreReading.PLAIN
    assert PSO.reading_of_store(order) is (StoreReading.LOCKED if sequential else separated)


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.value)
def test_what_fences_of_each_order_are(order: MemoryOrder) -> None:
    full: FenceKind | None = "mfence" if order is MemoryOrder.SEQ_CST else None
    assert SC.reading_of_fence(order) == TSO.reading_of_fence(order) == full
    assert PSO.reading_of_fence(order) == (full or ("sfence" if order in RELEASING else None))


@pytest.mark.parametrize("spec", SPECS.values(), ids=lambda spec: spec.name)
def test_a_bound_does_not_change_a_reading(spec: ModelSpec) -> None:
    for order in ORDERS:
        assert spec.bounded(2).reading_of_store(order) is spec.reading_of_store(order)
        assert spec.bounded(2).reading_of_fence(order) == spec.reading_of_fence(order)


# Stores and loads


@BUFFERED
@pytest.mark.parametrize("order", [MemoryOrder.PLAIN, MemoryOrder.RELAXED])
def test_plain_and_relaxed_stores_wait_in_the_buffer(model: ModelSpec, order: MemoryOrder) -> None:
    subject = program((Store(X, Const(1), order=order),))
    stored = after(subject, model, ProcessStep(0, 0))
    assert stored is not None and stored.memory == (0, 0)
    assert stored.buffers[0][0] == ((0, 1),)


@BUFFERED
def test_a_sequential_store_waits_for_the_buffers_and_reaches_memory_at_once(model: ModelSpec) -> None:
    subject = program((Store(Y, Const(1)),), (Store(X, Const(1), order=MemoryOrder.SEQ_CST),))
    assert after(subject, model, ProcessStep(0, 0), ProcessStep(0, 1)) is None
    commit = Commit(0, 0 if not model.reorders_stores else 1)
    done = after(subject, model, ProcessStep(0, 0), commit, ProcessStep(0, 1))
    assert done is not None and done.memory == (1, 1) and done.is_plain


def test_the_reason_names_the_buffers_that_a_sequential_store_waits_for() -> None:
    subject = program((Store(Y, Const(1)),), (Store(X, Const(1), order=MemoryOrder.SEQ_CST),))
    stop = replay(subject, TSO.definition, 0, [ProcessStep(0, 0), ProcessStep(0, 1)]).stop
    assert stop is not None and "pending stores" in stop.reason


def test_a_release_store_comes_behind_a_separator_under_pso_only() -> None:
    subject = program((Store(Y, Const(1)),), (Store(X, Const(1), order=MemoryOrder.RELEASE),))
    under_pso = after(subject, PSO, ProcessStep(0, 0), ProcessStep(0, 1))
    assert under_pso is not None
    assert under_pso.buffers[0] == ((SEPARATOR, (0, 1)), ((1, 1), SEPARATOR))
    assert after(subject, PSO, ProcessStep(0, 0), ProcessStep(0, 1), Commit(0, 0)) is None  # x must not overtake y
    assert (
        after(subject, PSO, ProcessStep(0, 0), ProcessStep(0, 1), Commit(0, 1), DropSeparator(0), Commit(0, 0))
        is not None
    )
    under_tso = after(subject, TSO, ProcessStep(0, 0), ProcessStep(0, 1))
    assert under_tso is not None and under_tso.buffers[0] == (((1, 1), (0, 1)),)


def test_what_follows_a_release_store_may_overtake_it_under_pso() -> None:
    subject = program((Store(X, Const(1), order=MemoryOrder.RELEASE),), (Store(Y, Const(1)),))
    assert after(subject, PSO, ProcessStep(0, 0), ProcessStep(0, 1), DropSeparator(0), Commit(0, 1)) is not None


def test_a_separator_needs_its_place_in_bounded_buffers() -> None:
    subject = program((Store(X, Const(1), order=MemoryOrder.RELEASE),))
    assert after(subject, PSO.bounded(1), ProcessStep(0, 0)) is None
    assert after(subject, PSO.bounded(2), ProcessStep(0, 0)) is not None


def test_a_release_store_in_a_locked_step_separates_nothing() -> None:
    release = Store(X, Const(1), order=MemoryOrder.RELEASE)
    subject = program((release, Store(Y, Const(1), order=MemoryOrder.SEQ_CST)))
    done = after(subject, PSO, ProcessStep(0, 0))
    assert done is not None and done.memory == (1, 1) and done.is_plain


@BUFFERED
@pytest.mark.parametrize("order", [MemoryOrder.RELAXED, MemoryOrder.ACQUIRE, MemoryOrder.SEQ_CST])
def test_loads_of_every_order_see_the_own_buffer_and_wait_for_nothing(model: ModelSpec, order: MemoryOrder) -> None:
    subject = program((Store(X, Const(7)),), (Load(R, X, order=order),))
    done = after(subject, model, ProcessStep(0, 0), ProcessStep(0, 1))
    assert done is not None and done.registers[0][R] == 7 and done.memory[0] == 0


@BUFFERED
def test_one_locked_op_makes_the_whole_step_locked(model: ModelSpec) -> None:
    subject = program((Store(Y, Const(1)), Store(X, Const(1), order=MemoryOrder.SEQ_CST), Load(R, Y)))
    (step,) = subject.processes[0].transitions
    assert is_locked(model.definition, step) and not is_locked(SC, step)
    done = after(subject, model, ProcessStep(0, 0))
    assert done is not None and done.memory == (1, 1) and done.is_plain and done.registers[0][R] == 1


# Fences


@BUFFERED
def test_a_sequential_thread_fence_is_an_mfence(model: ModelSpec) -> None:
    subject = program((Store(X, Const(1)),), (Fence("thread_fence", MemoryOrder.SEQ_CST),))
    assert after(subject, model, ProcessStep(0, 0), ProcessStep(0, 1)) is None
    assert after(subject, model, ProcessStep(0, 0), Commit(0), ProcessStep(0, 1)) is not None


@pytest.mark.parametrize("order", RELEASING)
def test_a_releasing_thread_fence_is_an_sfence_under_pso_and_nothing_under_tso(order: MemoryOrder) -> None:
    subject = program((Store(X, Const(1)),), (Fence("thread_fence", order),))
    under_pso, under_tso = (
        after(subject, PSO, ProcessStep(0, 0), ProcessStep(0, 1)),
        after(subject, TSO, ProcessStep(0, 0), ProcessStep(0, 1)),
    )
    assert under_pso is not None and under_pso.buffers[0] == (((0, 1), SEPARATOR),)
    assert under_tso is not None and under_tso.buffers[0] == (((0, 1),),)


@BUFFERED
def test_an_acquiring_thread_fence_is_nothing(model: ModelSpec) -> None:
    subject = program((Store(X, Const(1)),), (Fence("thread_fence", MemoryOrder.ACQUIRE),))
    before, behind = (
        after(subject, model, ProcessStep(0, 0)),
        after(subject, model, ProcessStep(0, 0), ProcessStep(0, 1)),
    )
    assert before is not None and behind is not None and behind.buffers == before.buffers


# Read-modify-write


@pytest.mark.parametrize(
    ("kind", "old", "operand", "new"),
    [
        ("exchange", 5, 3, 3),
        ("add", 5, 3, 8),
        ("add", 255, 1, 0),
        ("sub", 5, 3, 2),
        ("sub", 0, 1, 255),
        ("and", 6, 3, 2),
        ("or", 6, 3, 7),
        ("xor", 6, 3, 5),
        ("nand", 6, 3, 253),
        ("max", 5, 3, 5),
        ("max", 3, 5, 5),
        ("min", 5, 3, 3),
        ("min", 3, 5, 3),
    ],
)
@pytest.mark.parametrize("model", SPECS.values(), ids=lambda spec: spec.name)
def test_each_kind_reads_the_old_value_and_writes_the_new_one(
    model: ModelSpec, kind: RmwKind, old: int, operand: int, new: int
) -> None:
    subject = program((Rmw(R, X, kind, Const(operand)),), x=old)
    done = after(subject, model, ProcessStep(0, 0))
    assert done is not None and done.memory == (new, 0) and done.registers[0] == (old, 0) and done.is_plain


def test_signed_values_are_compared_as_such() -> None:
    subject = program((Rmw(R, X, "max", Const(-3)),), domain=Domain(-128, 127, "wrap"), x=-5)
    assert take(subject, SC.definition, start_of(subject), ProcessStep(0, 0)).memory[0] == -3  # type: ignore[union-attr]


@pytest.mark.parametrize(("old", "memory"), [(4, (9, 0)), (5, (5, 0))])
def test_a_compare_exchange_writes_only_where_it_finds_what_it_expects(old: int, memory: tuple[int, int]) -> None:
    subject = program((Rmw(R, X, "compare_exchange", Const(9), Const(4)),), x=old)
    done = after(subject, TSO, ProcessStep(0, 0))
    assert done is not None and done.memory == memory and done.registers[0] == (old, 0)


def test_success_is_for_the_reader_of_the_old_value_to_tell() -> None:
    success = Assign(S, Binary("==", Register(R), Const(4)))
    for old in (4, 5):
        subject = program((Rmw(R, X, "compare_exchange", Const(9), Const(4)), success), x=old)
        done = after(subject, TSO, ProcessStep(0, 0))
        assert done is not None and done.registers[0] == (old, int(old == 4))


def test_the_old_value_can_be_thrown_away() -> None:
    done = after(program((Rmw(None, X, "add", Const(1)),), x=4), TSO, ProcessStep(0, 0))
    assert done is not None and done.memory == (5, 0) and done.registers[0] == (0, 0)


def test_operands_are_what_the_register_held_before() -> None:
    subject = program((Assign(R, Const(7)),), (Rmw(R, X, "exchange", Register(R)),), x=4)
    done = after(subject, TSO, ProcessStep(0, 0), ProcessStep(0, 1))
    assert done is not None and done.memory == (7, 0) and done.registers[0][R] == 4


@BUFFERED
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.value)
def test_a_read_modify_write_of_any_order_waits_for_the_buffers(model: ModelSpec, order: MemoryOrder) -> None:
    for expected in (None, Const(1)):  # the second fails: it waits, too
        kind: RmwKind = "exchange" if expected is None else "compare_exchange"
        subject = program((Store(Y, Const(1)),), (Rmw(R, X, kind, Const(2), expected, order),))
        assert after(subject, model, ProcessStep(0, 0), ProcessStep(0, 1)) is None
        commit = Commit(0, 1 if model.reorders_stores else 0)
        assert after(subject, model, ProcessStep(0, 0), commit, ProcessStep(0, 1)) is not None


def test_nobody_else_modifies_memory_while_the_bus_is_locked() -> None:
    subject = program((Rmw(R, X, "add", Const(1)),))
    held = replace(start_of(subject, TSO), lock_owner=1)
    assert take(subject, TSO.definition, held, ProcessStep(0, 0)) is None
    assert take(subject, TSO.definition, replace(held, lock_owner=0), ProcessStep(0, 0)) is not None


NARROW = Domain(0, 3)


@pytest.mark.parametrize(
    ("op", "fails"),
    [
        (Rmw(None, X, "add", Const(1)), True),
        (Rmw(None, X, "compare_exchange", Const(9), Const(3)), True),
        (Rmw(None, X, "compare_exchange", Const(9), Const(2)), False),
        (Rmw(None, X, "exchange", Binary("/", Const(1), Register(R))), True),
        (Rmw(None, X, "compare_exchange", Binary("/", Const(1), Register(R)), Const(2)), False),
        (Rmw(None, Address(0, 2, Const(2)), "exchange", Const(1)), True),
        (Rmw(R, X, "exchange", Const(1)), False),
    ],
    ids=str,
)
def test_values_that_do_not_fit_are_errors_where_they_are_written(op: Rmw, fails: bool) -> None:
    subject = program((op,), domain=NARROW, x=3)
    done = take(subject, TSO.definition, start_of(subject, TSO), ProcessStep(0, 0))
    assert isinstance(done, Failure) == fails


def test_an_old_value_that_its_register_cannot_hold_is_an_error() -> None:
    subject = program((Rmw(R, X, "exchange", Const(1)),), x=5, registers=NARROW)
    assert isinstance(take(subject, TSO.definition, start_of(subject, TSO), ProcessStep(0, 0)), Failure)


# Accesses, as the explanations of runs see them


def made(subject: Program, model: ModelSpec = TSO) -> tuple[Access, ...]:
    return accesses(subject, model.definition, start_of(subject, model), ProcessStep(0, 0))


def test_a_read_modify_write_is_a_load_and_a_store_in_memory() -> None:
    assert made(program((Rmw(R, X, "add", Const(2)),), x=4)) == (Access("load", 0, 0, 4), Access("store", 0, 0, 6))


def test_a_failing_compare_exchange_is_a_load() -> None:
    subject = program((Rmw(R, X, "compare_exchange", Const(9), Const(1)),), x=4)
    assert made(subject) == (Access("load", 0, 0, 4),)


def test_a_sequential_store_is_one_in_memory_a_release_store_is_pending() -> None:
    assert made(program((Store(X, Const(1), order=MemoryOrder.SEQ_CST),))) == (Access("store", 0, 0, 1),)
    assert made(program((Store(X, Const(1), order=MemoryOrder.RELEASE),)), PSO) == (Access("pending store", 0, 0, 1),)


def test_a_read_modify_write_that_fails_has_read() -> None:
    assert made(program((Rmw(None, X, "add", Const(1)),), domain=NARROW, x=3)) == (Access("load", 0, 0, 3),)


def test_a_store_under_a_condition_that_is_false_is_none() -> None:
    def stored(condition: Expr) -> tuple[Access, ...]:
        return made(program((Store(X, Const(1), when=condition),)))

    assert stored(Const(0)) == ()
    assert stored(Const(1)) == (Access("pending store", 0, 0, 1),)
    done = after(program((Store(X, Const(1), when=Const(0)),)), SC, ProcessStep(0, 0))
    assert done is not None and done.memory == (0, 0)
