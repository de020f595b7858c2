"""Assertions that no way through the program comes to, in functions that do run.

An assertion is a branch to a block that calls the failing function of the C library. What counts is whether that branch
is ever taken, one way or the other: an assertion that is always true was reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.failures import ASSERTION
from memfence.frontends.c.llvm.instructions import Block, Call, Function, successors
from memfence.frontends.c.llvm.metadata import Place
from memfence.frontends.c.llvm.values import Global, Operand
from memfence.frontends.c.machine.world import World


def unreached_assertions(world: World) -> Iterator[Place]:
    """Where they stand, each place once. The same assertion in several functions is reached if it is in one of them."""
    running = {(module, function) for module, function, _ in world.decided}
    found: dict[Place, bool] = {}
    for place, deciding in _every_assertion(world):
        if any((module, function) in running for module, function, _ in deciding):
            found[place] = found.get(place, False) or not world.decided.isdisjoint(deciding)
    return (place for place, is_reached in found.items() if not is_reached)


def evident_assertions(world: World) -> Iterator[Place]:
    """Those that are true by what is known, on some way: there they leave no step behind."""
    for place, deciding in _every_assertion(world):
        if not world.evident.isdisjoint(deciding):
            yield place
    yield from world.evident_places


def _every_assertion(world: World) -> Iterator[tuple[Place, list[tuple[int, str, str]]]]:
    """Each assertion of the text, and the blocks, by module and function, that decide whether it fails.

    A failure that is not decided right before it, as behind a label, is an alarm that should never go off.
    """
    for number, module in enumerate(world.linked.modules):
        for function in module.functions.values():
            for failure, deciding in _assertions(function):
                place = world.linked.debug[number].place(failure.place)
                if place is not None and deciding:
                    yield place, [(number, function.name, block) for block in deciding]


def _assertions(function: Function) -> Iterator[tuple[Call, list[str]]]:
    """Each call of a failing function, with the blocks that decide whether it is made."""
    for block in function.blocks:
        failure = _failure(block)
        if failure is not None:
            yield failure, _deciding(function, block)


def _deciding(function: Function, failure: Block) -> list[str]:
    """The blocks that decide whether it fails: those right before it, and of `a || b` the one that looks at `a`.

    That one goes on to where the assertion is true, or to another of the blocks.
    """
    branching = {one.name: set(_next(one)) for one in function.blocks if one.instructions and len(_next(one)) > 1}
    deciding = [name for name, targets in branching.items() if failure.name in targets]
    known = {failure.name, *deciding, *(target for name in deciding for target in branching[name])}
    earlier = [name for name, targets in branching.items() if name not in known and targets <= known]
    while earlier:
        deciding += earlier
        known.update(earlier)
        earlier = [name for name, targets in branching.items() if name not in known and targets <= known]
    return deciding


def _failure(block: Block) -> Call | None:
    calls = (one for one in block.instructions if isinstance(one, Call))
    return next((one for one in calls if _name(one.callee) in ASSERTION.names), None)


def _name(callee: Operand) -> str:
    return callee.name if isinstance(callee, Global) else ""


def _next(block: Block) -> tuple[str, ...]:
    return successors(block.instructions[-1])
