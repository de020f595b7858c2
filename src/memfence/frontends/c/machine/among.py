"""Loads and stores through pointers with very many targets: by a computed index, not case by case."""

from __future__ import annotations

from memfence.frontends.c.machine.access import (
    MOST_FORKS,
    fork_if_bad,
    is_copied,
    is_written,
    known_values,
    may_be_dead,
    problem_with,
)
from memfence.frontends.c.machine.packing import part
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.residual import Among, Cell, Guard, Op, Read, Write
from memfence.frontends.c.machine.value_sets import listed
from memfence.frontends.c.machine.values import Integer, Scalar, Unknown
from memfence.frontends.c.machine.world import Access
from memfence.program.expressions import Binary, Const, Register, conjunction
from memfence.program.orders import MemoryOrder

FEW_ELEMENTS = 4
"""Elements of one array that are accessed case by case."""


def use_index(path: Path, pointer: Scalar, size: int) -> bool:
    """Whether the pointer has so many targets, or is so plainly an index of one array, that it stays a computation."""
    if not isinstance(pointer, Unknown) or not path.state.started or len(pointer.values.listed) <= FEW_ELEMENTS:
        return False
    good = [a for a in pointer.values.addresses() if problem_with(path, a, size) is None]
    objects = {found.start: found for a in good if (found := path.world.space.at(a)) is not None}
    if any(may_be_dead(path, found) or start in path.world.constants.read_only for start, found in objects.items()):
        return False
    if any([cell.size for cell in path.world.cells_in(a, size)] not in ([], [size]) for a in good):
        return False  # some element is accessed in parts
    if len(good) > MOST_FORKS:
        return True
    return len(good) > FEW_ELEMENTS and path.world.space.at(good[0]) is path.world.space.at(good[-1])


def among(path: Path, pointer: Scalar, size: int, access: Access) -> Among:
    """All cells that the pointer may mean; where it means none of them, that is an error."""
    good = [a for a in pointer.values.addresses() if problem_with(path, a, size) is None]
    for (
        address
    ) in good:  # an element that somebody accesses in parts is a reason not to come here, from the next pass on
        path.world.share(address, size, access)
    fork_if_bad(path, pointer, good, size, "access")
    return Among(tuple(good), size, pointer.expr)


def load_among(path: Path, result: str, bits: int, pointer: Scalar, size: int, order: MemoryOrder) -> None:
    target = among(path, pointer, size, Access.LOAD)
    register = path.scratch()
    values = listed(())
    checks: list[Op] = []
    for address in target.cells:
        values = values.join(known_values(path, Cell(address, size)))
        if is_copied(path, result):
            values = values.join(path.world.possible(Cell(address, size)))
        else:
            checks = checks or is_written(path, register, Cell(address, size))
    path.set(result, part(Unknown(Register(register), values), 8 * size, 0, bits))
    path.emit([*in_bounds(target), Read(register, target, order), *checks])


def store_among(path: Path, value: Integer, pointer: Scalar, size: int, order: MemoryOrder) -> None:
    target = among(path, pointer, size, Access.STORE)
    guards: list[Op] = []
    stored = path.world.storable(value, size)
    for address in target.cells:
        guards = guards or path.world.unmistakable(Cell(address, size), stored)
        path.world.may_hold(Cell(address, size), stored.values)
    path.emit([*in_bounds(target), *guards, Write(target, stored.expr, order)])


def in_bounds(target: Among) -> list[Op]:
    lowest, highest = target.cells[0], target.cells[-1]
    inside = conjunction(Binary(">=", target.pointer, Const(lowest)), Binary("<=", target.pointer, Const(highest)))
    return [Guard(inside)]
