"""The instructions, one dataclass each: a closed union. `place` is the number of the debug location, or 0."""

from __future__ import annotations

from dataclasses import field

from memfence.frontends.c.llvm.types import StructType, Type
from memfence.frontends.c.llvm.values import Operand
from memfence.program.orders import MemoryOrder
from memfence.records import Record


class Alloca(Record):
    result: str
    type: Type
    count: Operand
    place: int
    alignment: int = 1


class LoadFrom(Record):
    result: str
    type: Type
    pointer: Operand
    order: MemoryOrder
    volatile: bool
    place: int


class StoreTo(Record):
    type: Type
    value: Operand
    pointer: Operand
    order: MemoryOrder
    volatile: bool
    place: int


class Offset(Record):
    """`getelementptr`."""

    result: str
    source: Type
    base: Operand
    indices: tuple[Operand, ...]
    place: int


class Compute(Record):
    """Integer arithmetic: add, sub, mul, sdiv, udiv, srem, urem, shl, lshr, ashr, and, or, xor."""

    result: str
    op: str
    type: Type
    left: Operand
    right: Operand
    no_signed_wrap: bool
    place: int


class Compare(Record):
    result: str
    predicate: str
    type: Type
    left: Operand
    right: Operand
    place: int


class Convert(Record):
    result: str
    op: str
    origin: Type
    operand: Operand
    target: Type
    place: int


class Select(Record):
    result: str
    condition: Operand
    type: Type
    then: Operand
    otherwise: Operand
    place: int


class Phi(Record):
    result: str
    type: Type
    incoming: tuple[tuple[Operand, str], ...]
    place: int


class Branch(Record):
    """To the first target where the condition is true, else to the second; without condition, to the only one."""

    condition: Operand | None
    targets: tuple[str, ...]
    place: int


class Switch(Record):
    type: Type
    value: Operand
    default: str
    cases: tuple[tuple[int, str], ...]
    place: int


class Return(Record):
    type: Type
    value: Operand | None
    place: int


class Unreachable(Record):
    place: int


class Call(Record):
    """A call, or an `invoke`: then control goes on at `normal`, or with an exception at `unwind`.

    `by_value`: for each argument, the struct that the callee gets a copy of, or None; empty where there is none.
    """

    result: str
    type: Type
    callee: Operand
    arguments: tuple[tuple[Type, Operand], ...]
    place: int
    normal: str | None = None
    by_value: tuple[Type | None, ...] = ()
    unwind: str | None = None


class CompareExchange(Record):
    """The result is the pair (old value, whether it was the expected one)."""

    result: str
    type: Type
    pointer: Operand
    expected: Operand
    desired: Operand
    order: MemoryOrder
    failure_order: MemoryOrder
    weak: bool
    place: int


class Update(Record):
    """`atomicrmw`: xchg, add, sub, and, nand, or, xor, max, min, umax, umin."""

    result: str
    op: str
    type: Type
    pointer: Operand
    value: Operand
    order: MemoryOrder
    place: int


class FenceOf(Record):
    """`fence`; a `single_thread` one orders nothing but the compiler."""

    order: MemoryOrder
    single_thread: bool
    place: int


class Extract(Record):
    result: str
    type: Type
    aggregate: Operand
    path: tuple[int, ...]
    place: int


class Insert(Record):
    result: str
    type: Type
    aggregate: Operand
    element: Operand
    path: tuple[int, ...]
    place: int


class Freeze(Record):
    result: str
    type: Type
    operand: Operand
    place: int


class Other(Record):
    """An instruction that is refused where control comes to it: floating point, vectors, exceptions, variadics."""

    result: str
    opcode: str
    place: int


Instruction = (
    Alloca
    | LoadFrom
    | StoreTo
    | Offset
    | Compute
    | Compare
    | Convert
    | Select
    | Phi
    | Branch
    | Switch
    | Return
    | Unreachable
    | Call
    | CompareExchange
    | Update
    | FenceOf
    | Extract
    | Insert
    | Freeze
    | Other
)

Terminator = Branch | Switch | Return | Unreachable


class Block(Record):
    name: str
    instructions: tuple[Instruction, ...]


class Function(Record):
    """A function. `blocks` is empty for a declaration. `declared`: (local, metadata number) of its variables."""

    name: str
    result: Type
    parameters: tuple[tuple[Type, str], ...]
    blocks: tuple[Block, ...]
    variadic: bool = False
    debug: int = -1
    declared: dict[str, int] = field(default_factory=dict)
    internal: bool = False
    weak: bool = False


class GlobalVariable(Record):
    """`initial` is None for a declaration (`external`)."""

    name: str
    type: Type
    initial: Operand | None
    constant: bool
    thread_local: bool
    debug: int = -1
    internal: bool = False
    weak: bool = False
    alignment: int = 1


class Module(Record):
    """One file of IR. `metadata`: the numbered nodes, as text."""

    path: str
    types: dict[str, StructType]
    variables: dict[str, GlobalVariable]
    functions: dict[str, Function]
    aliases: dict[str, Operand]
    metadata: dict[int, str]


def successors(instruction: Instruction) -> tuple[str, ...]:
    """The blocks where control may go on after the last instruction of a block."""
    match instruction:
        case Branch(_, targets, _):
            return tuple(dict.fromkeys(targets))
        case Switch(_, _, default, cases, _):
            return tuple(dict.fromkeys((default, *(target for _, target in cases))))
        case Call(normal=str(target)):
            return (target,)
        case _:
            return ()
