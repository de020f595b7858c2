"""Small things that all library functions need."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.access import alive_ops, at_address
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.packing import plain
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Barrier
from memfence.frontends.c.machine.undefined import Undefined, used
from memfence.frontends.c.machine.values import ZERO, Known, Parts, Scalar, Value
from memfence.program.orders import MemoryOrder
from memfence.records import Record

MOST_NUMBERS = 16
"""Lengths that are followed case by case."""

Body = Callable[[Atomically, int], Value | None]


class Outcome(Record):
    """One of the ways a function may go, where `body` does not wait. `drains`: it has a locked instruction there, also
    where no other thread uses the object; without one its stores go by way of the store buffer."""

    body: Body
    drains: bool = True


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


def for_each_number(
    path: Path, arguments: list[Value], position: int, what: str, action: Callable[[Path, int], None]
) -> None:
    """Do `action` with the argument, in a fork for each number that it may be: few."""
    found = number(path, arguments, position)
    if isinstance(found, Known):
        action(path, found.value)
        return
    members = found.values.members(MOST_NUMBERS)
    if members is None:
        message = f"{what} may be one of more than {MOST_NUMBERS} numbers, or of any"
        raise path.refuse(Code.UNSUPPORTED, message, "use a constant, or test it first")
    for each in sorted(members):
        copy = path.fork_with(found, each)
        if copy is not None:
            action(copy, each)
    path.ended = True


def on_object(
    path: Path, call: Call, pointer: Scalar, size: int, what: str, body: Body, *, drains: bool = True
) -> None:
    """One step that works on the object at `pointer`; what `body` returns is the call's result."""
    at_address(path, pointer, size, what, lambda p, a: in_one_of(p, call, a, (Outcome(body, drains),)))


def in_one_of(path: Path, call: Call, address: int, outcomes: Sequence[Outcome], *, waits: bool = True) -> None:
    """One step that works on the object at the address, as that outcome says which is possible.

    `waits`: where none is, the thread waits for ever; else it has something else to do.
    """
    ways = [*(path.fork() for _ in outcomes[1:]), path]
    waiting: Atomically | None = None
    is_possible = False
    for way, outcome in zip(ways, outcomes, strict=True):
        assert way is not None
        step = Atomically(way, drains=outcome.drains)
        step.ops.extend(alive_ops(way, address))
        result: Value | None = None
        try:
            result = None if way.ended else outcome.body(step, address)
        except Undefined as error:
            way.fail(str(error))
        if way.ended or not step.is_stuck:
            is_possible = True
        elif waiting is None:
            waiting = step
            continue
        if outcome.drains and way.state.started and not step.ops and not way.ended:
            step.ops.append(Barrier(MemoryOrder.SEQ_CST))
        step.finish_if_possible(call, result)
    if waiting is not None:
        waiting.path.ended = is_possible or not waits
        waiting.finish(call)


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
