"""Threads of which there may be any number: one process stands for all threads of a function.

That is right only where they are alike. So nothing may tell them apart: neither what they get, nor their numbers, nor
memory of their own that others can see. What does is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from memfence.codes import Code
from memfence.frontends.c.llvm.instructions import Call, Instruction, Phi, StoreTo
from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.llvm.values import Local, Operand
from memfence.frontends.c.machine.access import at_address
from memfence.frontends.c.machine.atomically import Atomically
from memfence.frontends.c.machine.liveness import FunctionFacts, operands_of
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.refusal import Refused
from memfence.frontends.c.machine.residual import Gather, Op
from memfence.frontends.c.machine.value_sets import NOTHING, ValueSet
from memfence.frontends.c.machine.values import ONE, ZERO, Known, Scalar
from memfence.frontends.c.machine.world import STARTED, Thread, World

MOST_ARGUMENTS = 8
"""Different arguments that threads of one function may get; each of them may get any of these."""
HINT = "leave --any-number out for a fixed number of threads, or let all threads of the function do the same"


def create_parameterised(
    path: Path,
    call: Call,
    handle: Scalar | None,
    symbol: Symbol,
    name: str,
    argument: Scalar,
    style: str,
    ops: list[Op],
) -> None:
    """From here on there may be threads that run the function; `ops` come first."""
    world = path.world
    key = ("any number", symbol.module, symbol.name)
    thread = world.thread(key, symbol, name, _argument(path, symbol, argument), style, is_parameterised=True)

    def create(p: Path, address: int) -> None:
        assert thread.block is not None
        step = Atomically(p)
        step.ops.extend(ops)
        if address:
            step.write(address, Known(thread.number), 8)
        step.write(thread.block.start + STARTED, ONE)
        step.finish(call, ZERO)

    if handle is None or handle == ZERO:
        create(path, 0)
    else:
        at_address(path, handle, 8, "the handle of a thread", create)


def _argument(path: Path, symbol: Symbol, argument: Scalar) -> ValueSet:
    """What the thread may get; nothing, where it does not look at it."""
    if not uses_argument(path.world, symbol):
        return NOTHING
    known = path.world.thread_arguments.get(("any number", symbol.module, symbol.name), NOTHING)
    if known.join(argument.values).members(MOST_ARGUMENTS) is None:
        raise alike(path, symbol.name, "they get different arguments, and use them")
    return argument.values


def uses_argument(world: World, symbol: Symbol) -> bool:
    """Whether the function does more with what it gets than keep it in a local that nobody reads."""
    facts = world.facts(symbol)
    code = [i for block in facts.blocks.values() for i in block]
    read = {operand for i in code if not isinstance(i, StoreTo) for operand in operands_of(i)}
    read |= {operand for i in code if isinstance(i, Phi) for operand, _ in i.incoming}
    written = {i.pointer for i in code if isinstance(i, StoreTo)}
    for _, name in facts.function.parameters:
        kept_in = {i.pointer for i in code if _keeps(i, name)}
        if Local(name) in read | written or kept_in & read or not all(_is_local(facts, at) for at in kept_in):
            return True
    return False


def _keeps(instruction: Instruction, name: str) -> TypeGuard[StoreTo]:
    return isinstance(instruction, StoreTo) and instruction.value == Local(name)


def _is_local(facts: FunctionFacts, place: Operand) -> bool:
    return isinstance(place, Local) and place.name in facts.simple


def arguments_of(world: World, thread: Thread) -> Sequence[Known]:
    """Each of the arguments that a thread of this kind may get; one that makes no difference, if it uses none."""
    if not uses_argument(world, thread.symbol):
        return (ZERO,)
    return [Known(value) for value in sorted(thread.arguments.members(MOST_ARGUMENTS) or ())]


def join_parameterised(path: Path, call: Call, thread: Thread, result: Scalar) -> None:
    """Wait for all of them."""
    if result != ZERO:
        raise alike(path, thread.name, "their results are used")
    if path.process.thread.is_parameterised:
        raise alike(path, thread.name, "one of any number of threads waits for others")
    step = Atomically(path)
    step.ops.append(Gather(thread.number))
    step.finish(call, ZERO)


def refuse_identity(path: Path, what: str) -> None:
    """A thread of which there is any number must not do `what`, which depends on who it is."""
    if path.process.thread.is_parameterised:
        raise alike(path, path.process.thread.name, what)


def refuse_own_memory(world: World) -> None:
    """Memory of one of these threads that others see, or could find: each thread has its own, but there is one here."""
    for thread in world.threads.values():
        if not thread.is_parameterised:
            continue
        for address, size in world.shared.items():
            values = world.values.get(address, NOTHING)
            held = [a for a in values.addresses() if world.owner_of(a) == thread.number]
            if world.owner_of(address) == thread.number or held:
                name = world.space.name_of(held[0] if held else address, 1 if held else size)
                why = f"memory of one of them is kept where others see it: `{name}`"
                raise Refused(Code.NOT_ALIKE, _message(thread.name, why), world.linked.place_of(thread.symbol), HINT)


def alike(path: Path, name: str, why: str) -> Refused:
    return path.refuse(Code.NOT_ALIKE, _message(name, why), HINT)


def _message(name: str, why: str) -> str:
    return f"there cannot be any number of `{name}`: {why}"
