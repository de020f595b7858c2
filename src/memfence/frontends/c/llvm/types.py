"""The types of LLVM IR, and their sizes on x86-64."""

from __future__ import annotations

from typing import assert_never

from memfence.records import Record

POINTER_BYTES = 8


class IntType(Record):
    bits: int


class PointerType(Record):
    pass


class FloatType(Record):
    """Known by name and size alone: no value of it is ever computed."""

    name: str


class ArrayType(Record):
    """Vectors count as arrays: they differ only in operations that are refused."""

    count: int
    element: Type


class StructType(Record):
    fields: tuple[Type, ...]
    packed: bool = False
    name: str = ""


class VoidType(Record):
    """No value; also labels, metadata, tokens, opaque structs and function types."""

    name: str = "void"


Type = IntType | PointerType | FloatType | ArrayType | StructType | VoidType

POINTER = PointerType()
VOID = VoidType()
BOOL = IntType(1)

FLOAT_BYTES = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "x86_fp80": 16, "fp128": 16}


_SIZES: dict[int, tuple[Type, int]] = {}


def size_of(type: Type) -> int:
    """Bytes that an array element of the type takes."""
    known = _SIZES.get(id(type))
    if known is not None and known[0] is type:
        return known[1]
    size = _size_of(type)
    _SIZES[id(type)] = (type, size)
    return size


def _size_of(type: Type) -> int:
    match type:
        case IntType(bits):
            size = (bits + 7) // 8
            return _round_up(size, align_of(type))
        case PointerType():
            return POINTER_BYTES
        case FloatType(name):
            return FLOAT_BYTES[name]
        case ArrayType(count, element):
            return count * size_of(element)
        case StructType(fields):
            end = field_offset(type, len(fields))
            return end if type.packed else _round_up(end, align_of(type))
        case VoidType():
            return 1
        case _:
            assert_never(type)


def align_of(type: Type) -> int:
    match type:
        case IntType(bits):
            size = 1
            while size * 8 < bits and size < 16:
                size *= 2
            return size
        case PointerType():
            return POINTER_BYTES
        case FloatType(name):
            return FLOAT_BYTES[name]
        case ArrayType(_, element):
            return align_of(element)
        case StructType(fields, packed):
            return 1 if packed else max((align_of(f) for f in fields), default=1)
        case VoidType():
            return 1
        case _:
            assert_never(type)


def field_offset(type: StructType, number: int) -> int:
    """Bytes before the field; with the number of fields, the bytes of all of them without padding at the end."""
    at = 0
    for position, field in enumerate(type.fields):
        if not type.packed:
            at = _round_up(at, align_of(field))
        if position == number:
            return at
        at += size_of(field)
    return at


def _round_up(size: int, align: int) -> int:
    return -(-size // align) * align
