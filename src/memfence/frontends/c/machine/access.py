"""Loads and stores: private memory at once, shared memory as steps, and what can be wrong with a pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfence.codes import Code
from memfence.frontends.c.llvm.types import ArrayType, StructType, Type, size_of
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.arithmetic import compute
from memfence.frontends.c.machine.memory import Object
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Cell, Check, Op, Read, Write
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.value_sets import ADDRESS_BASE, UNWRITTEN, ValueSet, just
from memfence.frontends.c.machine.values import Known, Parts, Scalar, Unknown, Value
from memfence.frontends.c.machine.wide import is_wide
from memfence.frontends.c.machine.world import BEYOND, FLAG_BYTES, PARTLY, Restart
from memfence.program.expressions import Binary, Conditional, Const, Expr, Register, Unary, conjunction, disjunction
from memfence.program.orders import MemoryOrder

MOST_FORKS = 12
"""Objects that a pointer may point to before they are accessed by a computed index."""

ALIVE_OFFSET = FLAG_BYTES
"""The flag of a heap block that was freed, or of a local that is gone, lies so many bytes before it."""

DEAD = "use of a local variable of a function that has returned"

ANYWHERE = "a pointer is computed in a way that memfence does not follow: it may point anywhere"
ANYWHERE_HINT = "use an index into an array, or a pointer that is assigned as a whole"

NUMBERS = "a number that is used as a pointer is only followed to where pointers of its variable point"

Action = Callable[[Path, int], None]


def at_address(path: Path, pointer: Scalar, size: int, what: str, action: Action) -> None:
    """Do `action` with the address, in a fork for each address that the pointer may be. A bad pointer is a finding."""
    used(pointer)
    if isinstance(pointer, Known):
        problem = problem_with(path, pointer.value, size)
        if problem is None:
            action(path, pointer.value)
        else:
            path.fail(f"{problem}: {what}")
        return
    good = [a for a in pointer.values.addresses() if problem_with(path, a, size) is None]
    fork_if_bad(path, pointer, good, size, what)
    for address in good:
        copy = path.fork(Binary("==", pointer.expr, Const(address)))
        if copy is not None:
            action(copy, address)
    path.ended = True


def fork_if_bad(path: Path, pointer: Scalar, good: Sequence[int], size: int, what: str) -> None:
    """The fork in which the pointer is none of the `good` addresses."""
    values = pointer.values
    others = values.listed.difference(good)
    if not others and not values.has_interval and not values.is_open:
        return
    is_number = values.has_interval and values.hi >= ADDRESS_BASE
    if (values.is_open and not values.listed) or (is_number and not 0 < len(good) <= MOST_FORKS):
        raise path.refuse(Code.UNSUPPORTED, ANYWHERE, ANYWHERE_HINT)
    problem = next((p for a in sorted(others) if (p := problem_with(path, a, size))), "invalid pointer")
    bad = conjunction(*(Binary("!=", pointer.expr, Const(a)) for a in good))
    if len(good) > MOST_FORKS:
        bad = disjunction(Binary("<", pointer.expr, Const(good[0])), Binary(">", pointer.expr, Const(good[-1])))
    if is_number:
        bad = conjunction(bad, _cut_elsewhere(path, pointer, bad))
    failing = path.fork(bad)
    if failing is not None:
        failing.fail(f"{problem}: {what}")


def _cut_elsewhere(path: Path, pointer: Scalar, bad: Expr) -> Expr:
    """A number may be the address of anything: runs in which the pointer is no address that was assigned to it are cut
    off. Returns what remains: it points nowhere, or to what it was assigned."""
    listed = [Binary("==", pointer.expr, Const(a)) for a in pointer.values.addresses()]
    known = disjunction(Binary("<", pointer.expr, Const(ADDRESS_BASE)), *listed)
    elsewhere = path.fork(conjunction(bad, Unary("!", known)))
    if elsewhere is not None:
        path.world.note(NUMBERS, is_cut=True)
        elsewhere.stop("bound")
    return known


def problem_with(path: Path, address: int, size: int) -> str | None:
    """Why `size` bytes at the address cannot be accessed."""
    if 0 <= address < 4096:
        return "null pointer dereference"
    found = path.world.space.at(address)
    if found is None or found.kind == "function":
        return "access out of bounds" if address >= ADDRESS_BASE else "invalid pointer"
    if address + size > found.end:
        return "access out of bounds"
    return DEAD if has_returned(path, found) else None


def has_returned(path: Path, found: Object) -> bool:
    """Whether the object is a local of a call of this thread that is no longer open."""
    if found.frame is None or found.owner != path.process.number:
        return False
    depth, module, function = found.frame
    if depth >= len(path.state.frames):
        return True
    symbol = path.state.frames[depth].symbol
    return (symbol.module, symbol.name) != (module, function)


def performed_order(order: MemoryOrder, volatile: bool) -> MemoryOrder:
    """A volatile access is performed as it is written, like a relaxed one: the compiler does not touch it."""
    return MemoryOrder.RELAXED if volatile and order is MemoryOrder.PLAIN else order


def is_in_memory(path: Path, address: int, size: int) -> bool:
    """Whether the access is a step of the explored program."""
    return path.state.started and path.world.is_shared(address, size)


def load(path: Path, result: str, type: Type, pointer: Scalar, order: MemoryOrder, volatile: bool) -> None:
    """`result := *pointer`."""
    order = performed_order(order, volatile)
    if isinstance(type, StructType | ArrayType):
        from memfence.frontends.c.machine.struct_access import load_parts

        load_parts(path, result, type, pointer)
        return
    size = size_of(type)
    bits = path.bits_of(type)
    if size > 8:
        raise path.refuse(Code.UNSUPPORTED, f"an access of {size} bytes at once")
    from memfence.frontends.c.machine.among import load_among, use_index

    if use_index(path, pointer, size):
        load_among(path, result, bits, pointer, size, order)
        return
    special = order is not MemoryOrder.PLAIN
    at_address(path, pointer, size, "load", lambda p, a: _load_at(p, result, bits, a, size, order, special))


def _load_at(path: Path, result: str, bits: int, address: int, size: int, order: MemoryOrder, special: bool) -> None:
    if special and path.state.started and not is_own_stack(path, address):
        path.world.share_now(address, size)
    ops = alive_ops(path, address)
    if not is_in_memory(path, address, size):
        if path.state.started:
            path.world.reads(path.process.number, address, size)
        value = private.read(path.world, path.state, address, size)
        if not is_copied(path, result):
            value = written(path, value, path.world.space.name_of(address, size))
        if path.ended:
            return
        path.set(result, narrow(value, bits))
        if ops:
            path.emit(ops)
        return
    cell = path.world.share_now(address, size)
    if cell.size > 8:
        raise path.refuse(
            Code.UNSUPPORTED, f"`{path.world.space.name_of(address, size)}` is accessed in pieces of different size"
        )
    if cell.size != size and path.world.codes.among(path.world.possible(cell)):
        raise path.refuse(Code.UNSUPPORTED, "a part of an integer of 64 bits that needs more than 32")
    register = path.scratch()
    checks: list[Op] = []
    if is_masked(path, result):
        whole = or_zero(path, register, cell)
    elif is_copied(path, result) and cell.size == size:
        known_values(path, cell)
        whole = Unknown(Register(register), path.world.possible(cell))
    else:
        whole, checks = Unknown(Register(register), known_values(path, cell)), is_written(path, register, cell)
    path.set(result, narrow(private.part_of(whole, 8 * cell.size, address - cell.address, size), bits))
    path.emit([*ops, Read(register, cell, order), *checks])


def is_masked(path: Path, result: str) -> bool:
    """Whether the value is loaded to change some of its bits alone, as for a write to a bit-field."""
    return result in path.state.top.facts.masked


def is_copied(path: Path, result: str) -> bool:
    """Whether all that happens to the value is that it is stored again."""
    return result in path.state.top.facts.copied


def is_written(path: Path, register: int, cell: Cell) -> list[Op]:
    """The test that somebody has written the cell that was read into the register, where that is not known."""
    if UNWRITTEN not in path.world.possible(cell).listed:
        return []
    text = f"read of uninitialised memory: {path.world.space.name_of(cell.address, cell.size)}"
    return [Check(Binary("!=", Register(register), Const(UNWRITTEN)), text)]


def or_zero(path: Path, register: int, cell: Cell) -> Unknown:
    """What was read into the register, or 0 where nobody has written the cell."""
    values = known_values(path, cell)
    if UNWRITTEN not in path.world.possible(cell).listed:
        return Unknown(Register(register), values)
    path.world.note(PARTLY)
    is_unwritten = Binary("==", Register(register), Const(UNWRITTEN))
    return Unknown(Conditional(is_unwritten, Const(0), Register(register)), values.join(just(0)))


def written(path: Path, value: Scalar, name: str) -> Scalar:
    """A value of the thread's own, which may have been copied from shared memory that nobody has written."""
    if not isinstance(value, Unknown) or UNWRITTEN not in value.values.listed:
        return value
    path.check(Binary("!=", value.expr, Const(UNWRITTEN)), f"read of uninitialised memory: {name}")
    return Unknown(value.expr, value.values.without(UNWRITTEN))


