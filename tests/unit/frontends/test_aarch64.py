"""AArch64 litmus tests: what an instruction becomes, and what a value is computed from."""

from __future__ import annotations

import pytest

from memfence.diagnostics import InputError, render
from memfence.pipeline import load_text
from memfence.program import ir
from memfence.program.expressions import Binary, Const, Register, registers_of
from memfence.program.orders import MemoryOrder
from memfence.source import SourceText


def loaded(column: str, initial: str = "0:X1=x; 0:X3=y; 0:X9=z;", condition: str = "exists (x=1)") -> ir.Program:
    rows = "\n".join(f" {cell.strip()} ;" for cell in column.strip().splitlines())
    return load_text(SourceText("test.litmus", f"AArch64 test\n{{ {initial} }}\n P0 ;\n{rows}\n{condition}\n"))


def ops(program: ir.Program) -> list[ir.Op]:
    return [op for transition in program.processes[0].transitions for op in transition.ops]


def only_op(line: str) -> ir.Op:
    (op,) = ops(loaded(line))
    return op


@pytest.mark.parametrize(
    ("line", "order", "exclusive"),
    [
        ("LDR W0,[X1]", MemoryOrder.RELAXED, False),
        ("LDR X0,[X1,#0]", MemoryOrder.RELAXED, False),
        ("ldapr w0,[x1]", MemoryOrder.ACQUIRE, False),
        ("LDAR W0,[X1]", MemoryOrder.SEQ_CST, False),
        ("LDXR W0,[X1]", MemoryOrder.RELAXED, True),
        ("LDAXR W0,[X1]", MemoryOrder.SEQ_CST, True),
    ],
)
def test_a_load_has_its_order(line: str, order: MemoryOrder, exclusive: bool) -> None:
    op = only_op(line)
    assert isinstance(op, ir.Load)
    assert (op.order, op.exclusive) == (order, exclusive)


@pytest.mark.parametrize(
    ("line", "order", "exclusive"),
    [
        ("STR W0,[X1]", MemoryOrder.RELAXED, False),
        ("STLR W0,[X1]", MemoryOrder.RELEASE, False),
        ("STXR W5,W0,[X1]", MemoryOrder.RELAXED, True),
        ("STLXR W5,W0,[X1]", MemoryOrder.RELEASE, True),
    ],
)
def test_a_store_has_its_order(line: str, order: MemoryOrder, exclusive: bool) -> None:
    op = only_op(line)
    assert isinstance(op, ir.Store)
    assert (op.order, op.exclusive, op.status is not None) == (order, exclusive, exclusive)


@pytest.mark.parametrize(
    ("line", "kind", "order"),
    [
        ("LDADD W0,W2,[X1]", "add", MemoryOrder.RELAXED),
        ("LDADDAL W0,W2,[X1]", "add", MemoryOrder.ACQ_REL),
        ("LDEORA W0,W2,[X1]", "xor", MemoryOrder.ACQUIRE),
        ("SWPL W0,W2,[X1]", "exchange", MemoryOrder.RELEASE),
        ("CASA W0,W2,[X1]", "compare_exchange", MemoryOrder.ACQUIRE),
        ("STADD W0,[X1]", "add", MemoryOrder.RELAXED),
    ],
)
def test_an_atomic_instruction_is_one_read_modify_write(line: str, kind: str, order: MemoryOrder) -> None:
    op = only_op(line)
    assert isinstance(op, ir.Rmw)
    assert (op.kind, op.order) == (kind, order)
    assert (op.register is None) == line.startswith("ST")


@pytest.mark.parametrize(
    ("line", "kind"),
    [("DMB SY", "dmb.sy"), ("DMB ISHLD", "dmb.ld"), ("DMB ST", "dmb.st"), ("ISB", "isb"), ("ISB SY", "isb")],
)
def test_a_barrier_keeps_its_kind(line: str, kind: str) -> None:
    assert only_op(line) == ir.Fence(kind)  # type: ignore[arg-type]


def test_an_exclusive_or_of_a_register_with_itself_still_depends_on_it() -> None:
    program = loaded("LDR W0,[X1]\nEOR W2,W0,W0\nLDR W4,[X3,W2,SXTW]")
    first, clear, second = ops(program)
    assert isinstance(first, ir.Load)
    assert isinstance(clear, ir.Assign)
    assert isinstance(second, ir.Load)
    assert clear.value == Binary("^", Register(first.register), Register(first.register))
    assert second.address.index == Register(clear.register)
    assert (second.address.base, second.address.size) == (program.variable_named("y"), 1)


def test_an_address_that_was_added_to_depends_on_what_was_added() -> None:
    program = loaded("LDR W0,[X1]\nEOR W2,W0,W0\nADD X4,X9,W2,SXTW\nSTXR W7,W5,[X4]")
    total, store = ops(program)[2:]
    assert isinstance(total, ir.Assign)
    assert isinstance(store, ir.Store)
    assert store.address.base == program.variable_named("z")
    assert registers_of(store.address.index) == {total.register}


def test_an_address_that_nobody_changes_has_a_constant_index() -> None:
    op = only_op("LDR W0,[X1]")
    assert isinstance(op, ir.Load)
    assert op.address.index == Const(0)


def test_a_branch_to_the_next_row_still_has_two_ways() -> None:
    program = loaded("LDR W0,[X1]\nCBNZ W0,LC00\nLC00:\nSTR W0,[X3]")
    branches = [t for t in program.processes[0].transitions if any(isinstance(op, ir.Assume) for op in t.ops)]
    assert len(branches) == 2
    assert len({t.target for t in branches}) == 1


def test_the_names_w_and_x_mean_one_register() -> None:
    program = loaded("LDR W0,[X1]\nMOV X2,X0", condition="exists (0:X2=1 /\\ 0:W0=1)")
    (stated,) = program.properties
    assert isinstance(stated, ir.Final)
    assert [name for name, _ in stated.observed] == ["0:X0", "0:X2"]


def test_the_zero_register_is_nothing_and_keeps_nothing() -> None:
    store, load = ops(loaded("STR WZR,[X1]\nLDR WZR,[X1]"))
    assert isinstance(store, ir.Store)
    assert isinstance(load, ir.Load)
    assert store.value == Const(0)
    assert loaded("LDR WZR,[X1]").processes[0].registers[load.register].transient


def test_an_address_that_depends_on_the_way_is_refused() -> None:
    with pytest.raises(InputError) as raised:
        loaded("LDR W0,[X1]\nCBZ W0,L\nMOV X3,X9\nL:\nLDR W2,[X3]")
    assert "`[X3]` is an address that is computed while the test runs" in render(raised.value.diagnostics)


def test_a_label_that_is_not_there_is_reported_once() -> None:
    with pytest.raises(InputError) as raised:
        loaded("CBZ W0,L")
    assert len(raised.value.diagnostics) == 1
