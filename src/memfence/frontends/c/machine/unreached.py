"""Assertions that no way through the program comes to, in functions that do run.

An assertion is a branch to a block that calls the failing function of the C library. What counts is whether that branch
is ever taken, one way or the other: an assertion that is always true was reached.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.frontends.c.library.stubs import ASSERTION_FAILURES
from memfence.frontends.c.llvm.instructions import Block, Call, Function, successors
from memfence.frontends.c.llvm.metadata import Place
from memfence.frontends.c.llvm.values import Global, Operand
from memfence.frontends.c.machine.world import World


def unreached_assertions(world: World) -> Iterator[Place]:
    """Where they stand, each place once."""
    running = {(module, function) for module, function, _ in world.decided}
    found: dict[Place, bool] = {}
    for number, module in enumerate(world.linked.modules):
        for function in module.functions.values():
            if (number, function.name) not in running:
                continue
            for failure, deciding in _assertions(function):
                place = world.linked.debug[number].place(failure.place)
                if place is not None:
                    is_reached = any((number, function.name, block) in world.decided for block in deciding)
                    found[place] = found.get(place, False) or is_reached
    return (place for place, is_reached in found.items() if not is_reached)


def _assertions(function: Function) -> Iterator[tuple[Call, list[str]]]:
    """Each call of a failing function, with the blocks that decide whether it is made."""
    for block in function.blocks:
        failure = _failure(block)
        if failure is not None:
            deciding = [one.name for one in function.blocks if one.instructions and block.name in _next(one)]
            yield failure, deciding


def _failure(block: Block) -> Call | None:
    calls = (one for one in block.instructions if isinstance(one, Call))
    return next((one for one in calls if _name(one.callee) in ASSERTION_FAILURES), None)


def _name(callee: Operand) -> str:
    return callee.name if isinstance(callee, Global) else ""


def _next(block: Block) -> tuple[str, ...]:
    return successors(block.instructions[-1])
