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
    """Vectors count as arrays that are aligned by their size: their operations are refused."""

    count: int
    element: Type
    is_vector: bool = False


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


def store_size_of(type: Type) -> int:
    """Bytes that a load or store of the type accesses: those that hold a bit of it, whatever it is aligned to."""
    match type:
        case IntType(bits):
            return (bits + 7) // 8
        case FloatType("x86_fp80"):
            return 10
        case ArrayType(count, element, True):
            return (count * bits_of(element) + 7) // 8
        case _:
            return size_of(type)


def bits_of(type: Type) -> int:
    """Bits of a scalar."""
    return type.bits if isinstance(type, IntType) else 8 * store_size_of(type)


def size_of(type: Type) -> int:
    """Bytes that a variable or an array element of the type takes, padding included."""
    known = _SIZES.get(id(type))
    if known is not None and known[0] is type:
        return known[1]
    size = _size_of(type)
    _SIZES[id(type)] = (type, size)
    return size


def _size_of(type: Type) -> int:
    match type:
        case IntType() | ArrayType(_, _, True):
            return _round_up(store_size_of(type), align_of(type))
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
            return min(16, _power_of_two((bits + 7) // 8))
        case ArrayType(_, _, True):
            return _power_of_two(store_size_of(type))
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


def _power_of_two(size: int) -> int:
    """The least power of two that is not less."""
    return 1 << max(0, size - 1).bit_length()


def _round_up(size: int, align: int) -> int:
    return -(-size // align) * align
