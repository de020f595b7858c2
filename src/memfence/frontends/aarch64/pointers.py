"""Which registers hold addresses, and of which location: known before the test runs, at every instruction.

A register that holds an address is that location and a distance from it; only the distance is computed while the test
runs. So `ADD X4,X3,W2,SXTW` is an address of X3's location, wherever W2 comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memfence.frontends.aarch64.mnemonics import CONDITIONS, written_registers
from memfence.frontends.aarch64.syntax import Instruction, Operand, RegisterName
from memfence.frontends.herd.syntax import Item, Target

Pointers = Mapping[int, str | None]
"""The location whose address a register holds; None where that depends on the way control came. Others hold numbers."""


def pointers_at(
    items: Sequence[Item[Instruction]], initial: Mapping[int, str], location: Callable[[Target], int]
) -> list[Pointers]:
    """What registers hold before each instruction, and at the end, by every way that leads there."""
    known: list[Pointers | None] = [None] * len(items)
    waiting: list[tuple[int, Pointers]] = [(0, initial)]
    while waiting:
        here, arriving = waiting.pop()
        before = known[here]
        after = dict(arriving) if before is None else _joined(before, arriving)
        if after == before:
            continue
        known[here] = after
        instruction = items[here].instruction
        if instruction is not None:
            leaving = _after(instruction, after)
            waiting += [(there, leaving) for there in _successors(instruction, here, len(items) - 1, location)]
    return [{} if pointers is None else pointers for pointers in known]


def _joined(some: Pointers, others: Pointers) -> dict[int, str | None]:
    registers = some.keys() | others.keys()
    return {number: some[number] if _agree(some, others, number) else None for number in registers}


def _agree(some: Pointers, others: Pointers, number: int) -> bool:
    return number in some and number in others and some[number] == others[number]


def _successors(instruction: Instruction, here: int, end: int, location: Callable[[Target], int]) -> list[int]:
    if instruction.mnemonic == "RET":
        return [end]
    jumps = [location(operand) for operand in instruction.operands if isinstance(operand, Target)]
    falls_through = instruction.mnemonic in CONDITIONS or instruction.mnemonic in ("CBZ", "CBNZ") or not jumps
    return [*jumps, here + 1] if falls_through else jumps


def _after(instruction: Instruction, before: Pointers) -> dict[int, str | None]:
    after = dict(before)
    for position in written_registers(instruction.mnemonic):
        register = instruction.operands[position]
        assert isinstance(register, RegisterName)
        after.pop(register.number, None)
        sources = [number for operand in instruction.operands[1:] if (number := _plain(operand)) in before]
        is_address = instruction.mnemonic in ("MOV", "ADD") or (
            instruction.mnemonic == "SUB" and sources == [_plain(instruction.operands[1])]
        )
        if is_address and len(sources) == 1:
            after[register.number] = before[sources[0]]
    return after


def _plain(operand: Operand) -> int:
    """The number of a register that is used as it is; -1 for anything else."""
    return operand.number if isinstance(operand, RegisterName) and not operand.shift else -1
