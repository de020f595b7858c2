"""Transition lists: the text format of Trencher (Bouajjani, Derevenetc, Meyer) and of the Persist tool.

`read r a` loads from address a, `write v a` stores v there, `local r e` sets a register, `check e` blocks while e is
false, `lock` and `unlock` enclose an atomic region. Registers need no declaration, values have no range, everything
starts at 0. `sfence` is our addition: the original tools know only TSO.

The memory is called `mem[0]`, `mem[1]`, ... Its size is what `memory_size` says; without it, one more than the largest
address that the program can compute (`address_bounds`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.edits import Edit, Jump, apply_edits, fence_edits, fresh_label
from memfence.frontends.grammar import span_of
from memfence.frontends.trencher_syntax import MOST_MEMORY, OPERATORS, STYLE, Item, Reader, Thread, read
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Address, Binary, BinaryOp, Const, Expr, Register, Unary, fold, variable_address
from memfence.program.ir import (
    UNDECLARED,
    Assign,
    Assume,
    Fence,
    FenceKind,
    FencePoint,
    Load,
    Lock,
    Op,
    Process,
    Program,
    SharedVar,
    Store,
    Transition,
    Unlock,
)
from memfence.source import SourceText

if TYPE_CHECKING:
    from lark import Token, Tree

    from memfence.frontends import EditKind
    from memfence.frontends.trencher_syntax import Node


class _Lowering:
    """The processes of the threads, for a memory of `size` variables."""

    def __init__(self, reader: Reader, size: int) -> None:
        self.reader = reader
        self.size = size

    def processes(self) -> tuple[Process, ...]:
        return tuple(self.process(thread, name) for thread in self.reader.threads for name in thread.instances)

    def process(self, thread: Thread, name: str) -> Process:
        source = self.reader.source
        template = str(thread.name)
        builder = ProcessBuilder(name, template, thread.span)
        numbers: dict[str, int] = {}
        registers: dict[str, int] = {}

        def register(name: str) -> int:
            if name not in registers:
                registers[name] = builder.register(name)
            return registers[name]

        for state, place in thread.states.items():
            leading = [item for item in thread.items if item.target == state]
            point = None
            if leading:
                after = _words(leading[0]) if len(leading) == 1 else f"state {state}"
                point = FencePoint(template, f"state {state}", leading[0].span, after)
            numbers[state] = builder.location(state, (state,), span_of(source, place), point)
        for index, item in enumerate(thread.items):
            point = FencePoint(template, f"transition {index}", item.span, _words(item))
            ops = self.ops(item, register)
            builder.emit(numbers[item.source], numbers[item.target], *ops, span=item.span, point=point)
        return builder.build(numbers[thread.initial])

    def ops(self, item: Item, register: Callable[[str], int]) -> tuple[Op, ...]:
        operands = item.operands
        match item.verb:
            case "read":
                return (Load(register(str(operands[0])), self.address(operands[1], register)),)
            case "write":
                value = _expression(operands[0], register)
                return (Store(self.address(operands[1], register), value),)
            case "local":
                return (Assign(register(str(operands[0])), _expression(operands[1], register)),)
            case "check":
                return (Assume(_expression(operands[0], register)),)
            case "mfence" | "sfence":
                return (Fence(item.verb),)
            case "lock":
                return (Lock(),)
            case "unlock":
                return (Unlock(),)
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
    operator, *operands = cast("Tree[Token]", node).children
    values = [_expression(operand, register) for operand in operands]
    return Unary("!", values[0]) if len(values) == 1 else Binary(cast(BinaryOp, str(operator)), *values)


def _words(item: Item) -> str:
    return " ".join(item.span.text.split())


def parse(source: SourceText) -> Program:
    """The program; lock regions are left as they are, and no value has a range yet."""
    reader = read(source)
    size = reader.memory_size
    if size is None:
        from memfence.frontends.trencher_memory import needed_memory

        size = needed_memory(reader, _Lowering(reader, MOST_MEMORY).processes())
        reader.raise_errors()
    processes = _Lowering(reader, size).processes()
    reader.raise_errors()
    memory = tuple(SharedVar(f"mem[{i}]", UNDECLARED) for i in range(size))
    return Program(PurePath(source.path).stem, memory, processes, (), source, "trencher")


def insert_fences(source: SourceText, points: Sequence[tuple[FencePoint, EditKind]]) -> str:
    """The text with a fence written at each point (or its write locked), otherwise byte for byte the same."""
    edits: list[Edit] = []
    for thread in read(source).threads:
        edits += _thread_edits(source.text, thread, [(p.key, kind) for p, kind in points if p.template == thread.name])
    return apply_edits(source.text, edits)


def _thread_edits(text: str, thread: Thread, chosen: Sequence[tuple[str, EditKind]]) -> list[Edit]:
    taken = set(thread.states)
    locked = {int(key.removeprefix("transition ")) for key, kind in chosen if kind == "locked"}
    jumps = [_jump(text, item) for item in thread.items]
    jumps = [
        _locked(jump, item, taken) if n in locked else jump
        for n, (jump, item) in enumerate(zip(jumps, thread.items, strict=True))
    ]
    fences = [(key, kind) for key, kind in chosen if kind != "locked"]
    at_state = _by_key(fences, "state ")
    after = {int(number): kinds for number, kinds in _by_key(fences, "transition ").items()}
    spelling: dict[FenceKind, str] = {"mfence": "mfence", "sfence": "sfence"}
    return fence_edits(text, jumps, taken, at_state, after, spelling, STYLE.comment)


def _by_key(fences: Sequence[tuple[str, FenceKind]], prefix: str) -> dict[str, list[FenceKind]]:
    found: dict[str, list[FenceKind]] = {}
    for key, kind in fences:
        if key.startswith(prefix):
            found.setdefault(key.removeprefix(prefix), []).append(kind)
    return found


def _jump(text: str, item: Item) -> Jump:
    """`item` as a jump; new lines have its indentation and its spaces between the words."""
    start, end = item.span.start, item.span.end
    indent = text[text.rfind("\n", 0, start) + 1 : start]
    gaps = re.findall(r"\s+", text[start:end])[:3]

    def line(state: str, instruction: str, target: str) -> str:
        words = ("transition", state, target, instruction)
        return (indent if indent.isspace() else "") + "".join(w + g for w, g in zip(words, [*gaps, ""], strict=True))

    return Jump(str(item.target), item.target.start_pos or 0, end, line)


def _locked(jump: Jump, item: Item, taken: set[str]) -> Jump:
    """`jump` with its statement enclosed in `lock` and `unlock`."""
    first, last = fresh_label(f"{item.source}__locked", taken), fresh_label(f"{item.target}__unlock", taken)
    start = item.source.start_pos or 0

    def rewrite(target: str) -> tuple[list[Edit], list[str]]:
        edits = [Edit(start, start + len(item.source), first)]
        edits.append(Edit(jump.target_start, jump.target_start + len(jump.target), last))
        return edits, [jump.line(str(item.source), "lock", first), jump.line(last, "unlock", target)]

    return replace(jump, rewrite=rewrite)


def print_program(program: Program) -> str:
    """The program as a transition list; `parse` reads it as the same program. InputError for what it cannot express."""
    parts = [f"memory_size {len(program.variables)}\n"] if program.variables else []
    for process in program.processes:
        lines = [f"thread {process.name}", f"initial {process.locations[process.initial].name}"]
        for transition in process.transitions:
            source, target = (process.locations[end].name for end in (transition.source, transition.target))
            lines.append(f"transition {source} {target} {_instruction(transition, process)}")
        parts.append("\n".join([*lines, "end\n"]))
    return "\n".join(parts)


def _instruction(transition: Transition, process: Process) -> str:
    def text(expr: Expr) -> str:
        return _prefix(expr, process, transition)

    match transition.ops:
        case (Load(register, address, None),) if not transition.locked:
            return f"read {process.registers[register].name} {text(_index(address))}"
        case (Store(address, value),) if not transition.locked:
            return f"write {text(value)} {text(_index(address))}"
        case (Assign(register, value),):
            return f"local {process.registers[register].name} {text(value)}"
        case (Assume(condition),):
            return f"check {text(condition)}"
        case (Fence(kind),):
            return kind
        case (Lock(),):
            return "lock"
        case (Unlock(),):
            return "unlock"
        case ():
            return "noop"
        case _:
            raise _cannot_express("this step", transition)


def _index(address: Address) -> Expr:
    """The address in the whole memory."""
    if address.variable is not None:
        return Const(address.variable)
    return address.index if address.base == 0 else Binary("+", Const(address.base), address.index)


def _prefix(expr: Expr, process: Process, transition: Transition) -> str:
    match expr:
        case Const(value):
            return str(value)
        case Register(index):
            return process.registers[index].name
        case Unary("-", operand):
            return f"- 0 {_prefix(operand, process, transition)}"
        case Unary("!", operand):
            return f"! {_prefix(operand, process, transition)}"
        case Binary(op, left, right) if op in OPERATORS:
            return f"{op} {_prefix(left, process, transition)} {_prefix(right, process, transition)}"
        case _:
            raise _cannot_express("this expression", transition)


def _cannot_express(what: str, transition: Transition) -> InputError:
    message = f"{what} cannot be written as an instruction of a transition list"
    return InputError([Diagnostic(Code.UNSUPPORTED, message, Label(transition.span))])
