"""The reader of LLVM IR: instructions, constants, types, debug information."""

from __future__ import annotations

import pytest

from memfence.frontends.c.llvm.instructions import (
    Branch,
    Call,
    CompareExchange,
    Compute,
    FenceOf,
    LoadFrom,
    Offset,
    Other,
    Phi,
    StoreTo,
    Switch,
    Update,
)
from memfence.frontends.c.llvm.metadata import DebugInfo, Place
from memfence.frontends.c.llvm.reader import read_module
from memfence.frontends.c.llvm.tokens import ReadingError, Tokens
from memfence.frontends.c.llvm.types import POINTER, ArrayType, IntType, StructType, field_offset, size_of
from memfence.frontends.c.llvm.values import AddressOf, Aggregate, Global, InlineAsm, Local, Number, Text, Zero, signed
from memfence.program.orders import MemoryOrder

MODULE = r"""
%struct.node = type { i32, ptr, i8 }
%struct.pair = type <{ i8, %struct.node }>
@x = global i32 7, align 4, !dbg !0
@a = internal global [2 x i16] [i16 1, i16 -1], align 2
@s = private unnamed_addr constant [3 x i8] c"a\22\00", align 1
@n = global %struct.node { i32 1, ptr getelementptr inbounds ([2 x i16], ptr @a, i64 0, i64 1), i8 0 }
@z = thread_local global %struct.pair zeroinitializer
@e = external global i32

define i32 @f(ptr noundef %p, i32 %v) #0 !dbg !5 {
entry:
  %local = alloca i32, align 4
    #dbg_declare(ptr %local, !9, !DIExpression(), !7)
  %0 = load atomic i32, ptr %p acquire, align 4, !dbg !7
  store atomic i32 %0, ptr @x seq_cst, align 4
  store volatile i32 1, ptr %local, align 4
  %sum = add nsw i32 %0, %v
  %q = getelementptr inbounds %struct.node, ptr %p, i32 0, i32 1
  %pair = cmpxchg weak ptr @x, i32 %0, i32 5 acq_rel monotonic, align 4
  %old = atomicrmw add ptr @x, i32 1 seq_cst, align 4
  fence syncscope("singlethread") seq_cst
  fence release
  call void asm sideeffect "mfence", "~{memory}"() #1
  %r = call i32 (ptr, ...) @printf(ptr noundef @s, i32 %sum)
  %float = fadd double 1.0, 2.0
  switch i32 %sum, label %default [
    i32 1, label %one
    i32 -2, label %default
  ]

one:                                              ; preds = %entry
  br label %default

default:                                          ; preds = %one, %entry
  %phi = phi i32 [ 3, %one ], [ %sum, %entry ]
  %c = icmp eq i32 %phi, 3
  br i1 %c, label %one, label %end

end:
  ret i32 %phi
}

declare i32 @printf(ptr noundef, ...)

!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression())
!1 = distinct !DIGlobalVariable(name: "x", scope: !2, file: !3, line: 4, type: !4)
!3 = !DIFile(filename: "a.c", directory: "/src")
!4 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!5 = distinct !DISubprogram(name: "f", scope: !3, file: !3, line: 8)
!7 = !DILocation(line: 9, column: 5, scope: !5)
!9 = !DILocalVariable(name: "count", scope: !5, file: !3, line: 8, type: !4)
"""


@pytest.fixture(scope="module")
def body() -> tuple[object, ...]:
    function = read_module(MODULE, "m.ll").functions["f"]
    return tuple(i for block in function.blocks for i in block.instructions)


def the(body: tuple[object, ...], kind: type) -> object:
    return next(i for i in body if isinstance(i, kind))


def test_accesses_keep_their_orders(body: tuple[object, ...]) -> None:
    assert the(body, LoadFrom) == LoadFrom("0", IntType(32), Local("p"), MemoryOrder.ACQUIRE, False, 7)
    stores = [i for i in body if isinstance(i, StoreTo)]
    assert [(s.order, s.volatile) for s in stores] == [(MemoryOrder.SEQ_CST, False), (MemoryOrder.PLAIN, True)]
    exchange = the(body, CompareExchange)
    assert isinstance(exchange, CompareExchange)
    assert (exchange.order, exchange.failure_order, exchange.weak) == (MemoryOrder.ACQ_REL, MemoryOrder.RELAXED, True)
    update = the(body, Update)
    assert isinstance(update, Update) and (update.op, update.order) == ("add", MemoryOrder.SEQ_CST)
    fences = [(i.order, i.single_thread) for i in body if isinstance(i, FenceOf)]
    assert fences == [(MemoryOrder.SEQ_CST, True), (MemoryOrder.RELEASE, False)]


