"""Expressions as text that `property_text.parse_expression` reads back as the same expression."""

from __future__ import annotations

import re
from typing import assert_never

from memfence.program import expressions
from memfence.program.ir import Process, Program

PRECEDENCE: dict[expressions.BinaryOp, int] = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
UNARY = 11
KEYWORDS = ("true", "false", "empty")
_PLAIN_NAME = re.compile(r"[A-Za-z_$][\w$]*(\[\d+\])?\Z")


def print_expression(expr: expressions.Expr, program: Program, process: int | None = None) -> str:
    """Text that `parse_expression` reads as `expr`, with no more parentheses than needed.

    `process` is the one whose own registers (`Register`) are meant: they are printed by their bare name, which only
    people understand.
    """
    return _print(expr, program, process, 0)


def _print(expr: expressions.Expr, program: Program, process: int | None, context: int) -> str:
    """`expr` as an operand of an operator with precedence `context`."""
    match expr:
        case expressions.Const(value):
            return str(value)
        case expressions.Unary(op, operand):
            inner = _print(operand, program, process, UNARY)
            # `-1` would be read as the number, `- -1` as the negation of one.
            return f"{op}({inner})" if op == "-" and isinstance(operand, expressions.Const) else f"{op}{inner}"
        case expressions.Binary(op, left, right):
            precedence = PRECEDENCE[op]
            a, b = _print(left, program, process, precedence), _print(right, program, process, precedence + 1)
            return _wrap(f"{a} {op} {b}", precedence < context)
        case expressions.Conditional(condition, then, otherwise):
            test = _print(condition, program, process, 1)
            a, b = _print(then, program, process, 0), _print(otherwise, program, process, 0)
            return _wrap(f"{test} ? {a} : {b}", context > 0)
        case expressions.Register(index):
            return f"r{index}" if process is None else program.processes[process].registers[index].name
        case expressions.RegisterOf(owner, register):
            where = program.processes[owner]
            return f"{_name(where.name)}.{_name(where.registers[register].name)}"
        case expressions.Shared(address):
            return print_address(address, program, process)
        case expressions.At(owner, locations):
            return _print_at(program.processes[owner], locations, context)
        case expressions.BufferEmpty(owner):
            return f"empty({_name(program.processes[owner].name)})"
        case _:
            assert_never(expr)


def print_address(address: expressions.Address, program: Program, process: int | None = None) -> str:
    """`x`, `a[0]` or `a[index]`."""
    if address.variable is not None:
        return _name(program.variables[address.variable].name)
    stem = program.variables[address.base].name.removesuffix("[0]")
    return f"{_name(stem)}[{_print(address.index, program, process, 0)}]"


def _print_at(process: Process, locations: frozenset[int], context: int) -> str:
    """The one label that means exactly these locations, else names for parts of them, else their numbers."""
    if not locations:
        return "0"
    named, parts, left = named_locations(process), list[str](), set(locations)
    exact = [name for name, where in named.items() if where == locations]
    if exact:
        return f"{_name(process.name)}@{_label(exact[0])}"
    for name, where in named.items():
        if where <= locations and where & left:
            parts.append(f"{_name(process.name)}@{_label(name)}")
            left -= where
    parts += [f"{_name(process.name)}@#{number}" for number in sorted(left)]
    return _wrap(" || ".join(parts), len(parts) > 1 and context > PRECEDENCE["||"])


def _name(name: str) -> str:
    return name if _PLAIN_NAME.match(name) and name not in KEYWORDS else f'"{name}"'


def _label(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else f'"{name}"'


def _wrap(text: str, needed: bool) -> str:
    return f"({text})" if needed else text


def named_locations(process: Process) -> dict[str, frozenset[int]]:
    """Every label and location name, with the locations it stands for."""
    found: dict[str, set[int]] = {}
    for number, location in enumerate(process.locations):
        for name in (*location.labels, location.name):
            found.setdefault(name, set()).add(number)
    return {name: frozenset(numbers) for name, numbers in found.items()}