def narrow(value: Scalar, bits: int) -> Scalar:
    """A truth value is loaded as a byte, but is 0 or 1."""
    if bits == 1:
        return compute("and", 8, value, Known(1))
    return value


def is_own_stack(path: Path, address: int) -> bool:
    found = path.world.space.at(address)
    return found is not None and found.kind == "stack" and found.owner == path.process.number


def known_values(path: Path, cell: Cell) -> ValueSet:
    """What the cell may hold; the location is looked at again when that grows."""
    path.process.depend(path.location.number, cell.address)
    return path.world.possible(cell).without(UNWRITTEN)


def alive_ops(path: Path, address: int) -> list[Op]:
    """The test that a heap block was not freed, or that a local of another thread lives, where that is not known."""
    found = path.world.space.at(address)
    if found is None or not may_be_dead(path, found):
        return []
    text = f"use of freed memory: {found.name}" if found.kind == "heap" else f"{DEAD}: {found.name}"
    flag = found.start - ALIVE_OFFSET
    if not is_in_memory(path, flag, 4):
        if path.state.started:
            path.world.reads(path.process.number, flag, 4)
        freed = private.read(path.world, path.state, flag, 4)
        if freed != Known(0):
            path.check(Binary("==", freed.expr, Const(0)), text)
        return []
    register = path.scratch()
    known_values(path, Cell(flag, 4))
    return [
        Read(register, Cell(flag, 4)),
        Check(Binary("==", Register(register), Const(0)), text),
    ]


