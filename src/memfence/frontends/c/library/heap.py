"""The heap: every call of `malloc` gives a block of its own, so many at each place as `--heap-bound` allows."""

from __future__ import annotations

from collections.abc import Callable

from memfence.codes import Code
from memfence.frontends.c.library.arguments import for_each_number, known, number
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import ALIVE_OFFSET, is_in_memory, known_values
from memfence.frontends.c.machine.arithmetic import compare
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.copying import copy
from memfence.frontends.c.machine.memory import UNIT
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Cell, Check, Op, Read, Write
from memfence.frontends.c.machine.titles import block_title
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Scalar, Unknown, Value
from memfence.frontends.c.machine.world import Restart
from memfence.program.expressions import Binary, Const, Register, conjunction

PAGE, POINTER_BYTES = 4096, 8
SIZE = "the size of a heap block"
INVALID = Known(22)
"""EINVAL."""
ALIGNED_NEW = "_ZnwmSt11align_val_t"
INSIDE_THREADS = ("/__thread/", "/bits/std_thread.h")
"""Where libc++ and libstdc++ allocate what a `std::thread` hands over to its function."""


def allocate(path: Path, call: Call, size: int, *, zero: bool = False, alignment: int = UNIT) -> None:
    """The result is a fresh block that nobody has written, or that is `zero`; at a multiple of `alignment`."""
    state = path.state
    positions = state.positions()
    count = state.count(("malloc", positions))
    most = path.world.options.heap_bound if state.started else 4096
    if count >= most:
        path.world.note(f"at most {most} heap blocks from one place (--heap-bound)", is_cut=True)
        path.stop("bound")
        return
    if not state.started:
        key: object = ("heap", path.process.number, "early", positions, count, size)
    else:
        key = ("heap", path.process.number, positions, count, size)
    placed = path.world.space.find(key)
    if placed is None:
        title, type = block_title(path, call)
        same = sum(o.kind == "heap" and o.name.rpartition("#")[0] == title for o in path.world.space.all())
        owner, debug = path.process.number, path.debug_of(state.top)
        placed = path.world.space.place(
            key, size, f"{title}#{same + 1}", "heap", debug, type, owner, alignment=alignment
        )
        path.world.allocated[placed.start] = path.shown_place
        if path.place is not None and any(part in path.place.path for part in INSIDE_THREADS):
            path.world.internal.add(placed.start)
    if zero:
        path.world.space.images.setdefault(placed.start, bytearray(size))
    returned(path, call, Known(placed.start))


def _malloc(path: Path, call: Call, arguments: list[Value]) -> None:
    for_each_number(path, arguments, 0, SIZE, lambda p, size: allocate(p, call, size))


def _calloc(path: Path, call: Call, arguments: list[Value]) -> None:
    def act(p: Path, count: int) -> None:
        for_each_number(p, arguments, 1, SIZE, lambda q, size: allocate(q, call, count * size, zero=True))

    for_each_number(path, arguments, 0, SIZE, act)


def _aligned(alignment_at: int, size_at: int) -> Handler:
    """A function with these positions of its arguments. No memory for an alignment that is none."""

    def run(path: Path, call: Call, arguments: list[Value]) -> None:
        alignment = known(path, arguments, alignment_at, "the alignment of a heap block")
        size = known(path, arguments, size_at, SIZE)
        if not _is_alignment(alignment):
            returned(path, call, ZERO)
        else:
            allocate(path, call, size, alignment=max(alignment, UNIT))

    return run


def _is_alignment(number: int) -> bool:
    """Whether it is a power of two."""
    return number > 0 and number & (number - 1) == 0


def _on_pages(path: Path, call: Call, arguments: list[Value]) -> None:
    allocate(path, call, known(path, arguments, 0, SIZE), alignment=PAGE)


def _posix_memalign(path: Path, call: Call, arguments: list[Value]) -> None:
    from memfence.frontends.c.llvm.types import POINTER
    from memfence.frontends.c.machine.access import store
    from memfence.program.orders import MemoryOrder

    alignment = known(path, arguments, 1, "the alignment of a heap block")
    size = known(path, arguments, 2, "the size of a heap block")
    if not _is_alignment(alignment) or alignment % POINTER_BYTES:
        returned(path, call, INVALID)
        return
    hidden = Call("!block", call.type, call.callee, call.arguments, call.place)
    allocate(path, hidden, size, alignment=max(alignment, UNIT))
    if path.ended:
        return
    block = path.state.top.env.pop("!block")
    path.set(call.result, ZERO)
    store(path, POINTER, block, number(path, arguments, 0), MemoryOrder.PLAIN, False)


