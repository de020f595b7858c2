"""Loads and stores: private memory at once, shared memory as steps, and what can be wrong with a pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from memfence.codes import Code
from memfence.frontends.c.llvm.types import ArrayType, StructType, Type, store_size_of
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.arithmetic import negation
from memfence.frontends.c.machine.memory import Object
from memfence.frontends.c.machine.packing import extended, packed, part
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Cell, Check, Guard, Op, Read, Write
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.value_sets import ADDRESS_BASE, UNWRITTEN, ValueSet
from memfence.frontends.c.machine.values import (
    UNDEFINED,
    Integer,
    Known,
    Packed,
    Parts,
    Scalar,
    Unknown,
    Value,
    is_undefined,
)
from memfence.frontends.c.machine.world import FLAG_BYTES, Access, Restart
from memfence.program.expressions import Binary, Const, Expr, Register, Unary, conjunction, disjunction
from memfence.program.orders import MemoryOrder

WIDEST_ACCESS = 16
"""Bytes of the widest access, which has to be atomic: `cmpxchg16b`."""

MOST_FORKS = 12
"""Objects that a pointer may point to before they are accessed by a computed index."""

ALIVE_OFFSET = FLAG_BYTES
"""The flag of a heap block that was freed, or of a variable that is gone, lies so many bytes before it."""

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
    return lost(found) if is_gone(path, found) else None


def is_gone(path: Path, found: Object) -> bool:
    """Whether the object is a local of this thread, of a call that is no longer open or a block that was left."""
    home = found.home
    if home is None or found.owner != path.process.number:
        return False
    if home.depth >= len(path.state.frames):
        return True
    frame = path.state.frames[home.depth]
    if (frame.symbol.module, frame.symbol.name) != (home.module, home.function):
        return True
    return home.local in frame.facts.scoped and home.local not in frame.alive


def lost(found: Object) -> str:
    """What is wrong with a use of the object that is gone."""
    if found.kind == "heap":
        return "use of freed memory"
    if found.kind == "thread-local":
        return "use of a thread-local variable of a thread that has ended"
    assert found.home is not None
    if found.home.in_block:
        return "use of a local variable of a block that was left"
    return "use of a local variable of a function that has returned"


def performed_order(order: MemoryOrder, volatile: bool) -> MemoryOrder:
    """A volatile access is performed as it is written, like a relaxed one: the compiler does not touch it."""
    return MemoryOrder.RELAXED if volatile and order is MemoryOrder.PLAIN else order


def is_in_memory(path: Path, address: int, size: int) -> bool:
    """Whether the access is a step of the explored program."""
    return path.state.started and path.world.is_shared(address, size)


def load(path: Path, result: str, type: Type, pointer: Scalar, order: MemoryOrder, volatile: bool) -> None:
    """`result := *pointer`."""
    order = performed_order(order, volatile)
    size, bits = size_of_access(path, type), path.bits_of(type)
    from memfence.frontends.c.machine.among import load_among, use_index

    if use_index(path, pointer, size):
        load_among(path, result, bits, pointer, size, order)
        return
    special = order is not MemoryOrder.PLAIN
    at_address(path, pointer, size, "load", lambda p, a: _load_at(p, result, bits, a, size, order, special))


def size_of_access(path: Path, type: Type) -> int:
    """The bytes that are loaded or stored at once."""
    size = store_size_of(type)
    if isinstance(type, StructType | ArrayType) or size > WIDEST_ACCESS:
        raise path.refuse(Code.UNSUPPORTED, f"an access of {size} bytes at once")
    return size


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
        path.set(result, part(value, 8 * size, 0, bits))
        if ops:
            path.emit(ops)
        return
    cells = path.world.share_now(address, size)
    if len(cells) > 1 or is_masked(path, result) or (is_copied(path, result) and cells[0].size != size):
        read_in_pieces(path, cells, address, size, order, ops, lambda p, v: p.set(result, part(v, 8 * size, 0, bits)))
        return
    cell, register = cells[0], path.scratch()
    if is_copied(path, result):
        known_values(path, cell)
        path.set(result, Unknown(Register(register), path.world.possible(cell)))
        path.emit([*ops, Read(register, cell, order)])
        return
    whole = Unknown(Register(register), known_values(path, cell))
    path.set(result, part(whole, 8 * cell.size, 8 * (address - cell.address), bits))
    path.emit([*ops, Read(register, cell, order), *is_written(path, register, cell)])


def read_in_pieces(
    path: Path,
    cells: Sequence[Cell],
    address: int,
    size: int,
    order: MemoryOrder,
    before: Sequence[Op],
    finish: Callable[[Path, Integer], None],
) -> None:
    """One step that reads all the cells; `finish` gets the value in the range, and the way on goes behind the step.

    A way for each choice of cells that nobody has written: what is in them is undefined.
    """
    registers = [path.scratch() for _ in cells]
    reads = [Read(r, cell, order, split=len(cells) > 1) for r, cell in zip(registers, cells, strict=True)]
    choices = [_contents(path, r, cell) for r, cell in zip(registers, cells, strict=True)]
    first = cells[0].address
    bits = 8 * (cells[-1].address + cells[-1].size - first)
    for choice in product(*choices):
        whole = packed((8 * cell.size, value) for cell, (value, _) in zip(cells, choice, strict=True))
        guards = [guard for _, guard in choice if guard is not None]
        copy = path.fork()
        assert copy is not None
        finish(copy, part(whole, bits, 8 * (address - first), 8 * size))
        copy.emit([*before, *reads, *guards])
    path.ended = True


def _contents(path: Path, register: int, cell: Cell) -> list[tuple[Scalar, Guard | None]]:
    """What was read into the register may be: a value, or nothing that anybody has written; each with its guard."""
    values = known_values(path, cell)
    if UNWRITTEN not in path.world.possible(cell).listed:
        return [(Unknown(Register(register), values), None)]
    unwritten = Binary("==", Register(register), Const(UNWRITTEN))
    found: list[tuple[Scalar, Guard | None]] = [(UNDEFINED, Guard(unwritten))]
    return found if values.is_empty else [(Unknown(Register(register), values), Guard(negation(unwritten))), *found]


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


def written(path: Path, value: Integer, name: str) -> Integer:
    """A value of the thread's own, which may have been copied from shared memory that nobody has written."""
    if isinstance(value, Packed):
        pieces = [(bits, written(path, piece, name)) for bits, piece in value.pieces]
        return packed((bits, piece) for bits, piece in pieces if not isinstance(piece, Packed))
    if not isinstance(value, Unknown) or UNWRITTEN not in value.values.listed or path.ended:
        return value
    path.check(Binary("!=", value.expr, Const(UNWRITTEN)), f"read of uninitialised memory: {name}")
    return Unknown(value.expr, value.values.without(UNWRITTEN))


