"""Expressions as flat code for the core's stack machine, every code once."""

from __future__ import annotations

from typing import assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.slots import Slots
from memfence.program import expressions
from memfence.source import SourceText

DEEPEST_EXPRESSION = 250
_UNARY = {"-": 2, "!": 3, "~": 4}
_BINARY = {
    op: 5 + number
    for number, op in enumerate(("+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "==", "!=", "<", "<=", ">", ">="))
}
_CONST, _SLOT, _AND_THEN, _OR_ELSE, _TRUTH, _JUMP_IF_ZERO, _JUMP, _ELEMENT = 0, 1, 21, 22, 23, 24, 25, 26
_FOLDED = (expressions.Const, expressions.Register)


class ExpressionCodes:
    """The codes so far; `source` is where an expression that cannot be encoded is reported."""

    def __init__(self, slots: Slots, source: SourceText) -> None:
        self.slots = slots
        self.source = source
        self.codes: dict[tuple[int, ...], int] = {}
        self.constants: dict[expressions.Expr, int] = {}

    def number(self, expr: expressions.Expr, p: int) -> int:
        """The number of the code of `expr`, as process `p` evaluates it."""
        if expr.__class__ is expressions.Const and (known := self.constants.get(expr)) is not None:
            return known
        code: list[int] = []
        depth = self.emit(expr if expr.__class__ in _FOLDED else expressions.fold(expr), p, code)
        if depth > DEEPEST_EXPRESSION:
            at = Label(self.source.span(0, 1))
            raise InputError([Diagnostic(Code.TOO_DEEP, "an expression is nested too deeply", at)])
        number = self.codes.setdefault(tuple(code), len(self.codes))
        if expr.__class__ is expressions.Const:
            self.constants[expr] = number
        return number

    def emit(self, expr: expressions.Expr, p: int, code: list[int]) -> int:
        """Append the code of `expr`; return how many places of the stack it needs."""
        if isinstance(expr, expressions.Register):
            code += (_SLOT, self.slots.register(p, expr.index))
            return 1
        if isinstance(expr, expressions.Const):
            constant = self.constant(expr.value)
            code += constant
            return 1 if len(constant) == 2 else 2
        match expr:
            case expressions.Unary(op, operand):
                depth = self.emit(operand, p, code)
                code.append(_UNARY[op])
                return depth
            case expressions.Binary("&&" | "||" as op, left, right):
                first = self.emit(left, p, code)
                code += [_AND_THEN if op == "&&" else _OR_ELSE, 0]
                hole = len(code) - 1
                second = self.emit(right, p, code)
                code.append(_TRUTH)
                code[hole] = len(code)
                return max(first, second)
            case expressions.Binary(op, left, right):
                first = self.emit(left, p, code)
                second = self.emit(right, p, code)
                code.append(_BINARY[op])
                return max(first, second + 1)
            case expressions.RegisterOf(owner, number):
                code += [_SLOT, self.slots.register(owner, number)]
                return 1
            case expressions.BufferEmpty(owner):
                code += [_SLOT, self.slots.pending(owner), _CONST, 0, _BINARY["=="]]
                return 2
            case expressions.At(owner, locations):
                slot = self.slots.locations[owner]
                if len(locations) == 1:
                    code += [_SLOT, slot, _CONST, next(iter(locations)), _BINARY["=="]]
                    return 2
                # A location stands for itself only: At over several is their disjunction.
                each = (expressions.At(owner, frozenset({at})) for at in sorted(locations))
                return self.emit(expressions.disjunction(*each), p, code)
            case expressions.Shared(address):
                if (variable := address.variable) is not None:
                    code += [_SLOT, variable]
                    return 1
                depth = self.emit(address.index, p, code)
                code += [_ELEMENT, address.base, address.size]
                return depth
            case expressions.Conditional(condition, then, otherwise):
                first = self.emit(condition, p, code)
                code += [_JUMP_IF_ZERO, 0]
                to_else = len(code) - 1
                second = self.emit(then, p, code)
                code += [_JUMP, 0]
                to_end = len(code) - 1
                code[to_else] = len(code)
                third = self.emit(otherwise, p, code)
                code[to_end] = len(code)
                return max(first, second, third)
            case _:
                assert_never(expr)

    def constant(self, value: int) -> list[int]:
        if -(2**63) <= value < 2**63:
            return [_CONST, value]
        if not expressions.LEAST <= value <= expressions.MOST:
            at = Label(self.source.span(0, 1))
            raise InputError([Diagnostic(Code.TOO_LARGE, f"`{value}` needs more than 128 bits", at)])
        # Wider constants are put together: high * 2**64 + middle * 2**32 + low.
        code = [_CONST, value >> 64]
        for part in (value >> 32 & 0xFFFFFFFF, value & 0xFFFFFFFF):
            code += [_CONST, 32, _BINARY["<<"], _CONST, part, _BINARY["+"]]
        return code
