"""One locked step of a library function: several reads and writes at once, of private and shared memory alike."""

from __future__ import annotations

from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import is_in_memory, is_written, known_values, write_cells
from memfence.frontends.c.machine.packing import packed, part, plain
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Check, Guard, Op, Pause, Read
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import ZERO, Known, Scalar, Unknown, Value, is_undefined
from memfence.frontends.c.machine.world import Access
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

    def read(self, address: int, size: int = 4, order: MemoryOrder | None = None) -> Scalar:
        """What is there. `order`: for models that know no locked steps; None: as `axiomatic.synchronised` sees it."""
        path = self.path
        order = order or (MemoryOrder.PLAIN if self.drains else MemoryOrder.ACQUIRE)
        if not is_in_memory(path, address, size):
            if path.state.started:
                path.world.reads(path.process.number, address, size)
            return used(private.number(path.world, path.state, address, size))
        cells = path.world.share_now(address, size)
        found: list[tuple[int, Scalar]] = []
        for cell in cells:
            register = path.scratch()
            self.ops.append(Read(register, cell, order, split=len(cells) > 1))
            self.ops.extend(is_written(path, register, cell))
            found.append((8 * cell.size, Unknown(Register(register), known_values(path, cell))))
        first, bits = cells[0].address, sum(width for width, _ in found)
        return plain(part(packed(found), bits, 8 * (address - first), 8 * size))

    def read_or_zero(self, address: int, size: int = 4) -> Scalar:
        """What is there, 0 where nobody has written it."""
        if not self.path.world.cells_in(address, size) and is_undefined(
            private.read(self.path.world, self.path.state, address, size)
        ):
            return ZERO
        return self.read(address, size)

    def write(self, address: int, value: Scalar, size: int = 4, order: MemoryOrder | None = None) -> None:
        path = self.path
        order = order or (MemoryOrder.PLAIN if self.drains else MemoryOrder.RELEASE)
        if not is_in_memory(path, address, size):
            if path.state.started:
                path.world.writes(path.process.number, address, size)
            private.write(path.world, path.state, address, size, value)
            return
        cells = path.world.share_now(address, size, Access.STORE)
        self.ops += write_cells(path, cells, value, order)

    def pause(self) -> None:
        """What comes now could be a step of its own."""
        if self.ops:
            self.ops.append(Pause())

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

    def finish_if_possible(self, call: Call, result: Value | None = None, remark: str = "") -> None:
        """The same, where the thread could do something else: nothing happens where the step is never possible."""
        if self.is_stuck:
            self.path.ended = True
        self.finish(call, result, remark)

    def finish(self, call: Call, result: Value | None = None, remark: str = "") -> None:
        """The call returns; the step ends the way, unless it touched nothing shared."""
        if self.path.ended:
            return
        if self.is_stuck:
            self.path.stop("stuck", self.ops, locked=True)
            return
        returned(self.path, call, result, meet=not self.ops)
        if self.ops and not self.path.ended:
            self.path.emit(self.ops, locked=self.drains, remark=remark)


def returned(path: Path, call: Call, result: Value | None, *, meet: bool = True) -> None:
    """Control is behind the call again."""
    if result is not None:
        path.set(call.result, result)
    if call.normal is not None:
        path.enter(call.normal, meet=meet)
