"""The life of locks and other objects of the library: between their initialisation and their destruction.

A destroyed object has a content of its own, which no living one has, until it is initialised again.
"""

from __future__ import annotations

from collections.abc import Callable

from memfence.frontends.c.machine.arithmetic import compare
from memfence.frontends.c.machine.atomically import Atomically
from memfence.frontends.c.machine.values import ZERO, Known, Scalar, Value
from memfence.program.orders import MemoryOrder

DESTROYED = Known(-1)


def name_of(step: Atomically, address: int) -> str:
    """What the user calls the object."""
    placed = step.path.world.space.at(address)
    return "" if placed is None else placed.name


def may_be_destroyed(content: Scalar) -> bool:
    return content.values.contains(DESTROYED.value)


def alive(step: Atomically, address: int, content: Scalar, what: str) -> None:
    """An error where the object with this content was destroyed; nothing is asked where that cannot be.

    Where it was destroyed for sure, the way ends here.
    """
    text = f"use of a destroyed {what}: {name_of(step, address)}"
    if content == DESTROYED:
        step.path.fail(text)
    elif may_be_destroyed(content):
        step.check(compare("ne", 32, content, DESTROYED), text)


def looked_at(step: Atomically, address: int, what: str, order: MemoryOrder | None = None) -> Scalar:
    """The content of a living object."""
    content = step.read(address, order=order)
    alive(step, address, content, what)
    return content


def destroying(what: str, in_use: str) -> Callable[[Atomically, int], Value | None]:
    """The end of an object. `in_use`: what is wrong where its content is not 0."""

    def destroy(step: Atomically, address: int) -> Value | None:
        content = looked_at(step, address, what)
        step.check(compare("eq", 32, content, ZERO), f"{in_use}: {name_of(step, address)}")
        step.write(address, DESTROYED)
        return ZERO

    return destroy
