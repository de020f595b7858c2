"""Names for registers that the user recognises: variables by their names, loaded values by what was loaded."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.frontends.c.llvm.link import Symbol
from memfence.frontends.c.lowering.sources import Sources
from memfence.frontends.c.machine.liveness import CONTENT, result_of
from memfence.frontends.c.machine.process import Process, Slot
from memfence.frontends.c.machine.world import World
from memfence.program import ir
from memfence.program.expressions import Const, walk

LONGEST_NAME = 40


def register_name(process: Process, slot: Slot, sources: Sources) -> str:
    """The name of the register that holds the value of `slot`; `%` marks values that have no name in the source."""
    if isinstance(slot.name, int):
        return process.world.space.name_of(slot.name, slot.part[0])
    symbol = _symbol(process, slot.owner)
    part = "".join(f"#{n}" for n in slot.part)
    if symbol is None:
        return f"{slot.owner}.%{slot.name}{part}"
    owner = process.world.linked.title(symbol)
    if slot.name.startswith(CONTENT):
        return f"{owner}.{_variable(process, symbol, slot.name[1:])}{part}"
    return _expression(process, symbol, slot.name, sources) or f"{owner}.%{slot.name}{part}"


def value_names(world: World, processes: Sequence[Process], lowered: Sequence[ir.Process]) -> dict[int, str]:
    """Every address that memory or a register may hold, or is compared with, as C writes it: `&queue.head`; a function
    by its name."""
    values = [*world.values.values(), *(v for process in processes for v in process.register_values.values())]
    found: dict[int, str] = {}
    for address in sorted({address for known in values for address in known.addresses()} | _compared(lowered)):
        placed = world.space.at(address)
        if placed is not None and placed.kind != "thread":
            name = placed.name if address == placed.start else placed.name_at(address - placed.start, 0)
            found[address] = name if placed.kind == "function" else f"&{name}"
    return found


def _compared(processes: Sequence[ir.Process]) -> set[int]:
    """Numbers that conditions of steps have: where `p->next` is an access case by case, the addresses of `next`."""
    steps = (step for process in processes for step in process.transitions)
    conditions = {op.condition for step in steps for op in step.ops if isinstance(op, ir.Assume)}
    return {node.value for condition in conditions for node in walk(condition) if isinstance(node, Const)}


def _symbol(process: Process, function: str) -> Symbol | None:
    linked = process.world.linked
    found = (linked.find(number, function) for number in range(len(linked.modules)))
    return next((s for s in found if s is not None and s.is_function and s.is_defined), None)


def _variable(process: Process, symbol: Symbol, name: str) -> str:
    number = process.world.facts(symbol).function.declared.get(name, -1)
    variable = process.world.linked.debug[symbol.module].variable(number)
    return variable.name if variable is not None else name


def _expression(process: Process, symbol: Symbol, name: str, sources: Sources) -> str | None:
    """The text of the expression whose value this is, where it is short."""
    for block in process.world.facts(symbol).blocks.values():
        for instruction in block:
            if result_of(instruction) == name:
                text = sources.span(process.world.linked.debug[symbol.module].place(instruction.place)).text
                return f"%{' '.join(text.split())}" if 0 < len(text) <= LONGEST_NAME else None
    return None
