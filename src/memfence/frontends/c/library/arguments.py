"""Small things that all library functions need."""

from __future__ import annotations

from collections.abc import Callable

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.access import alive_ops, at_address
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.packing import plain
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Barrier
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import ZERO, Known, Parts, Scalar, Value
from memfence.program.orders import MemoryOrder

Body = Callable[[Atomically, int], Value | None]


def number(path: Path, arguments: list[Value], position: int) -> Scalar:
    """The argument as a number or pointer; 0 where there is none."""
    if position >= len(arguments):
        return ZERO
    found = arguments[position]
    if isinstance(found, Parts):
        raise path.refuse(Code.UNSUPPORTED, "a struct is passed to a library function")
    return used(plain(found))


def known(path: Path, arguments: list[Value], position: int, what: str) -> int:
    """The argument, which must be a constant."""
    found = number(path, arguments, position)
    if not isinstance(found, Known):
        raise path.refuse(Code.UNSUPPORTED, f"{what} must be known before the program runs")
    return found.value


def on_object(
    path: Path, call: Call, pointer: Scalar, size: int, what: str, body: Body, *, drains: bool = True
) -> None:
    """One step that works on the object at `pointer`; what `body` returns is the call's result.

    `drains`: the function has a locked instruction, also where no other thread uses the object.
    """

    def act(p: Path, address: int) -> None:
        step = Atomically(p, drains=drains)
        step.ops.extend(alive_ops(p, address))
        if p.ended:
            return
        result = body(step, address)
        if not p.ended:
            if drains and p.state.started and not step.ops:
                step.ops.append(Barrier(MemoryOrder.SEQ_CST))
            step.finish(call, result)

    at_address(path, pointer, size, what, act)


def call_name(call: Call) -> str:
    return getattr(call.callee, "name", "call")


def storing(position: int) -> Callable[[Path, Call, list[Value]], None]:
    """A function that stores one of its arguments in the object that its first one points to, and returns 0."""

    def store(path: Path, call: Call, arguments: list[Value]) -> None:
        value = number(path, arguments, position)

        def initialise(step: Atomically, address: int) -> Value | None:
            step.write(address, value)
            return ZERO

        on_object(path, call, number(path, arguments, 0), 4, call_name(call), initialise, drains=False)

    return store


def nothing(path: Path, call: Call, arguments: list[Value]) -> None:
    """A call without effect that returns 0."""
    returned(path, call, ZERO)
