"""Structs and arrays that are no memory: results of compare-exchange, structs passed by value."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.types import ArrayType, StructType, Type
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import ZERO, Parts, Value


def part_of(path: Path, value: Value, steps: tuple[int, ...]) -> Value:
    """The part of the value that the steps lead to."""
    for step in steps:
        if not isinstance(value, Parts):
            raise path.refuse(Code.UNSUPPORTED, "a part of something that has none")
        value = value.items[step]
    return value


def inner_type(type: Type, steps: tuple[int, ...]) -> Type:
    for step in steps:
        if isinstance(type, StructType):
            type = type.fields[step]
        elif isinstance(type, ArrayType):
            type = type.element
    return type


def with_part(value: Value, steps: tuple[int, ...], new: Value) -> Value:
    if not steps:
        return new
    items = list(value.items) if isinstance(value, Parts) else []
    while len(items) <= steps[0]:
        items.append(ZERO)
    items[steps[0]] = with_part(items[steps[0]], steps[1:], new)
    return Parts(tuple(items))
