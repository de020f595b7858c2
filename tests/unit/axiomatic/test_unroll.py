"""Unrolling, construct by construct."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.axiomatic.code import Branch, Check, Choose, Code, Cut, Join, Read, Wait, Write
from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, negate, variable_address
from memfence.program.ir import Assign, Assume, Domain, Load, Lock, Op, Program, Rmw, SharedVar, Store
from memfence.program.orders import MemoryOrder

BYTE = Domain(0, 255)
X, Y = variable_address(0), variable_address(1)


def program(*edges: tuple[int, int, tuple[Op, ...]], locked: bool = False, registers: int = 2) -> Program:
    builder = ProcessBuilder("p", "p")
    for n in range(registers):
        builder.register(f"r{n}", BYTE)
    for _ in range(1 + max(max(source, target) for source, target, _ in edges)):
        builder.location()
    for source, target, ops in edges:
        builder.emit(source, target, *ops, locked=locked)
    return Program("test", (SharedVar("x", BYTE), SharedVar("y", BYTE)), (builder.build(0),))


def of_kind(code: Code, kind: type) -> list:  # type: ignore[type-arg]
    return [item for item in code.threads[0].items if isinstance(item, kind)]


IS_ZERO = Binary("==", Register(0), Const(0))


def test_ways_that_exclude_each_other_are_a_branch_and_join() -> None:
    code = unroll(
        program(
            (0, 1, (Load(0, X),)),
            (1, 2, (Assume(IS_ZERO), Assign(1, Const(1)))),
            (1, 2, (Assume(negate(IS_ZERO)), Assign(1, Const(2)))),
            (2, 3, (Store(Y, Register(1)),)),
        ),
        1,
    )
    assert (len(of_kind(code, Branch)), len(of_kind(code, Choose)), len(of_kind(code, Wait))) == (1, 0, 0)
    assert len(of_kind(code, Join)) == 1
    assert of_kind(code, Write)[0].guard == Const(1)


def test_ways_that_are_both_open_are_a_choice() -> None:
    code = unroll(program((0, 1, (Store(X, Const(1)),)), (0, 1, (Store(Y, Const(1)),))), 1)
    assert [item.values for item in of_kind(code, Choose)] == [(0, 1)]


def test_a_loop_is_gone_round_so_often_and_then_cut() -> None:
    counting = program(
        (0, 1, (Load(0, X), Store(X, Const(1)))), (1, 0, (Assume(IS_ZERO),)), (1, 2, (Assume(negate(IS_ZERO)),))
    )
    for times in range(4):
        code = unroll(counting, times)
        assert (len(of_kind(code, Read)), len(of_kind(code, Cut))) == (times + 1, 1)


def test_a_loop_that_only_waits_is_one_read_and_no_cut() -> None:
    spin = program((0, 1, (Load(0, X),)), (1, 0, (Assume(IS_ZERO),)), (1, 2, (Assume(negate(IS_ZERO)),)))
    code = unroll(spin, 1)
    assert (len(of_kind(code, Read)), len(of_kind(code, Cut)), len(of_kind(code, Wait))) == (1, 0, 1)


def test_a_loop_that_counts_its_rounds_is_no_await() -> None:
    more = Assign(1, Binary("%", Binary("+", Register(1), Const(1)), Const(9)))
    spin = program(
        (0, 1, (Load(0, X), more)),
        (1, 0, (Assume(IS_ZERO),)),
        (1, 2, (Assume(negate(IS_ZERO)), Store(Y, Register(1)))),
    )
    assert len(of_kind(unroll(spin, 2), Cut)) == 1


def test_a_value_that_depends_on_itself_alone_keeps_its_dependency() -> None:
    nothing = Binary("^", Register(0), Register(0))
    code = unroll(program((0, 1, (Load(0, X),)), (1, 2, (Store(Y, Binary("+", nothing, Const(1))),))), 1)
    assert of_kind(code, Write)[0].value != Const(1)


def test_a_compare_exchange_writes_where_it_finds_what_it_expects() -> None:
    code = unroll(program((0, 1, (Rmw(0, X, "compare_exchange", Const(1), Const(0)),))), 1)
    read, write = of_kind(code, Read)[0], of_kind(code, Write)[0]
    assert code.threads[0].items[write.reads_by] == read
    assert write.guard != Const(1)
    assert [item.of_pair for item in of_kind(code, Branch)] == [True]


def test_a_compare_exchange_that_fails_reads_with_the_order_for_that() -> None:
    weaker = Rmw(0, X, "compare_exchange", Const(1), Const(0), MemoryOrder.ACQUIRE, MemoryOrder.RELAXED)
    reads = of_kind(unroll(program((0, 1, (weaker,))), 1), Read)
    assert [(read.order, read.attempted) for read in reads] == [
        (MemoryOrder.ACQUIRE, None),
        (MemoryOrder.RELAXED, MemoryOrder.ACQUIRE),
    ]


def test_a_value_that_may_not_fit_is_checked() -> None:
    code = unroll(program((0, 1, (Load(0, X),)), (1, 2, (Store(Y, Binary("+", Register(0), Const(1))),))), 1)
    assert [item.error for item in of_kind(code, Check)] == ["a value outside 0..255"]


def test_what_has_no_events_is_refused_by_name() -> None:
    with pytest.raises(NotUnrolled) as refused:
        unroll(program((0, 1, (Lock(),))), 1)
    assert refused.value.why is Unfit.BUS_LOCK
    with pytest.raises(NotUnrolled) as refused:
        unroll(replace(program((0, 1, ())), any_number=("p",)), 1)
    assert refused.value.why is Unfit.ANY_NUMBER


def test_taking_a_lock_acquires_and_giving_it_back_releases() -> None:
    taken = program((0, 1, (Load(0, X), Assume(IS_ZERO), Store(X, Const(2)))), locked=True)
    given = program((0, 1, (Load(0, X), Store(X, Const(0)))), locked=True)
    orders = [[op.order for op in synchronised(p).processes[0].transitions[0].ops if isinstance(op, Load | Store)]
              for p in (taken, given)]  # fmt: skip
    assert orders == [[MemoryOrder.ACQUIRE, MemoryOrder.RELAXED], [MemoryOrder.RELAXED, MemoryOrder.RELEASE]]


def test_an_atomic_step_on_two_variables_is_refused_without_locked_steps() -> None:
    with pytest.raises(NotUnrolled) as refused:
        synchronised(program((0, 1, (Load(0, X), Store(Y, Register(0)))), locked=True))
    assert refused.value.why is Unfit.LOCKED_STEP