def _realloc(path: Path, call: Call, arguments: list[Value]) -> None:
    def act(p: Path, size: int) -> None:
        _for_each_block(p, number(p, arguments, 0), "realloc", lambda q, old: _move(q, call, old, size), is_redone=True)

    for_each_number(path, arguments, 1, SIZE, act)


def _move(path: Path, call: Call, old: int, size: int) -> None:
    """A new block, a copy, and the end of the old block; the call is done again where the copy has become a step."""
    if old == 0:
        allocate(path, call, size)
        return
    if size == 0:
        raise path.refuse(Code.UNSUPPORTED, "`realloc` to no bytes")
    placed = path.world.space.at(old)
    if placed is None or placed.kind != "heap" or placed.start != old:
        path.fail("realloc of something that is no heap block")
        return
    moved = ("realloc", path.state.positions())
    if moved not in path.state.counts:
        allocate(path, Call("!moved", call.type, call.callee, call.arguments, call.place), size)
        if path.ended:
            return
        block = path.state.top.env.pop("!moved")
        assert isinstance(block, Known)
        path.state.counts[moved] = block.value
    target = path.state.counts[moved]
    if copy(path, ("moved bytes", path.state.positions()), target, old, min(size, placed.size)):
        del path.state.counts[moved]
        path.set(call.result, Known(target))
        _free_at(path, call, old)


def free(path: Path, call: Call, arguments: list[Value]) -> None:
    _for_each_block(path, number(path, arguments, 0), "free", lambda p, address: _free_at(p, call, address))


def _for_each_block(
    path: Path, pointer: Scalar, what: str, action: Callable[[Path, int], None], *, is_redone: bool = False
) -> None:
    """Do `action` with the address, in a fork for each that the pointer may be. What is no address is a finding.

    `is_redone`: the instruction may be done again later in the action.
    """
    if isinstance(pointer, Known):
        action(path, pointer.value)
        return
    addresses = sorted(pointer.values.listed)
    if pointer.values.has_interval or pointer.values.is_open:
        none = path.fork(conjunction(*(Binary("!=", pointer.expr, Const(address)) for address in addresses)))
        if none is not None:
            none.fail(f"{what} of something that is no heap block")
    for address in addresses:
        fork = path.fork_with(pointer, address) if is_redone else path.fork(Binary("==", pointer.expr, Const(address)))
        if fork is not None:
            action(fork, address)
    path.ended = True


def _free_at(path: Path, call: Call, address: int) -> None:
    world = path.world
    if address == 0:
        returned(path, call, None)
        return
    placed = world.space.at(address)
    if placed is None or placed.kind != "heap" or placed.start != address:
        path.fail("free of something that is no heap block")
        return
    if path.state.started and address not in world.freed:
        world.freed.add(address)
        raise Restart(f"{placed.name} is freed")
    if (place := path.shown_place) is not None:
        world.freed_at.setdefault(address, set()).add(place)
    flag = address - ALIVE_OFFSET
    text = f"double free: {placed.name}"
    if not is_in_memory(path, flag, 4):
        if path.state.started:
            world.reads(path.process.number, flag, 4)
            world.writes(path.process.number, flag, 4)
        else:
            world.freed.add(address)
        freed = private.number(world, path.state, flag, 4)
        if isinstance(freed, Unknown):
            path.check(compare("eq", 32, freed, ZERO).expr, text)
        elif freed.value:
            path.fail(text)
        if not path.ended:
            private.write(world, path.state, flag, 4, ONE)
            returned(path, call, None)
        return
    register = path.scratch()
    known_values(path, Cell(flag, 4))
    world.may_hold(Cell(flag, 4), ONE.values)
    ops: list[Op] = [
        Read(register, Cell(flag, 4)),
        Check(Binary("==", Register(register), Const(0)), text),
        Write(Cell(flag, 4), Const(1), direct=True),
    ]
    returned(path, call, None, meet=False)
    path.emit(ops)


FUNCTIONS: dict[str, Handler] = {
    "malloc": _malloc,
    "valloc": _on_pages,
    "calloc": _calloc,
    "realloc": _realloc,
    "aligned_alloc": _aligned(0, 1),
    "memalign": _aligned(0, 1),
    ALIGNED_NEW: _aligned(1, 0),
    "posix_memalign": _posix_memalign,
    "free": free,
    "cfree": free,
}
