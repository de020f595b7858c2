"""Locals come to life and die: what they held is gone, and a use of them afterwards is an error.

A local that only its own thread uses is dead when its call is no longer open. A local that other threads use has a flag
in memory. A pointer into an earlier call of the same function at the same depth is not told from one into the present
call: both calls have their locals at the same addresses, as on a real stack.
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
    """The innermost call begins: the ops that bring its locals to life, those that other threads use."""
    depth = len(path.state.frames) - 1
    return [
        op for placed in _locals(path, depth) if placed.start in path.world.mortal for op in _flag(path, placed, ZERO)
    ]


def end_locals(path: Path, depth: int) -> list[Op]:
    """The call at this depth ends: its locals are forgotten; the ops that tell the other threads that use them."""
    ops: list[Op] = []
    for placed in _locals(path, depth):
        private.forget(path.world, path.state, placed.start, placed.end)
        if placed.start in path.world.mortal:
            ops += _flag(path, placed, ONE)
    return ops


def end_thread_locals(path: Path) -> list[Op]:
    """All calls of the thread end."""
    return [op for depth in range(len(path.state.frames)) for op in end_locals(path, depth)]


def forget_content(path: Path, placed: Object) -> list[Op]:
    """A local comes to life again: the ops after which nobody has written it."""
    world = path.world
    private.forget(world, path.state, placed.start, placed.end)
    if not path.state.started:
        return []
    world.reads(path.process.number, placed.start, placed.size, whole=False)
    cells = [Cell(a, world.shared[a]) for a in range(placed.start, placed.end) if a in world.shared]
    for cell in cells:
        world.may_hold(cell, just(UNWRITTEN))
    return [Write(cell, Const(UNWRITTEN), direct=True) for cell in cells]


def _locals(path: Path, depth: int) -> list[Object]:
    """The locals of a call that lie in memory, as far as they were used."""
    frame = path.state.frames[depth]
    prefix = ("stack", path.process.number, depth, frame.symbol.module, frame.symbol.name)
    names = (name for name in frame.facts.allocas if name not in frame.facts.simple)
    return [placed for name in names if (placed := path.world.space.find((*prefix, name))) is not None]


def _flag(path: Path, placed: Object, value: Known) -> list[Op]:
    """Say that the local is gone, or there."""
    flag = placed.start - ALIVE_OFFSET
    if is_in_memory(path, flag, 4):
        path.world.may_hold(Cell(flag, 4), value.values)
        return [Write(Cell(flag, 4), value.expr, direct=True)]
    if path.state.started:
        path.world.writes(path.process.number, flag, 4)
    private.write(path.world, path.state, flag, 4, value)
    return []
