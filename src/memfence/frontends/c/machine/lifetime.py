"""Variables come to life and die: what they held is gone, and a use of them afterwards is an error.

A local that only its own thread uses is dead when its call is no longer open, or its block was left. A local or a
thread-local variable that other threads use has a flag in memory. A pointer into an earlier call of the same function
at the same depth, or an earlier round of the same block, is not told from one into the present one: both have their
locals at the same addresses, as on a real stack.
"""

from __future__ import annotations

from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import ALIVE_OFFSET, is_in_memory
from memfence.frontends.c.machine.memory import Object
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Cell, Op, Write
from memfence.frontends.c.machine.value_sets import UNWRITTEN, just
from memfence.frontends.c.machine.values import ONE, ZERO, Known
from memfence.program.expressions import Const


def begin_locals(path: Path) -> list[Op]:
    """The innermost call begins: the ops that bring its locals to life, those that other threads use and that have no
    block of their own."""
    depth = len(path.state.frames) - 1
    scoped = path.state.top.facts.scoped
    return [
        op
        for name, placed in _locals(path, depth)
        if placed.start in path.world.mortal and name not in scoped
        for op in _flag(path, placed, ZERO)
    ]


def end_locals(path: Path, depth: int) -> list[Op]:
    """The call at this depth ends: its locals are forgotten; the ops that tell the other threads that use them."""
    frame, ops = path.state.frames[depth], []
    for name, placed in _locals(path, depth):
        private.forget(path.world, path.state, placed.start, placed.end)
        if placed.start in path.world.mortal and (name in frame.alive or name not in frame.facts.scoped):
            ops += _flag(path, placed, ONE)
    return ops


def end_variables(path: Path) -> list[Op]:
    """All calls of the thread end, and with it its thread-local variables."""
    world, number = path.world, path.process.number
    own = [o for o in world.space.all() if o.kind == "thread-local" and o.owner == number and o.start in world.mortal]
    ops = [op for placed in own for op in _flag(path, placed, ONE)]
    return ops + [op for depth in range(len(path.state.frames)) for op in end_locals(path, depth)]


def enter_block(path: Path, name: str) -> list[Op]:
    """A local of the innermost call comes to life: the ops after which it is there, and nobody has written it."""
    frame, placed = path.state.top, _local(path, name)
    frame.alive |= {name}
    ops = _flag(path, placed, ZERO) if placed.start in path.world.mortal and not path.world.lasts(placed) else []
    return [*ops, *_forget_content(path, placed)]


def leave_block(path: Path, name: str) -> list[Op]:
    """A local of the innermost call dies: the ops that tell the other threads that use it."""
    frame, placed = path.state.top, _local(path, name)
    was_alive = name in frame.alive
    private.forget(path.world, path.state, placed.start, placed.end)
    if len(path.state.frames) == 1 and path.process.number == 0 and name in frame.facts.kept_to_return:
        return []  # with `main`, the process ends
    frame.alive -= {name}
    return _flag(path, placed, ONE) if was_alive and placed.start in path.world.mortal else []


def _local(path: Path, name: str) -> Object:
    placed = path.world.space.at(path.local_object(name))
    assert placed is not None
    return placed


def _forget_content(path: Path, placed: Object) -> list[Op]:
    world = path.world
    private.forget(world, path.state, placed.start, placed.end)
    if not path.state.started:
        return []
    world.reads(path.process.number, placed.start, placed.size, whole=False)
    cells = [Cell(a, world.shared[a]) for a in range(placed.start, placed.end) if a in world.shared]
    for cell in cells:
        world.may_hold(cell, just(UNWRITTEN))
    return [Write(cell, Const(UNWRITTEN), direct=True) for cell in cells]


def _locals(path: Path, depth: int) -> list[tuple[str, Object]]:
    """The locals of a call that lie in memory, by name, and structs passed by value, as far as they were used."""
    frame = path.state.frames[depth]
    prefix = ("stack", path.process.number, depth, frame.symbol.module, frame.symbol.name)
    names = (name for name in frame.facts.allocas if name not in frame.facts.simple)
    copies = range(len(frame.facts.function.parameters))
    found = (
        (f"%{name}" if isinstance(name, int) else name, path.world.space.find((*prefix, name)))
        for name in (*names, *copies)
    )
    return [(name, placed) for name, placed in found if placed is not None]


def _flag(path: Path, placed: Object, value: Known) -> list[Op]:
    """Say that the variable is gone, or there."""
    flag = placed.start - ALIVE_OFFSET
    if is_in_memory(path, flag, 4):
        path.world.may_hold(Cell(flag, 4), value.values)
        return [Write(Cell(flag, 4), value.expr, direct=True)]
    if path.state.started:
        path.world.writes(path.process.number, flag, 4)
    private.write(path.world, path.state, flag, 4, value)
    return []
