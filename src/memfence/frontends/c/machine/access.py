"""Loads and stores: private memory at once, shared memory as steps, and what can be wrong with a pointer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memfence.codes import Code
from memfence.frontends.c.llvm.types import ArrayType, StructType, Type, size_of
from memfence.frontends.c.machine import private
from memfence.frontends.c.machine.arithmetic import compute, unwrapped
from memfence.frontends.c.machine.memory import Object
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Among, Cell, Check, Guard, Modify, Op, Read, UpdateKind, Write
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.value_sets import ADDRESS_BASE, UNWRITTEN, ValueSet, just, listed, range_of_bits
from memfence.frontends.c.machine.values import Known, Parts, Scalar, Unknown, Value
from memfence.frontends.c.machine.world import PARTLY, Restart
from memfence.program.expressions import Binary, Conditional, Const, Register, conjunction, disjunction
from memfence.program.orders import MemoryOrder

MOST_FORKS = 12
"""Objects that a pointer may point to before they are accessed by a computed index."""

FEW_ELEMENTS = 4
"""Elements of one array that are accessed case by case."""

ALIVE_OFFSET = 8
"""The flag of a heap block that was freed, or of a local that is gone, lies so many bytes before it."""

DEAD = "use of a local variable of a function that has returned"

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
    problem = next((p for a in sorted(others) if (p := problem_with(path, a, size))), "invalid pointer")
    bad = conjunction(*(Binary("!=", pointer.expr, Const(a)) for a in good))
    if len(good) > MOST_FORKS:
        bad = disjunction(Binary("<", pointer.expr, Const(good[0])), Binary(">", pointer.expr, Const(good[-1])))
    failing = path.fork(bad)
    if failing is not None:
        failing.fail(f"{problem}: {what}")


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


def write_cell(path: Path, cell: Cell, value: Scalar, order: MemoryOrder, before: Sequence[Op] = ()) -> None:
    guards = [*path.world.unmistakable(cell, value), *path.world.reach_of(value)]
    value = path.world.storable(value, cell.size)
    path.world.may_hold(cell, value.values)
    path.emit([*before, *guards, Write(cell, value.expr, order)])


# Pointers with very many targets.


def use_index(path: Path, pointer: Scalar, size: int) -> bool:
    """Whether the pointer has so many targets, or is so plainly an index of one array, that it stays a computation."""
    if not isinstance(pointer, Unknown) or not path.state.started or len(pointer.values.listed) <= FEW_ELEMENTS:
        return False
    good = [a for a in pointer.values.addresses() if problem_with(path, a, size) is None]
    objects = {found.start: found for a in good if (found := path.world.space.at(a)) is not None}
    if any(may_be_dead(path, found) for found in objects.values()):
        return False
    if len(good) > MOST_FORKS:
        return True
    return len(good) > FEW_ELEMENTS and path.world.space.at(good[0]) is path.world.space.at(good[-1])


def among(path: Path, pointer: Scalar, size: int) -> Among:
    """All cells that the pointer may mean; where it means none of them, that is an error."""
    good = [a for a in pointer.values.addresses() if problem_with(path, a, size) is None]
    for address in good:
        path.world.share(address, size)
        cell = path.world.cell_of(address, size)
        if cell is not None and cell.size != size:
            raise path.refuse(Code.UNSUPPORTED, "an array is accessed in pieces of different size")
    fork_if_bad(path, pointer, good, size, "access")
    return Among(tuple(good), size, pointer.expr)


def load_among(path: Path, result: str, bits: int, pointer: Scalar, size: int, order: MemoryOrder) -> None:
    target = among(path, pointer, size)
    register = path.scratch()
    values = listed(())
    checks: list[Op] = []
    for address in target.cells:
        values = values.join(known_values(path, Cell(address, size)))
        if is_copied(path, result):
            values = values.join(path.world.possible(Cell(address, size)))
        else:
            checks = checks or is_written(path, register, Cell(address, size))
    path.set(result, narrow(Unknown(Register(register), values), bits))
    path.emit([*in_bounds(target), Read(register, target, order), *checks])


def store_among(path: Path, value: Scalar, pointer: Scalar, size: int, order: MemoryOrder) -> None:
    target = among(path, pointer, size)
    guards: list[Op] = []
    for address in target.cells:
        guards = guards or path.world.unmistakable(Cell(address, size), value)
    guards += path.world.reach_of(value)
    value = path.world.storable(value, size)
    for address in target.cells:
        path.world.may_hold(Cell(address, size), value.values)
    path.emit([*in_bounds(target), *guards, Write(target, value.expr, order)])


def in_bounds(target: Among) -> list[Op]:
    lowest, highest = target.cells[0], target.cells[-1]
    inside = conjunction(Binary(">=", target.pointer, Const(lowest)), Binary("<=", target.pointer, Const(highest)))
    return [Guard(inside)]


# Read-modify-write.


def modify(
    path: Path,
    result: str,
    kind: UpdateKind,
    type: Type,
    pointer: Scalar,
    operand: Scalar,
    order: MemoryOrder,
    finish: Callable[[Path, Scalar], tuple[Value, Scalar]],
    expected: Scalar | None = None,
    failure_order: MemoryOrder | None = None,
) -> None:
    """An atomic update; `finish(path, old)` gives the result and the new content."""
    size = size_of(type)
    if size > 8:
        raise path.refuse(Code.UNSUPPORTED, f"an atomic access of {size} bytes")

    def update(p: Path, address: int) -> None:
        if p.state.started and not is_own_stack(p, address):
            p.world.share_now(address, size)
        ops = alive_ops(p, address)
        if not is_in_memory(p, address, size):
            if p.state.started:
                p.world.reads(p.process.number, address, size)
                p.world.writes(p.process.number, address, size)
            name = p.world.space.name_of(address, size)
            old = used(written(p, private.read(p.world, p.state, address, size), name))
            if p.ended:
                return
            outcome, new = finish(p, old)
            private.write(p.world, p.state, address, size, new)
            p.set(result, outcome)
            if ops:
                p.emit(ops)
            return
        cell = p.world.share_now(address, size)
        if cell.size != size:
            raise p.refuse(Code.UNSUPPORTED, "an atomic access to a part of a larger object")
        register = p.scratch()
        outcome, new = finish(p, Unknown(Register(register), known_values(p, cell)))
        used(new)
        p.world.may_hold(cell, new.values.join(operand.values) if kind == "cas" else new.values)
        p.set(result, outcome)
        wanted = None if expected is None else expected.expr
        bits = p.bits_of(type)
        reach = p.world.reach_of(new)
        may_wrap = bool(reach) or _may_wrap(kind, bits, p.world.possible(cell), operand)
        guard = next((op.condition for op in reach if isinstance(op, Guard)), None)
        update_op = Modify(register, cell, kind, operand.expr, bits, order, wanted, failure_order, may_wrap, guard)
        guards = p.world.unmistakable(cell, operand)
        p.emit([*ops, *guards, update_op, *is_written(p, register, cell)], locked=True)

    at_address(path, pointer, size, "atomic update", update)


def _may_wrap(kind: str, bits: int, old: ValueSet, operand: Scalar) -> bool:
    if kind not in ("add", "sub"):
        return False
    bounds = unwrapped(kind, bits, Unknown(Const(0), old), operand).values.bounds()
    lo, hi = range_of_bits(bits)
    return bounds is None or bounds[0] < lo or bounds[1] > hi