def test_control_flow_is_read(body: tuple[object, ...]) -> None:
    assert the(body, Switch) == Switch(IntType(32), Local("sum"), "default", ((1, "one"), (-2, "default")), 0)
    assert the(body, Phi) == Phi("phi", IntType(32), ((Number(3), "one"), (Local("sum"), "entry")), 0)
    branches = [i.targets for i in body if isinstance(i, Branch)]
    assert branches == [("default",), ("one", "end")]


def test_calls_arithmetic_and_assembly_are_read(body: tuple[object, ...]) -> None:
    compute = the(body, Compute)
    assert isinstance(compute, Compute) and compute.no_signed_wrap
    assert isinstance(the(body, Offset), Offset)
    calls = [i for i in body if isinstance(i, Call)]
    assert calls[0].callee == InlineAsm("mfence", "~{memory}")
    assert calls[1].callee == Global("printf") and len(calls[1].arguments) == 2
    assert the(body, Other) == Other("float", "fadd", 0)


def test_globals_have_types_and_initial_values() -> None:
    module = read_module(MODULE, "m.ll")
    assert module.variables["x"].initial == Number(7)
    assert module.variables["s"].initial == Text(b'a"\0')
    assert module.variables["z"].thread_local and module.variables["z"].initial == Zero()
    assert module.variables["e"].initial is None
    node = module.variables["n"].initial
    assert isinstance(node, Aggregate) and isinstance(node.elements[1][1], AddressOf)


def test_sizes_are_those_of_x86_64() -> None:
    node = StructType((IntType(32), POINTER, IntType(8)))
    assert (size_of(node), field_offset(node, 1), field_offset(node, 2)) == (24, 8, 16)
    assert size_of(StructType((IntType(8), node), packed=True)) == 25
    assert size_of(ArrayType(3, IntType(16))) == 6


def test_debug_information_gives_names_and_places() -> None:
    module = read_module(MODULE, "m.ll")
    debug = DebugInfo(module.metadata)
    assert debug.place(7) == Place("/src/a.c", 9, 5)
    variable = debug.variable(module.variables["x"].debug)
    assert variable is not None and variable.name == "x"
    declared = debug.variable(module.functions["f"].declared["local"])
    assert declared is not None and declared.name == "count"


@pytest.mark.parametrize(
    ("value", "bits", "expected"), [(255, 8, -1), (128, 8, -128), (1, 1, 1), (2**31, 32, -(2**31))]
)
def test_integers_are_signed_numbers_of_their_width(value: int, bits: int, expected: int) -> None:
    assert signed(value, bits) == expected


def test_what_is_no_ir_is_refused() -> None:
    with pytest.raises(ReadingError):
        read_module("hello", "m.ll")
    with pytest.raises(ReadingError):
        Tokens("nonsense").type()


def test_pointers_with_types_are_pointers() -> None:
    """As LLVM wrote them before version 15, in types that contain themselves, too."""
    module = read_module(
        """
%struct.node = type { i32, %struct.node*, i32 (i8*)* }
@head = global %struct.node* null, align 8

define dso_local i8* @thread(i8* noundef %0) {
  %2 = load atomic %struct.node*, %struct.node** @head acquire, align 8
  %3 = getelementptr inbounds %struct.node, %struct.node* %2, i32 0, i32 2
  %4 = load i32 (i8*)*, i32 (i8*)** %3, align 8
  ret i8* null
}

declare i32 @start(i64*, i8* (i8*)* noundef, i8*)
""",
        "old.ll",
    )
    node = module.types["struct.node"]
    assert node.fields == (IntType(32), POINTER, POINTER)
    thread = module.functions["thread"]
    assert (thread.result, thread.parameters[0][0]) == (POINTER, POINTER)
    loads = [found for found in thread.blocks[0].instructions if isinstance(found, LoadFrom)]
    assert [found.type for found in loads] == [POINTER, POINTER]
    assert [type for type, _ in module.functions["start"].parameters] == [POINTER, POINTER, POINTER]
