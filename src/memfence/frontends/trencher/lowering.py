"""From the syntax of a transition list to the IR."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.frontends.parsing.grammar import span_of
from memfence.frontends.trencher.reader import MOST_MEMORY, Reader, read
from memfence.frontends.trencher.syntax import STATE, TRANSITION, Item, Thread
from memfence.program import ir
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, BinaryOp, Const, Expr, Register, Unary, fold, variable_address
from memfence.program.load_options import DEFAULT_OPTIONS, LoadOptions
from memfence.source import SourceText

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Tree
    from memfence.frontends.trencher.reader import Node


class _Lowering:
    """The processes of the threads, for a memory of `size` variables."""

    def __init__(self, reader: Reader, size: int) -> None:
        self.reader = reader
        self.size = size

    def processes(self) -> tuple[ir.Process, ...]:
        return tuple(self.process(thread, name) for thread in self.reader.threads for name in thread.instances)

    def process(self, thread: Thread, name: str) -> ir.Process:
        source = self.reader.source
        template = str(thread.name)
        builder = ProcessBuilder(name, template, thread.span)
        numbers: dict[str, int] = {}
        registers: dict[str, int] = {}

        def register(name: str) -> int:
            if name not in registers:
                registers[name] = builder.register(name)
            return registers[name]

        arriving: dict[str, list[Item]] = {}
        for item in thread.items:
            arriving.setdefault(item.target, []).append(item)
        for state, place in thread.states.items():
            leading = arriving.get(state, [])
            point = None
            if leading:
                after = _words(leading[0]) if len(leading) == 1 else f"state {state}"
                point = ir.FencePoint(template, f"{STATE}{state}", leading[0].span, after)
            numbers[state] = builder.location(state, (state,), span_of(source, place), point)
        for index, item in enumerate(thread.items):
            point = ir.FencePoint(template, f"{TRANSITION}{index}", item.span, _words(item))
            ops = self.ops(item, register)
            builder.emit(numbers[item.source], numbers[item.target], *ops, span=item.span, point=point)
        return builder.build(numbers[thread.initial])

    def ops(self, item: Item, register: Callable[[str], int]) -> tuple[ir.Op, ...]:
        operands = item.operands
        match item.verb:
            case "read":
                return (ir.Load(register(str(operands[0])), self.address(operands[1], register)),)
            case "write":
                value = _expression(operands[0], register)
                return (ir.Store(self.address(operands[1], register), value),)
            case "local":
                return (ir.Assign(register(str(operands[0])), _expression(operands[1], register)),)
            case "check":
                return (ir.Assume(_expression(operands[0], register)),)
            case "mfence" | "sfence":
                return (ir.Fence(item.verb),)
            case "lock":
                return (ir.Lock(),)
            case "unlock":
                return (ir.Unlock(),)
            case _:
                return ()

    def address(self, node: Node, register: Callable[[str], int]) -> Address:
        index = _expression(node, register)
        known = fold(index)
        if not isinstance(known, Const):
            return Address(0, self.size, index)
        if 0 <= known.value < self.size:
            return variable_address(known.value)
        if known.value >= MOST_MEMORY:
            self.reader.report(Code.TOO_LARGE, f"addresses must be below {MOST_MEMORY}", node, "too large")
            return variable_address(0)
        where = "addresses start at 0" if known.value < 0 else f"the memory has the addresses 0 to {self.size - 1}"
        hint = None if known.value < 0 else f"write `memory_size {known.value + 1}`"
        self.reader.report(Code.BAD_ADDRESS, f"there is no address `{known.value}`", node, where, hint)
        return variable_address(0)


def _expression(node: Node, register: Callable[[str], int]) -> Expr:
    kind = getattr(node, "type", "")
    if kind == "INT":
        return Const(int(str(node)))
    if kind == "REGISTER":
        return Register(register(str(node)))
    operator, *operands = cast("Tree", node).children
    values = [_expression(operand, register) for operand in operands]
    return Unary("!", values[0]) if len(values) == 1 else Binary(cast(BinaryOp, str(operator)), *values)


def _words(item: Item) -> str:
    return " ".join(item.span.text.split())


def parse(source: SourceText, options: LoadOptions = DEFAULT_OPTIONS) -> ir.Program:
    """The program; lock regions are left as they are, and no value has a range yet."""
    reader = read(source)
    size = reader.memory_size
    if size is None:
        from memfence.frontends.trencher.memory import needed_memory

        size = needed_memory(reader, _Lowering(reader, MOST_MEMORY).processes())
        reader.raise_errors()
    processes = _Lowering(reader, size).processes()
    reader.raise_errors()
    memory = tuple(ir.SharedVar(f"mem[{i}]", ir.UNDECLARED) for i in range(size))
    return ir.Program(PurePath(source.path).stem, memory, processes, (), source, replace(options, language="trencher"))
