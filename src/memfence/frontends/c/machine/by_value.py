"""Structs that are passed by value: the callee works on a copy of its own."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.llvm.types import size_of
from memfence.frontends.c.machine.access import problem_with
from memfence.frontends.c.machine.copying import copy
from memfence.frontends.c.machine.memory import Home
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import Known, Value

HINT = "copy it into a local variable first, and pass that"


def copied_structs(path: Path, call: Call, symbol: Symbol, arguments: list[Value]) -> list[Value] | None:
    """The arguments, each struct that is passed by value replaced by the address of a copy.

    None where a part of a copy became a step, after which the call is done again from there on.
    """
    found = list(arguments)
    copied = ("copied by value", path.state.positions())
    done = path.state.counts.pop(copied, 0)
    for position, type in enumerate(call.by_value):
        if type is None:
            continue
        target = _place(path, symbol, position, size_of(type))
        if position >= done:
            path.state.counts[copied] = position
            if not _copy(path, target, size_of(type), found[position]):
                return None
            del path.state.counts[copied]
        found[position] = Known(target)
    return found


def _place(path: Path, symbol: Symbol, position: int, size: int) -> int:
    """Where the copy lies, among the locals of the callee."""
    number, depth = path.process.number, len(path.state.frames)
    title = f"{path.world.linked.title(symbol)}.argument{position + 1}"
    home = Home(depth, symbol.module, symbol.name, f"%{position}", in_block=False)
    key = ("stack", number, depth, symbol.module, symbol.name, position)
    return path.world.space.place(key, size, title, "stack", owner=number, home=home).start


def _copy(path: Path, target: int, size: int, source: Value) -> bool:
    if not isinstance(source, Known) or problem_with(path, source.value, size) is not None:
        raise path.refuse(Code.UNSUPPORTED, "a struct at an address that is not known is passed by value", HINT)
    return copy(path, ("bytes by value", path.state.positions()), target, source.value, size)
