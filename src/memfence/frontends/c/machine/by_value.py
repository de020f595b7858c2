"""Structs that are passed by value: the callee works on a copy of its own."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.llvm.types import size_of
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import is_in_memory, problem_with
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.state import overlapping
from memfence.frontends.c.machine.values import Known, Value

SHARED_HINT = "copy it into a local variable first, and pass that"


def copied_structs(path: Path, call: Call, symbol: Symbol, arguments: list[Value]) -> list[Value]:
    """The arguments, each struct that is passed by value replaced by the address of a copy."""
    found = list(arguments)
    for position, type in enumerate(call.by_value):
        if type is not None:
            found[position] = _copy(path, symbol, position, size_of(type), found[position])
    return found


def _copy(path: Path, symbol: Symbol, position: int, size: int, source: Value) -> Value:
    world, number, depth = path.world, path.process.number, len(path.state.frames)
    lives_in = (depth, symbol.module, symbol.name)
    key = ("by value", number, *lives_in, position)
    title = f"{symbol.name}.argument{position + 1}"
    target = world.space.place(key, size, title, "stack", owner=number, frame=lives_in).start
    if not isinstance(source, Known) or problem_with(path, source.value, size) is not None:
        raise path.refuse(Code.UNSUPPORTED, "a struct at an address that is not known is passed by value", SHARED_HINT)
    if is_in_memory(path, source.value, size) or is_in_memory(path, target, size):
        raise path.refuse(Code.UNSUPPORTED, "a struct that several threads use is passed by value", SHARED_HINT)
    if path.state.started:
        world.reads(number, source.value, size, whole=False)
        world.writes(number, target, size, whole=False)
    for at, width in _pieces(path, source.value, size):
        value = private.read(world, path.state, source.value + at, width)
        private.write(world, path.state, target + at, width, value)
    return Known(target)


def _pieces(path: Path, start: int, size: int) -> list[tuple[int, int]]:
    """Offsets and widths: as it was written, byte by byte where nobody wrote a value."""
    cells = path.state.cells
    found: list[tuple[int, int]] = []
    at = 0
    while at < size:
        width = cells[start + at][0] if start + at in cells else 1
        width = width if at + width <= size and overlapping(cells, start + at, width) in ([start + at], []) else 1
        found.append((at, width))
        at += width
    return found
