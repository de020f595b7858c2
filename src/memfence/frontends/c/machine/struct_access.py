"""Loads and stores of whole structs in private memory."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.types import ArrayType, StructType, Type, field_offset, size_of
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import is_in_memory
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import Known, Parts, Scalar, Value


def load_parts(path: Path, result: str, type: Type, pointer: Scalar) -> None:
    if not isinstance(pointer, Known) or is_in_memory(path, pointer.value, size_of(type)):
        raise path.refuse(Code.UNSUPPORTED, "a whole shared struct is loaded at once")
    path.world.reads(path.process.number, pointer.value, size_of(type), whole=False)

    def part(inner: Type, at: int) -> Value:
        if isinstance(inner, StructType):
            return Parts(tuple(part(f, at + field_offset(inner, n)) for n, f in enumerate(inner.fields)))
        if isinstance(inner, ArrayType):
            width = size_of(inner.element)
            return Parts(tuple(part(inner.element, at + n * width) for n in range(inner.count)))
        return private.read(path.world, path.state, at, size_of(inner))

    path.set(result, part(type, pointer.value))


def store_parts(path: Path, type: Type, value: Parts, pointer: Scalar) -> None:
    if not isinstance(pointer, Known) or is_in_memory(path, pointer.value, size_of(type)):
        raise path.refuse(Code.UNSUPPORTED, "a whole shared struct is stored at once")
    path.world.writes(path.process.number, pointer.value, size_of(type), whole=False)

    def put(inner: Type, item: Value, at: int) -> None:
        if isinstance(item, Parts):
            for n, element in enumerate(item.items):
                if isinstance(inner, StructType):
                    put(inner.fields[n], element, at + field_offset(inner, n))
                elif isinstance(inner, ArrayType):
                    put(inner.element, element, at + n * size_of(inner.element))
        else:
            private.write(path.world, path.state, at, size_of(inner), item)

    put(type, value, pointer.value)
