"""Writing transition lists: fences into a list that was read, and whole programs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.edits import Edit, Jump, apply_edits, fence_edits, fresh_label
from memfence.frontends.trencher.reader import OPERATORS, STYLE, read
from memfence.frontends.trencher.syntax import STATE, TRANSITION, Item, Thread
from memfence.program import ir
from memfence.program.expressions import Address, Binary, Const, Expr, Register, Unary
from memfence.source import SourceText

if TYPE_CHECKING:
    from memfence.frontends.frontend import EditKind


def insert_fences(source: SourceText, points: Sequence[tuple[ir.FencePoint, EditKind]]) -> str:
    """The text with a fence written at each point (or its write locked), otherwise byte for byte the same."""
    edits: list[Edit] = []
    for thread in read(source).threads:
        edits += _thread_edits(source.text, thread, [(p.key, kind) for p, kind in points if p.template == thread.name])
    return apply_edits(source.text, edits)


def _thread_edits(text: str, thread: Thread, chosen: Sequence[tuple[str, EditKind]]) -> list[Edit]:
    taken = set(thread.states)
    locked = {int(key.removeprefix(TRANSITION)) for key, kind in chosen if kind == "locked"}
    jumps = [_jump(text, item) for item in thread.items]
    jumps = [
        _locked(jump, item, taken) if n in locked else jump
        for n, (jump, item) in enumerate(zip(jumps, thread.items, strict=True))
    ]
    fences = [(key, kind) for key, kind in chosen if kind != "locked"]
    at_state = _by_key(fences, STATE)
    after = {int(number): kinds for number, kinds in _by_key(fences, TRANSITION).items()}
    spelling: dict[ir.FenceKind, str] = {"mfence": "mfence", "sfence": "sfence"}
    return fence_edits(text, jumps, taken, at_state, after, spelling, STYLE.comment)


def _by_key(fences: Sequence[tuple[str, ir.FenceKind]], prefix: str) -> dict[str, list[ir.FenceKind]]:
    found: dict[str, list[ir.FenceKind]] = {}
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


def write_program(program: ir.Program) -> str:
    """The program as a transition list; `parse` reads it as the same program. InputError for what it cannot express."""
    parts = [f"memory_size {len(program.variables)}\n"] if program.variables else []
    for process in program.processes:
        lines = [f"thread {process.name}", f"initial {process.locations[process.initial].name}"]
        for transition in process.transitions:
            source, target = (process.locations[end].name for end in (transition.source, transition.target))
            lines.append(f"transition {source} {target} {_instruction(transition, process)}")
        parts.append("\n".join([*lines, "end\n"]))
    return "\n".join(parts)


def _instruction(transition: ir.Transition, process: ir.Process) -> str:
    def text(expr: Expr) -> str:
        return _prefix(expr, process, transition)

    match transition.ops:
        case (ir.Load(register, address, None),) if not transition.locked:
            return f"read {process.registers[register].name} {text(_index(address))}"
        case (ir.Store(address, value),) if not transition.locked:
            return f"write {text(value)} {text(_index(address))}"
        case (ir.Assign(register, value),):
            return f"local {process.registers[register].name} {text(value)}"
        case (ir.Assume(condition),):
            return f"check {text(condition)}"
        case (ir.Fence(kind),):
            return kind
        case (ir.Lock(),):
            return "lock"
        case (ir.Unlock(),):
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


def _prefix(expr: Expr, process: ir.Process, transition: ir.Transition) -> str:
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


def _cannot_express(what: str, transition: ir.Transition) -> InputError:
    message = f"{what} cannot be written as an instruction of a transition list"
    return InputError([Diagnostic(Code.UNSUPPORTED, message, Label(transition.span))])
