"""Loads and stores of whole structs, arrays and long integers, as those of their members or words.

No machine accesses more than 8 bytes at once unless it is told to do so atomically, and C promises nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.frontends.c.llvm.instructions import (
    Compute,
    Convert,
    Extract,
    Freeze,
    Insert,
    Instruction,
    LoadFrom,
    Offset,
    StoreTo,
)
from memfence.frontends.c.llvm.types import (
    ArrayType,
    FloatType,
    IntType,
    StructType,
    Type,
    field_offset,
    size_of,
    store_size_of,
)
from memfence.frontends.c.llvm.values import Local, Number, Operand, Undefined
from memfence.program.orders import MemoryOrder

WORD = 64
MOST_MEMBERS = 4096

Member = tuple[tuple[int, ...], int, Type]
"""The steps that lead to a scalar, its offset in bytes, and its type."""


def expanded(instruction: Instruction, unique: int) -> tuple[Instruction, ...]:
    """The instruction, or those that do the same with less at once; `unique` is in the names of their results."""
    if not isinstance(instruction, LoadFrom | StoreTo):
        return (instruction,)
    match instruction:
        case LoadFrom(type=StructType() | ArrayType() as type):
            members = _members(type)
            return (instruction,) if members is None else tuple(_load_members(instruction, members))
        case StoreTo(type=StructType() | ArrayType() as type):
            members = _members(type)
            return (instruction,) if members is None else tuple(_store_members(instruction, members, unique))
        case LoadFrom(type=IntType(bits), order=MemoryOrder.PLAIN) if bits > WORD:
            return tuple(_load_words(instruction, bits))
        case StoreTo(type=IntType(bits), order=MemoryOrder.PLAIN) if bits > WORD:
            return tuple(_store_words(instruction, bits, unique))
        case _:
            return (instruction,)


def _members(type: Type) -> list[Member] | None:
    """All scalars in the type; None where they are too many, or share bytes."""
    found: list[Member] = []
    for member in _scalars(type, (), 0):
        found.append(member)
        if len(found) > MOST_MEMBERS:
            return None
    return None if any(_is_vector_of_bits(type) for _, _, type in found) else found


def _scalars(type: Type, steps: tuple[int, ...], at: int) -> Iterator[Member]:
    if isinstance(type, StructType):
        for number, field in enumerate(type.fields):
            yield from _scalars(field, (*steps, number), at + field_offset(type, number))
    elif isinstance(type, ArrayType) and not _is_vector_of_bits(type):
        for number in range(type.count):
            yield from _scalars(type.element, (*steps, number), at + number * size_of(type.element))
    elif isinstance(type, FloatType):  # only copied: its bits are all that counts
        yield steps, at, IntType(8 * store_size_of(type))
    else:
        yield steps, at, type


def _is_vector_of_bits(type: Type) -> bool:
    if not isinstance(type, ArrayType) or not type.is_vector or not isinstance(type.element, IntType):
        return False
    return type.element.bits != 8 * size_of(type.element)


def _load_members(load: LoadFrom, members: list[Member]) -> Iterator[Instruction]:
    whole: Operand = Undefined()
    for number, (steps, at, type) in enumerate(members):
        pointer, value = f"{load.result}!at{number}", f"{load.result}!value{number}"
        result = load.result if number == len(members) - 1 else f"{load.result}!with{number}"
        yield Offset(pointer, IntType(8), load.pointer, (Number(at),), load.place)
        yield from expanded(LoadFrom(value, type, Local(pointer), load.order, load.volatile, load.place), 0)
        yield Insert(result, load.type, whole, Local(value), steps, load.place)
        whole = Local(result)
    if not members:
        yield Freeze(load.result, load.type, whole, load.place)


def _store_members(store: StoreTo, members: list[Member], unique: int) -> Iterator[Instruction]:
    for number, (steps, at, type) in enumerate(members):
        pointer, value = f"!store{unique}!at{number}", f"!store{unique}!value{number}"
        yield Extract(value, store.type, store.value, steps, store.place)
        yield Offset(pointer, IntType(8), store.pointer, (Number(at),), store.place)
        piece = StoreTo(type, Local(value), Local(pointer), store.order, store.volatile, store.place)
        yield from _renamed(piece, f"{unique}!{number}")


def _renamed(store: StoreTo, unique: str) -> tuple[Instruction, ...]:
    is_long = isinstance(store.type, IntType) and store.type.bits > WORD and store.order is MemoryOrder.PLAIN
    if not is_long:
        return (store,)
    assert isinstance(store.type, IntType)
    return tuple(_store_words(store, store.type.bits, unique))


def _words(bits: int) -> list[tuple[int, int]]:
    """(lowest bit, bits) of each word."""
    return [(at, min(WORD, bits - at)) for at in range(0, bits, WORD)]


def _load_words(load: LoadFrom, bits: int) -> Iterator[Instruction]:
    total: Operand = Number(0)
    whole = IntType(bits)
    for at, width in _words(bits):
        pointer, word, wide, shifted = (f"{load.result}!{name}{at}" for name in ("at", "word", "wide", "shifted"))
        result = load.result if at + width == bits else f"{load.result}!with{at}"
        yield Offset(pointer, IntType(8), load.pointer, (Number(at // 8),), load.place)
        yield LoadFrom(word, IntType(width), Local(pointer), load.order, load.volatile, load.place)
        yield Convert(wide, "zext", IntType(width), Local(word), whole, load.place)
        yield Compute(shifted, "shl", whole, Local(wide), Number(at), False, load.place)
        yield Compute(result, "or", whole, total, Local(shifted), False, load.place)
        total = Local(result)


def _store_words(store: StoreTo, bits: int, unique: int | str) -> Iterator[Instruction]:
    whole = IntType(bits)
    for at, width in _words(bits):
        shifted, word, pointer = (f"!store{unique}!{name}{at}" for name in ("shifted", "word", "at"))
        yield Compute(shifted, "lshr", whole, store.value, Number(at), False, store.place)
        yield Convert(word, "trunc", whole, Local(shifted), IntType(width), store.place)
        yield Offset(pointer, IntType(8), store.pointer, (Number(at // 8),), store.place)
        yield StoreTo(IntType(width), Local(word), Local(pointer), store.order, store.volatile, store.place)
