"""Constants of the IR as integers and bytes, once every global variable and function has its address."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.demangling import demangled
from memfence.frontends.c.llvm.instructions import Function, GlobalVariable
from memfence.frontends.c.llvm.link import Linked, Symbol
from memfence.frontends.c.llvm.reals import bytes_of_real
from memfence.frontends.c.llvm.types import (
    ArrayType,
    FloatType,
    IntType,
    PointerType,
    StructType,
    Type,
    field_offset,
    size_of,
    store_size_of,
)
from memfence.frontends.c.llvm.values import (
    AddressOf,
    Aggregate,
    Computed,
    Converted,
    Global,
    Number,
    Operand,
    Real,
    Text,
    Undefined,
    Zero,
    signed,
)
from memfence.frontends.c.machine.arithmetic import exact
from memfence.frontends.c.machine.memory import UNIT, AddressSpace, Kind, Object
from memfence.frontends.c.machine.refusal import Refused

Plan = tuple[int, list[tuple[Operand, int, int]]]
"""Constant bytes; then for each other index its operand, its stride, and the elements of its array (0: no limit)."""


MOST_BYTES = 1 << 27
"""Of one variable: its initial bytes are kept."""


class NotConstant(Exception):
    """The operand is no integer constant; the text says what it is."""


class Constants:
    """Addresses of symbols, values of constant expressions, initial contents of variables."""

    def __init__(self, linked: Linked, space: AddressSpace) -> None:
        self.linked = linked
        self.space = space
        self.functions: dict[int, Symbol] = {}
        self.read_only: dict[int, str] = {}

    def address_of(self, module: int, name: str) -> int:
        symbol = self.linked.find(module, name)
        if symbol is None:
            raise NotConstant(f"`{demangled(name)}` is not defined")
        return self.place(symbol).start

    def place(self, symbol: Symbol) -> Object:
        """The object of a variable or function, with its initial bytes."""
        definition = symbol.definition
        key = ("symbol", symbol.module if definition.internal else -1, symbol.name)
        found = self.space.find(key)
        if found is not None:
            return found
        if isinstance(definition, Function):
            placed = self.space.place(key, 1, self.linked.title(symbol), "function")
            self.functions[placed.start] = symbol
            return placed
        debug = self.linked.debug[symbol.module]
        variable = debug.variable(definition.debug)
        name = self.linked.title(symbol)
        size = size_of(definition.type)
        if size > MOST_BYTES:
            raise Refused(Code.TOO_LARGE, f"`{name}` has {size:,} bytes", variable.place if variable else None)
        type, alignment = variable.type if variable else 0, max(definition.alignment, UNIT)
        kind: Kind = "thread-local" if definition.thread_local else "global"
        owner = 0 if definition.thread_local else -1
        placed = self.space.place(key, size, name, kind, debug, type, owner, alignment=alignment)
        self._initialise(placed, symbol.module, definition)
        if definition.constant:
            is_text = isinstance(definition.initial, Text) and definition.internal and variable is None
            self.read_only[placed.start] = "a string literal" if is_text else f"the const object `{name}`"
        return placed

    def _initialise(self, placed: Object, module: int, variable: GlobalVariable) -> None:
        image = bytearray(placed.size)
        self.space.images[placed.start] = image
        if variable.initial is not None:
            self._write(image, 0, module, variable.type, variable.initial)

    def _write(self, image: bytearray, at: int, module: int, type: Type, value: Operand) -> None:
        match value:
            case Zero() | Undefined():
                return
            case Text(data):
                image[at : at + len(data)] = data
            case Aggregate(elements):
                for number, (inner, element) in enumerate(elements):
                    self._write(image, at + self.offset_of(type, number), module, inner, element)
            case Real(text):
                assert isinstance(type, FloatType)
                data = bytes_of_real(type.name, text)
                image[at : at + len(data)] = data
            case _:
                if isinstance(type, FloatType):
                    return
                width = store_size_of(type)
                number = self.number(module, value)
                image[at : at + width] = (number & ((1 << 8 * width) - 1)).to_bytes(width, "little")

    def offset_of(self, type: Type, number: int) -> int:
        if isinstance(type, StructType):
            return field_offset(type, number)
        assert isinstance(type, ArrayType)
        return number * size_of(type.element)

    def number(self, module: int, operand: Operand) -> int:
        """The value of a constant integer or pointer. NotConstant where it is none."""
        match operand:
            case Number(value):
                return value
            case Global(name):
                return self.address_of(module, name)
            case Undefined() | Zero():
                return 0
            case AddressOf(source, base, indices):
                return self.number(module, base) + self.offset(module, source, indices)
            case Converted(op, origin, inner, target):
                return self._converted(op, origin, self.number(module, inner), target)
            case Computed(op, type, left, right):
                bits = type.bits if isinstance(type, IntType) else 64
                return signed(exact(op, bits, self.number(module, left), self.number(module, right)), bits)
            case _:
                raise NotConstant("a constant that is no integer")

    def _converted(self, op: str, origin: Type, value: int, target: Type) -> int:
        if op == "zext" and isinstance(origin, IntType):
            return value & ((1 << origin.bits) - 1)
        if isinstance(target, IntType):
            return signed(value, target.bits)
        if isinstance(target, PointerType):
            return value
        raise NotConstant("a constant of floating point")

    def offset(self, module: int, source: Type, indices: tuple[Operand, ...]) -> int:
        """Bytes that constant indices add."""
        total = self.number(module, indices[0]) * size_of(source)
        type = source
        for index in indices[1:]:
            number = self.number(module, index)
            total += self.offset_of(type, number)
            type = type.fields[number] if isinstance(type, StructType) else element_of(type)
        return total

    def plan(self, module: int, source: Type, indices: tuple[Operand, ...]) -> Plan:
        """The bytes that constant indices add, and the other indices: what each counts for, how far it may go."""
        constant = 0
        variable: list[tuple[Operand, int, int]] = []
        type = source
        for position, index in enumerate(indices):
            if position and isinstance(type, StructType):
                number = self.number(module, index)
                constant += field_offset(type, number)
                type = type.fields[number]
                continue
            count = 0
            if position:
                assert isinstance(type, ArrayType)
                count = type.count
                type = type.element
            if isinstance(index, Number) and not (count and index.value < 0):
                constant += index.value * size_of(type)
            else:
                variable.append((index, size_of(type), count))
        return constant, variable


def is_before_its_array(operand: Operand) -> bool:
    """Whether the address is that of an element with a negative number, of an array within something else."""
    if isinstance(operand, Converted):
        return is_before_its_array(operand.operand)
    if not isinstance(operand, AddressOf):
        return False
    type = operand.source
    for index in operand.indices[1:]:
        if not isinstance(index, Number):
            return False
        if isinstance(type, ArrayType) and index.value < 0:
            return True
        type = type.fields[index.value] if isinstance(type, StructType) else element_of(type)
    return is_before_its_array(operand.base)


def element_of(type: Type) -> Type:
    assert isinstance(type, ArrayType)
    return type.element