def may_be_dead(path: Path, found: Object) -> bool:
    """Whether the object has a flag that says so. The flag of a local is there once another thread uses the local."""
    if found.kind == "heap":
        return found.start in path.world.freed
    if found.frame is None or found.owner == path.process.number or (found.owner == 0 and found.frame[0] == 0):
        return False
    if found.start not in path.world.mortal:
        path.world.mortal.add(found.start)
        raise Restart(f"{found.name} is used by several threads")
    return True


def store(path: Path, type: Type, value: Value, pointer: Scalar, order: MemoryOrder, volatile: bool) -> None:
    """`*pointer := value`."""
    order = performed_order(order, volatile)
    if isinstance(value, Parts):
        from memfence.frontends.c.machine.struct_access import store_parts

        store_parts(path, type, value, pointer)
        return
    size = size_of(type)
    if size > 8:
        raise path.refuse(Code.UNSUPPORTED, f"an access of {size} bytes at once")
    from memfence.frontends.c.machine.among import store_among, use_index

    if use_index(path, pointer, size):
        store_among(path, value, pointer, size, order)
        return
    special = order is not MemoryOrder.PLAIN
    at_address(path, pointer, size, "store", lambda p, a: _store_at(p, value, a, size, order, special))


def _store_at(path: Path, value: Scalar, address: int, size: int, order: MemoryOrder, special: bool) -> None:
    if special and path.state.started and not is_own_stack(path, address):
        path.world.share_now(address, size)
    ops = alive_ops(path, address)
    if not is_in_memory(path, address, size):
        if path.state.started:
            path.world.writes(path.process.number, address, size)
        private.write(path.world, path.state, address, size, value)
        if ops:
            path.emit(ops)
        return
    cell = path.world.share_now(address, size)
    if cell.size != size:
        name = path.world.space.name_of(address, size)
        raise path.refuse(Code.UNSUPPORTED, f"`{name}` is stored to in pieces of different size")
    write_cell(path, cell, value, order, ops)


def stop_beyond(path: Path, value: Scalar) -> bool:
    """Cut the run off where it stores an integer beyond 32 bits for which there is no code left."""
    if not isinstance(value, Known) or not is_wide(value.value):
        return False
    path.world.note(BEYOND, is_cut=True)
    path.stop("bound")
    return True


def write_cell(path: Path, cell: Cell, value: Scalar, order: MemoryOrder, before: Sequence[Op] = ()) -> None:
    guards = path.world.unmistakable(cell, value)
    value = path.world.storable(value, cell.size)
    if stop_beyond(path, value):
        return
    guards += path.world.reach_of(value)
    path.world.may_hold(cell, value.values)
    path.emit([*before, *guards, Write(cell, value.expr, order)])
