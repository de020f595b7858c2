"""What `validate` tells the user, and what it refuses as a bug of ours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memfence.diagnostics import InputError
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import FALSE, Address, Binary, Const, Expr, Register, Shared, variable_address
from memfence.program.ir import (
    UNDECLARED,
    Assign,
    Assume,
    Domain,
    Invariant,
    Load,
    Op,
    Program,
    RegisterVar,
    SharedVar,
    Store,
    Sync,
)
from memfence.program.validate import validate
from memfence.source import SourceText

TEXT = SourceText("bits.txt", "bit x; bit y;\nx := 5;\n")
STATEMENT = TEXT.span(14, 21)
BIT = Domain(0, 1)


def program(*ops: Op, domain: Domain = BIT, init: int = 0) -> Program:
    """One process that does `ops` in one step, with the register 0 and the variables x, y in `domain`."""
    builder = ProcessBuilder("p", "p")
    builder.register("r", domain)
    builder.location()
    builder.location()
    builder.emit(0, 1, *ops, span=STATEMENT)
    variables = (SharedVar("x", domain, (init,), TEXT.span(0, 5)), SharedVar("y", domain))
    return Program("bits", variables, (builder.build(0),), source=TEXT)


def codes(program: Program) -> list[str]:
    try:
        validate(program)
    except InputError as error:
        return [d.code.id for d in error.diagnostics]
    return []


def test_a_program_without_process_is_an_error() -> None:
    assert codes(replace(program(), processes=())) == ["MF109"]


SUM = Binary("+", Const(2), Const(3))


@pytest.mark.parametrize("op", [Store(variable_address(0), SUM), Assign(0, SUM)], ids=["store", "assign"])
def test_a_constant_outside_the_range_is_an_error_where_it_is_written(op: Op) -> None:
    with pytest.raises(InputError) as error:
        validate(program(op))
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code.id == "MF107"
    assert diagnostic.at.span == STATEMENT
    assert "5" in diagnostic.message and "0..1" in diagnostic.message


def test_a_constant_that_wraps_or_is_never_stored_is_no_error() -> None:
    store = Store(variable_address(0), Const(5))
    assert codes(program(store, domain=Domain(0, 1, "wrap"))) == []
    assert codes(program(Assume(FALSE), store)) == []


def test_an_initial_value_outside_the_range_is_an_error() -> None:
    assert codes(program(init=2)) == ["MF107"]


@pytest.mark.parametrize("index", [-1, 2])
def test_a_constant_index_out_of_bounds_is_an_error(index: int) -> None:
    array = Address(0, 2, Const(index))
    assert codes(program(Load(0, array))) == ["MF108"]
    assert codes(program(Store(array, Const(1)))) == ["MF108"]
    assert codes(replace(program(), properties=(Invariant(Shared(array), "x[i]"),))) == ["MF108"]


def test_every_mistake_is_reported_once() -> None:
    store = Store(variable_address(0), Const(5))
    assert codes(program(store, store, Load(0, Address(0, 2, Const(9))), init=2)) == ["MF107", "MF107", "MF108"]


def _with_transition(ops: tuple[Op, ...] = (), target: int = 1, sync: Sync | None = None) -> Program:
    whole = program()
    process = whole.processes[0]
    step = replace(process.transitions[0], ops=ops, target=target, sync=sync)
    return replace(whole, processes=(replace(process, transitions=(step,)),))


def _reading(expr: Expr) -> Program:
    return _with_transition((Assign(0, expr),))


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(_with_transition(target=7), id="target"),
        pytest.param(_with_transition((Assign(3, Const(0)),)), id="register written"),
        pytest.param(_reading(Register(3)), id="register read"),
        pytest.param(_with_transition((Load(0, Address(1, 2, Const(0))),)), id="address past the memory"),
        pytest.param(_reading(Shared(variable_address(0))), id="memory read without load"),
        pytest.param(program(domain=UNDECLARED), id="undeclared range"),
        pytest.param(program(domain=Domain(1, 0)), id="empty range"),
        pytest.param(_with_transition(sync=Sync("c", True, guard_ops=1)), id="guard ops"),
        pytest.param(replace(program(), properties=(Invariant(Register(0), "r"),)), id="register of no process"),
    ],
)
def test_an_inconsistent_program_is_a_fault_of_ours(broken: Program) -> None:
    with pytest.raises(AssertionError):
        validate(broken)


def test_the_two_sides_of_a_rendezvous_must_agree_on_the_number_of_values() -> None:
    sender = _with_transition(sync=Sync("c", True, values=(Const(0),))).processes[0]
    receiver = _with_transition(sync=Sync("c", False, registers=(0,))).processes[0]
    deaf = _with_transition(sync=Sync("c", False)).processes[0]
    validate(replace(program(), processes=(sender, receiver)))
    with pytest.raises(AssertionError):
        validate(replace(program(), processes=(sender, deaf)))


def test_a_transient_register_must_be_able_to_be_zero() -> None:
    whole = program()
    scratch = RegisterVar("%0", Domain(1, 2), transient=True)
    process = replace(whole.processes[0], registers=(*whole.processes[0].registers, scratch))
    with pytest.raises(AssertionError):
        validate(replace(whole, processes=(process,)))
