"""One locked step of a library function: several reads and writes at once, of private and shared memory alike."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import is_in_memory, is_written, known_values
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Cell, Check, Guard, Op, Read, Write
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import ZERO, Known, Scalar, Unknown, Value, is_undefined
from memfence.program.expressions import Register
from memfence.program.orders import MemoryOrder


class Atomically:
    """Collects what happens in the step; `finish` ends it."""

    def __init__(self, path: Path, *, drains: bool = True) -> None:
        """`drains`: the function has a locked instruction; without one, its stores go by way of the store buffer."""
        self.path = path
        self.drains = drains
        self.ops: list[Op] = []
        self.is_stuck = False

    def _cell(self, address: int, size: int) -> Cell:
        cell = self.path.world.share_now(address, size)
        if cell.size != size:
            name = self.path.world.space.name_of(address, size)
            raise self.path.refuse(Code.UNSUPPORTED, f"`{name}` is accessed in pieces of different size")
        return cell

    def read(self, address: int, size: int = 4) -> Scalar:
        path = self.path
        order = MemoryOrder.PLAIN if self.drains else MemoryOrder.ACQUIRE
        if not is_in_memory(path, address, size):
            if path.state.started:
                path.world.reads(path.process.number, address, size)
            return used(private.read(path.world, path.state, address, size))
        cell = self._cell(address, size)
        register = path.scratch()
        self.ops.append(Read(register, cell, order))
        self.ops.extend(is_written(path, register, cell))
        return Unknown(Register(register), known_values(path, cell))

    def read_or_zero(self, address: int, size: int = 4) -> Scalar:
        """What is there, 0 where nobody has written it."""
        if self.path.world.cell_of(address, size) is None and is_undefined(
            private.read(self.path.world, self.path.state, address, size)
        ):
            return ZERO
        return self.read(address, size)

    def write(self, address: int, value: Scalar, size: int = 4) -> None:
        path = self.path
        if not is_in_memory(path, address, size):
            if path.state.started:
                path.world.writes(path.process.number, address, size)
            private.write(path.world, path.state, address, size, value)
            return
        cell = self._cell(address, size)
        value = path.world.storable(value, size)
        path.world.may_hold(cell, value.values)
        self.ops.append(Write(cell, value.expr, MemoryOrder.PLAIN if self.drains else MemoryOrder.RELEASE))

    def wait_for(self, condition: Scalar) -> None:
        """The step is possible only where this is true."""
        if isinstance(condition, Unknown):
            self.ops.append(Guard(condition.expr))
        elif not condition.value:
            self.is_stuck = True

    def check(self, condition: Scalar, text: str) -> None:
        if isinstance(condition, Unknown):
            self.ops.append(Check(condition.expr, text))
        elif not condition.value:
            self.ops.append(Check(Known(0).expr, text))

    def finish(self, call: Call, result: Value | None = None) -> None:
        """The call returns; the step ends the way, unless it touched nothing shared."""
        if self.is_stuck:
            self.path.stop("stuck", self.ops, locked=True)
            return
        returned(self.path, call, result, meet=not self.ops)
        if self.ops and not self.path.ended:
            self.path.emit(self.ops, locked=self.drains)


def returned(path: Path, call: Call, result: Value | None, *, meet: bool = True) -> None:
    """Control is behind the call again."""
    if result is not None:
        path.set(call.result, result)
    if call.normal is not None:
        path.enter(call.normal, meet=meet)
