"""DVE syntax as text again, with the reads of variables replaced on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from memfence.frontends.dve import syntax

Read = Callable[[syntax.Variable, str | None], str]
"""How to write the read of a variable, given its index as text."""


def as_written(variable: syntax.Variable, index: str | None) -> str:
    """The variable as it stands in the text."""
    owner = f"{variable.owner.text}->" if variable.owner else ""
    return f"{owner}{variable.name.text}" + (f"[{index}]" if index is not None else "")


def print_expression(expression: syntax.Expression, read: Read = as_written) -> str:
    """The expression, with parentheses around every operation inside another one."""
    match expression:
        case syntax.Number(value, _):
            return str(value)
        case syntax.InState(process, state, _):
            return f"{process.text}.{state.text}"
        case syntax.Variable(_, index, _, _):
            return read(expression, None if index is None else print_expression(index, read))
        case syntax.Prefix(operator, operand, _):
            return f"{operator} {_operand(operand, read)}"
        case syntax.Infix(operator, left, right, _):
            return f"{_operand(left, read)} {operator} {_operand(right, read)}"
        case _:
            assert_never(expression)


def _operand(expression: syntax.Expression, read: Read) -> str:
    text = print_expression(expression, read)
    return f"({text})" if isinstance(expression, syntax.Infix | syntax.Prefix) else text


def print_declaration(declaration: syntax.Declaration) -> str:
    """`const byte a[2] = {1, 2};`"""
    size = f"[{declaration.size}]" if declaration.size is not None else ""
    values = [print_expression(value) for value in declaration.initial]
    initial = f" = {{{', '.join(values)}}}" if size and values else f" = {values[0]}" if values else ""
    constant = "const " if declaration.constant else ""
    return f"{constant}{declaration.type} {declaration.name.text}{size}{initial};"


def print_channel(channel: syntax.Channel) -> str:
    if channel.types is None:
        return f"channel {channel.name.text};"
    return f"channel {{{', '.join(channel.types)}}} {channel.name.text}[{channel.capacity}];"


def print_process_head(process: syntax.ProcessText) -> list[str]:
    """The lines of a process up to its transitions."""
    lines = [f"process {process.name.text} {{", *(f"  {print_declaration(d)}" for d in process.declarations)]
    lines.append(f"  state {', '.join(state.text for state in process.states)};")
    if process.initial:
        lines.append(f"  init {process.initial.text};")
    if process.committed:
        lines.append(f"  commit {', '.join(state.text for state in process.committed)};")
    if len(process.accepting) == 1:
        lines.append(f"  accept {', '.join(state.text for state in process.accepting[0])};")
    elif process.accepting:
        groups = ", ".join(f"({', '.join(state.text for state in group)})" for group in process.accepting)
        lines.append(f"  accept genbuchi {groups};")
    if process.assertions:
        shown = ", ".join(f"{a.state.text}: {print_expression(a.condition)}" for a in process.assertions)
        lines.append(f"  assert {shown};")
    return lines


def print_system(model: syntax.Model) -> str:
    return f"system async property {model.property.text};" if model.property else "system async;"