def is_own_stack(path: Path, address: int) -> bool:
    found = path.world.space.at(address)
    return found is not None and found.kind == "stack" and found.owner == path.process.number


def known_values(path: Path, cell: Cell) -> ValueSet:
    """What the cell may hold; the location is looked at again when that grows."""
    path.process.depend(path.location.number, cell.address)
    return path.world.possible(cell).without(UNWRITTEN)


def alive_ops(path: Path, address: int) -> list[Op]:
    """The test that a heap block was not freed, or that a variable of another thread lives, where that is not known."""
    found = path.world.space.at(address)
    if found is None or not may_be_dead(path, found):
        return []
    text = f"{lost(found)}: {found.name}"
    flag = found.start - ALIVE_OFFSET
    if not is_in_memory(path, flag, 4):
        if path.state.started:
            path.world.reads(path.process.number, flag, 4)
        freed = private.number(path.world, path.state, flag, 4)
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
    """Whether the object has a flag that says so. That of a variable is there once another thread uses the variable."""
    if found.kind == "heap":
        return found.start in path.world.freed
    is_variable = found.kind == "thread-local" or found.home is not None
    if not is_variable or found.owner == path.process.number or path.world.lasts(found):
        return False
    if found.start not in path.world.mortal:
        path.world.mortal.add(found.start)
        raise Restart(f"{found.name} is used by several threads")
    return True


def store(path: Path, type: Type, value: Value, pointer: Scalar, order: MemoryOrder, volatile: bool) -> None:
    """`*pointer := value`."""
    order = performed_order(order, volatile)
    size = size_of_access(path, type)
    assert not isinstance(value, Parts)
    value = extended("zext", path.bits_of(type), 8 * size, value) if path.bits_of(type) % 8 else value
    from memfence.frontends.c.machine.among import store_among, use_index

    if use_index(path, pointer, size):
        store_among(path, value, pointer, size, order)
        return
    special = order is not MemoryOrder.PLAIN
    at_address(path, pointer, size, "store", lambda p, a: _store_at(p, value, a, size, order, special))


def is_constant(path: Path, address: int) -> bool:
    """Whether what lies there may not be written, which then is a finding."""
    read_only = path.world.constants.read_only
    placed = path.world.space.at(address) if read_only else None
    if placed is None or placed.start not in read_only:
        return False
    path.fail(f"write to {read_only[placed.start]}")
    return True


def _store_at(path: Path, value: Integer, address: int, size: int, order: MemoryOrder, special: bool) -> None:
    if is_constant(path, address):
        return
    access = Access.WHOLE_STORE if special and order is not MemoryOrder.SEQ_CST else Access.STORE
    if special and path.state.started and not is_own_stack(path, address):
        path.world.share_now(address, size, access)
    ops = alive_ops(path, address)
    if not is_in_memory(path, address, size):
        if path.state.started:
            path.world.writes(path.process.number, address, size)
        private.write(path.world, path.state, address, size, value)
        if ops:
            path.emit(ops)
        return
    if order is MemoryOrder.PLAIN and is_undefined(value):
        for at, width, _ in private.in_whole_bytes(value, size):
            path.world.share_now(address + at, width, Access.STORE)
    cells = path.world.share_now(address, size, access)
    path.emit([*ops, *write_cells(path, cells, value, order)])


def write_cells(path: Path, cells: Sequence[Cell], value: Integer, order: MemoryOrder) -> list[Op]:
    """The ops that write all the cells, each with its part of the value."""
    first = cells[0].address
    bits = 8 * (cells[-1].address + cells[-1].size - first)
    guards: list[Op] = []
    writes: list[Op] = []
    for cell in cells:
        stored = path.world.storable(part(value, bits, 8 * (cell.address - first), 8 * cell.size), cell.size)
        guards += path.world.unmistakable(cell, stored)
        path.world.may_hold(cell, stored.values)
        writes.append(Write(cell, stored.expr, order, split=len(cells) > 1))
    return [*guards, *writes]
