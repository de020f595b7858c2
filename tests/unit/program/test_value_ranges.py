"""The ranges that `bound_values` finds, on programs small enough to know the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memfence.passes.intervals import bound_values
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, BinaryOp, Const, Expr, Register, RegisterOf, negate
from memfence.program.expressions import variable_address as at
from memfence.program.facts.interval_arithmetic import Interval
from memfence.program.facts.interval_transfer import fit
from memfence.program.ir import UNDECLARED, Assign, Assume, Domain, Load, Op, Process, Program, SharedVar, Store, Sync
from memfence.program.validate import validate

R = Register(0)


def binary(op: BinaryOp, left: Expr, right: int | Expr) -> Expr:
    return Binary(op, left, Const(right) if isinstance(right, int) else right)


def process(*edges: tuple[int, int, Sequence[Op]], domain: Domain = UNDECLARED, init: int = 0) -> Process:
    """A process with registers r, s and a scratch register, starting at location 0."""
    builder = ProcessBuilder("p", "p")
    builder.register("r", domain, (init,))
    builder.register("s", domain)
    builder.scratch(0, domain)
    for _ in range(1 + max(max(a, b) for a, b, _ in edges)):
        builder.location()
    for source, target, ops in edges:
        builder.emit(source, target, *ops)
    return builder.build(0)


def bounded(*processes: Process, variables: int = 2, bits: int | None = None, domain: Domain = UNDECLARED) -> Program:
    memory = tuple(SharedVar(f"x{n}", domain) for n in range(variables))
    result = bound_values(Program("ranges", memory, processes), bits)
    validate(result)
    return result


def register(program: Program, number: int = 0) -> Domain:
    return program.processes[0].registers[number].domain


def test_a_loop_with_a_guard_gets_exactly_the_range_it_needs() -> None:
    below = binary("<", R, 1000)
    result = bounded(
        process((0, 1, [Assume(below)]), (1, 0, [Assign(0, binary("+", R, 1))]), (0, 2, [Assume(negate(below))]))
    )
    assert register(result) == Domain(0, 1000)
    assert result.notes == ()


def test_guards_between_registers_bound_both() -> None:
    up = Assign(0, binary("+", R, 1))
    result = bounded(process((0, 1, [Assign(1, Const(7))]), (1, 1, [Assume(binary("<", R, Register(1))), up])))
    assert register(result) == Domain(0, 7)


def test_large_constants_are_kept_exactly() -> None:
    result = bounded(process((0, 1, [Store(at(0), Const(1_000_000))])))
    assert result.variables[0].domain == Domain(0, 1_000_000)
    assert result.variables[1].domain == Domain(0, 0)


def test_a_width_that_the_user_chose_holds_for_bounded_values_too() -> None:
    assert bounded(process((0, 1, [Store(at(0), Const(15))])), bits=4).notes == ()
    result = bounded(process((0, 1, [Store(at(0), Const(16))])), bits=4)
    assert result.variables[0].domain == Domain(0, 15, "wrap")
    assert result.notes == ("`x0` of 4 bits, wrapping (--int-bits)",)


def test_a_counter_without_end_wraps_and_a_note_says_so() -> None:
    result = bounded(process((0, 0, [Assign(0, binary("+", R, 1))])))
    assert register(result) == Domain(0, 255, "wrap")
    assert result.notes == ("`p.r` of 8 bits, wrapping (--int-bits)",)


def test_counting_without_a_loop_is_bounded_by_the_number_of_stores() -> None:
    count = process((0, 1, [Load(0, at(0))]), (1, 2, [Store(at(0), binary("+", R, 1))]))
    result = bounded(count, count, count)
    assert result.variables[0].domain == Domain(0, 3)
    assert register(result) == Domain(0, 3)
    assert result.notes == ()


def test_a_counter_that_goes_below_zero_wraps_as_a_signed_number() -> None:
    result = bounded(process((0, 0, [Assign(0, binary("-", R, 1))])), bits=4)
    assert register(result) == Domain(-8, 7, "wrap")


def test_what_only_copies_a_wrapping_value_is_bounded_by_it() -> None:
    take = [Load(0, at(0)), Store(at(0), binary("+", R, 1))]
    result = bounded(process((0, 1, take), (1, 0, [])), bits=4)
    assert result.variables[0].domain == Domain(0, 15, "wrap")
    assert register(result) == Domain(0, 15)
    assert result.notes == ("`x0` of 4 bits, wrapping (--int-bits)",)


def test_an_initial_value_of_a_wrapping_register_wraps_too() -> None:
    result = bounded(process((0, 0, [Assign(0, binary("+", R, 1))]), init=20), bits=4)
    assert result.processes[0].registers[0].init == (4,)


def test_scratch_registers_hold_intermediate_values_exactly() -> None:
    scratch = 2
    ops = [Load(scratch, at(0)), Store(at(0), binary("+", Register(scratch), 1))]
    result = bounded(process((0, 0, ops)), bits=4)
    assert register(result, scratch) == Domain(0, 15)


def test_a_value_of_another_process_counts_wherever_that_process_stands() -> None:
    looks = process((0, 0, [Assign(0, RegisterOf(1, 0))]))
    works = process((0, 1, [Assign(0, Const(5))]), (1, 2, [Assign(0, Const(2))]))
    assert register(bounded(looks, works)) == Domain(0, 5)


def test_values_pass_through_a_rendezvous() -> None:
    builder = ProcessBuilder("p", "p")
    builder.register("r")
    builder.location()
    builder.location()
    builder.emit(0, 1, sync=Sync("c", False, registers=(0,)))
    sender = ProcessBuilder("q", "q")
    sender.location()
    sender.location()
    sender.emit(0, 1, sync=Sync("c", True, values=(Const(9),)))
    assert register(bounded(builder.build(0), sender.build(0))) == Domain(0, 9)


def test_a_computed_address_reaches_only_the_elements_it_can_mean() -> None:
    far = Store(Address(0, 3, binary("+", R, 1)), Const(4))
    result = bounded(process((0, 1, [Assign(0, Const(1))]), (1, 2, [far])), variables=3)
    assert [v.domain.hi for v in result.variables] == [0, 0, 4]


def test_a_declared_range_shrinks_to_what_is_used() -> None:
    result = bounded(process((0, 1, [Store(at(0), Const(3))])), domain=Domain(0, 255))
    assert [v.domain for v in result.variables] == [Domain(0, 3), Domain(0, 0)]


@pytest.mark.parametrize("overflow", ["error", "wrap"])
def test_a_declared_range_that_can_be_left_stays_as_it_is(overflow: str) -> None:
    declared = Domain(0, 3, "error" if overflow == "error" else "wrap")
    result = bounded(process((0, 0, [Assign(0, binary("+", R, 1))]), domain=declared))
    assert register(result) == declared
    assert result.notes == ()


def test_constants_in_code_that_never_runs_stay_inside_the_range() -> None:
    result = bounded(process((0, 1, [Assume(binary("==", R, 1))]), (1, 2, [Store(at(0), Const(9))])))
    assert result.variables[0].domain == Domain(0, 9)


def test_after_an_error_everything_may_be_zero() -> None:
    only = process((0, 1, [Assign(0, binary("+", R, 1))]), init=5)
    program = Program("error", (SharedVar("x", UNDECLARED, (7,)),), (only,), error_locations=(1,))
    result = bound_values(program, 8)
    assert result.variables[0].domain == Domain(0, 7)
    assert register(result) == Domain(0, 6)
    assert register(bound_values(replace(program, error_locations=None), 8)) == Domain(5, 6)


@pytest.mark.parametrize(
    ("domain", "raw", "kept"),
    [
        (Domain(0, 3, "wrap"), Interval(4, 5), Interval(0, 1)),
        (Domain(0, 3, "wrap"), Interval(3, 4), Interval(0, 3)),
        (Domain(-2, 1, "wrap"), Interval(2, 2), Interval(-2, -2)),
        (Domain(0, 3), Interval(2, 9), Interval(2, 3)),
        (Domain(0, 3), Interval(4, 9), None),
        (UNDECLARED, Interval(4, 2**40), Interval(4, 2**40)),
    ],
)
def test_fitting_an_interval_fits_all_its_values(domain: Domain, raw: Interval, kept: Interval | None) -> None:
    assert fit(domain, raw) == kept
