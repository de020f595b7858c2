"""Threads: how they are created, wait for their start, end, and are waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memfence.codes import Code
from memfence.failures import RETURN_FROM_MAIN
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.access import write_cells
from memfence.frontends.c.machine.arithmetic import compare
from memfence.frontends.c.machine.at_end import runs_at_thread_end
from memfence.frontends.c.machine.atomically import Atomically
from memfence.frontends.c.machine.ending import end_with_status
from memfence.frontends.c.machine.lifetime import end_variables
from memfence.frontends.c.machine.packing import part, plain
from memfence.frontends.c.machine.parameterised import create_parameterised, join_parameterised, refuse_identity
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Cell, Guard, Op
from memfence.frontends.c.machine.titles import thread_title
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Packed, Parts, Scalar, Unknown, Value
from memfence.frontends.c.machine.world import ARGUMENT, DONE, FLAG_BYTES, PARTLY, RESULT, STARTED, Restart, World
from memfence.program.expressions import Binary, Const, conjunction
from memfence.program.orders import MemoryOrder

MOST_THREADS_IN_A_LOOP = 64
MAIN = "main"
DETACHED, JOINED = Known(1), Known(2)
FIRST = 1 << 30
"""What the first thread is known by."""


def create_thread(path: Path, call: Call, handle: Scalar | None, function: Scalar, argument: Value, style: str) -> None:
    """Start a thread that runs `function(argument)`; its number is stored through `handle`."""
    functions = path.world.constants.functions
    used(function)
    if isinstance(function, Unknown):
        for address in function.values.addresses():
            copy = path.fork(Binary("==", function.expr, Const(address)))
            if copy is not None:
                create_thread(copy, call, handle, Known(address), argument, style)
        path.ended = True
        return
    symbol = functions.get(function.value)
    if symbol is None or not symbol.is_defined:
        raise path.refuse(Code.UNKNOWN_CALL, "the function of the new thread is not in the program")
    used(argument)
    if isinstance(argument, Parts):
        raise path.refuse(Code.UNSUPPORTED, "a struct as the argument of a thread")
    argument = plain(argument)
    _create(path, call, handle, symbol, argument, style)


def _create(path: Path, call: Call, handle: Scalar | None, symbol: Symbol, argument: Scalar, style: str) -> None:
    name = thread_title(path, symbol, handle)
    if name in path.world.any_number:
        create_parameterised(path, call, handle, symbol, name, argument, style, start_sharing(path))
        return
    refuse_identity(path, f"it creates threads of its own, of `{name}`")
    positions = path.state.positions()
    count = path.state.count(("create", positions))
    bound = path.world.options.threads_bound
    is_free = any(isinstance(op, Guard) for op in path.ops) or positions in path.world.endless
    most = bound if is_free else max(bound, MOST_THREADS_IN_A_LOOP)
    if count >= most:
        if not is_free:
            path.world.endless.add(positions)
            raise Restart("a loop creates threads without end")
        path.world.unbounded.add(name)
        path.world.note(f"at most {most} threads created at one place (--threads-bound)", is_cut=True)
        path.stop("bound")
        return
    if count:
        path.world.repeated.add(name)
    key = (path.process.number, positions, count)
    thread = path.world.thread(key, symbol, name, argument.values, style)
    assert thread.block is not None
    step = Atomically(path)
    step.ops.extend(start_sharing(path))
    if handle is not None and handle != ZERO:
        if not isinstance(handle, Known):
            raise path.refuse(Code.UNSUPPORTED, "the handle of a thread is stored at an address that is not known")
        step.write(handle.value, Known(thread.number), 8)
    if path.world.known_argument(thread) is None:
        step.write(thread.block.start + ARGUMENT, argument, 8)
    step.write(thread.block.start + STARTED, ONE)
    step.finish(call, ZERO)


def start_sharing(path: Path) -> list[Op]:
    """Before the first thread starts, all memory is the main thread's own; now others may see it.

    What is the same on every way here becomes the initial content of memory.
    """
    state, world = path.state, path.world
    if state.started:
        return []
    contents = {cell: private.read(world, state, cell.address, cell.size) for cell in _cells_to_write(path)}
    state.started = True
    ops = [op for cell, value in contents.items() for op in write_cells(path, [cell], value, MemoryOrder.PLAIN)]
    in_steps = {a for cell in contents for a in range(cell.address, cell.address + cell.size)}
    found: dict[int, int] = {}
    kept: dict[int, tuple[int, Value]] = {}
    for address, (size, value) in state.cells.items():
        assert not isinstance(value, Parts)
        if _is_stable(world, address, size, value):
            assert isinstance(value, Known)
            found.update((a, b) for a, b in _written_bytes(world, address, size, value) if a not in in_steps)
            continue
        for at, width in _outside(address, size, in_steps):
            kept[at] = (width, part(value, 8 * size, 8 * (at - address), 8 * width))
            world.writes(path.process.number, at, width)
    state.cells = kept
    _agree(world, found)
    return ops


def _is_stable(world: World, address: int, size: int, value: Value) -> bool:
    """Whether the memory holds the same, whatever happened before the first thread."""
    return isinstance(value, Known) and not any(a in world.unstable for a in range(address, address + size))


def _cells_to_write(path: Path) -> list[Cell]:
    """Shared cells of which some byte is not the same on every way here."""
    world, cells = path.world, path.state.cells
    unstable = [(a, size) for a, (size, value) in cells.items() if not _is_stable(world, a, size, value)]
    return sorted({cell for a, size in unstable for cell in world.cells_in(a, size)}, key=lambda cell: cell.address)


def _outside(address: int, size: int, without: set[int]) -> Iterator[tuple[int, int]]:
    """The range without some bytes, as ranges."""
    start = address
    for at in range(address, address + size + 1):
        if at in without or at == address + size:
            if at > start:
                yield start, at - start
            start = at + 1


def _written_bytes(world: World, address: int, size: int, value: Known) -> Iterator[tuple[int, int]]:
    """The bytes of which somebody has written a bit."""
    for position in range(size):
        undefined = value.undefined >> 8 * position & 255
        if undefined and undefined != 255:
            world.assumed.add(PARTLY)
        if undefined != 255:
            yield address + position, value.value >> 8 * position & 255


def _agree(world: World, found: dict[int, int]) -> None:
    """All ways to the first thread must leave the same memory; where they do not, it is written in steps."""
    if world.base is None:
        world.base = found
        return
    base = world.base
    different = {a for a in base.keys() | found.keys() if base.get(a) != found.get(a)}
    if different:
        world.unstable |= different
        raise Restart("memory differs between the ways to the first thread")


def finish_thread(path: Path, value: Value | None) -> None:
    """The thread's function has returned."""
    thread = path.process.thread
    if thread.block is None:
        is_status = path.world.options.entry == MAIN and isinstance(value, Known | Unknown)
        end_with_status(path, RETURN_FROM_MAIN, MAIN, value if is_status else ZERO, "exit")  # type: ignore[arg-type]
        return
    step = Atomically(path)
    if isinstance(value, Known | Unknown | Packed) and thread.number in path.world.results_wanted:
        step.write(thread.block.start + RESULT, plain(value), 8)
    step.ops.extend(end_variables(path))
    if not thread.is_parameterised:
        step.write(thread.block.start + DONE, ONE)
    path.stop("end", step.ops, locked=True)


def for_each_thread(path: Path, handle: Scalar, what: str, action: Callable[[Path, int], None]) -> None:
    """Do `action` with the number of the thread, in a fork for each that it may be. No thread is a finding."""
    numbers = sorted(path.world.thread_numbers.values())
    used(handle)
    if isinstance(handle, Known):
        number = handle.value
        if number == FIRST and path.process.number != 0:
            raise path.refuse(Code.UNSUPPORTED, f"the {what} of the thread of `main` is not followed")
        if number == own_handle(path):
            path.fail(f"{what} of a thread by itself")
        elif number not in numbers and number != FIRST:
            path.fail(f"{what} of something that is no thread")
        else:
            action(path, number)
        return
    possible = [number for number in (*numbers, FIRST) if handle.values.contains(number)]
    none = path.fork(conjunction(*(Binary("!=", handle.expr, Const(number)) for number in possible)))
    is_none = handle.values.has_interval or handle.values.is_open or handle.values.listed.difference(possible)
    if none is not None and is_none:
        none.fail(f"{what} of something that is no thread")
    for number in possible:
        copy = path.fork(Binary("==", handle.expr, Const(number)))
        if copy is not None:
            for_each_thread(copy, Known(number), what, action)
    path.ended = True


def detach_thread(path: Path, call: Call, handle: Scalar) -> None:
    """Nobody will join the thread."""

    def detach(p: Path, number: int) -> None:
        block = p.world.thread_block(number)
        step = Atomically(p)
        if block is not None and not p.world.is_parameterised(number):
            if not p.world.detaches:
                p.world.detaches = True
                raise Restart("whether a thread was joined or detached is kept")
            flag = block.start - FLAG_BYTES
            step.check(compare("eq", 32, step.read(flag), ZERO), "detach of a thread that was joined or detached")
            step.write(flag, DETACHED)
        step.finish(call, ZERO)

    if handle == Known(own_handle(path)):
        detach(path, path.process.number)
    else:
        for_each_thread(path, handle, "detach", detach)


def join_thread(path: Path, call: Call, handle: Scalar, result: Scalar, size: int = 8) -> None:
    """Wait for the end of a thread; its result is stored through `result`.

    A second join of the same thread returns at once, as programs that others call correct want it.
    """
    for_each_thread(path, handle, "join", lambda p, number: _join(p, call, number, result, size))


def _join(path: Path, call: Call, number: int, result: Scalar, size: int) -> None:
    world = path.world
    block = world.thread_block(number)
    assert block is not None
    thread = world.threads.get(number)
    if thread is not None and thread.is_parameterised:
        join_parameterised(path, call, thread, result)
        return
    world.joined.add(number)
    step = Atomically(path)
    step.wait_for(compare("eq", 32, step.read(block.start + DONE), ONE))
    if world.detaches:
        flag = block.start - FLAG_BYTES
        step.check(compare("ne", 32, step.read(flag), DETACHED), "join of a thread that was detached")
        step.write(flag, JOINED)
    if result != ZERO:
        if number not in world.results_wanted:
            world.results_wanted.add(number)
            raise Restart("the result of a thread is wanted")
        if not isinstance(result, Known):
            raise path.refuse(Code.UNSUPPORTED, "the result of a thread is stored at an address that is not known")
        step.write(result.value, step.read(block.start + RESULT, 8), size)
    step.finish(call, ZERO)


def exit_thread(path: Path, value: Value | None) -> None:
    """`pthread_exit`: all calls end."""
    if runs_at_thread_end(path):
        return
    if path.process.thread.block is None:
        path.world.exits = True
        if not path.world.first_may_end:
            path.world.first_may_end = True
            raise Restart("the first thread ends before the process")
        if path.world.at_exit:
            raise path.refuse(Code.UNSUPPORTED, "`main` ends its thread, and something runs at exit")
        path.stop("end", end_variables(path))
    else:
        finish_thread(path, value)


def own_number(path: Path) -> Scalar:
    refuse_identity(path, "it asks for its own number")
    return Known(own_handle(path))


def own_handle(path: Path) -> int:
    """What the thread is known by: no thread is known by 0."""
    return path.process.number or FIRST
