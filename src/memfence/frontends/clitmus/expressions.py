"""Reading expressions of C, by the precedence of their operators."""

from __future__ import annotations

from typing import cast

from memfence.diagnostics import Diagnostic, InputError
from memfence.frontends.clitmus import syntax
from memfence.frontends.clitmus.cursor import DEEPEST, Cursor, too_deep, unsupported
from memfence.frontends.clitmus.types import is_type, read_type
from memfence.frontends.herd.layout import fail
from memfence.frontends.herd.numbers import read_number
from memfence.frontends.parsing.syntax import Name
from memfence.program.expressions import BinaryOp, UnaryOp

_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
_PRECEDENCE = {op: level for level, ops in enumerate(_LEVELS, 1) for op in ops}
_ASSIGNING = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_ONE = {"++": "+", "--": "-"}


def read_expression(cursor: Cursor) -> syntax.Expression:
    """A whole expression; InputError where there is none, or one nested too deeply."""
    first = cursor.next
    expression = _assignment(cursor)
    if _depth(expression) > DEEPEST:
        too_deep(first.span)
    return expression


def _depth(expression: syntax.Expression) -> int:
    """How deep the tree is: a chain of operators counts its length."""
    deepest, waiting = 0, [(expression, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(child, depth + 1) for child in _children(node)]
    return deepest


def _children(node: syntax.Expression) -> tuple[syntax.Expression, ...]:
    match node:
        case syntax.Number() | Name():
            return ()
        case syntax.Deref(operand) | syntax.AddressOf(operand) | syntax.Prefix(_, operand):
            return (operand,)
        case syntax.Infix(_, left, right) | syntax.Assignment(left, _, right):
            return (left, right)
        case syntax.Ternary(condition, then, otherwise):
            return (condition, then, otherwise)
        case syntax.Call(_, arguments):
            return arguments


def _assignment(cursor: Cursor) -> syntax.Expression:
    cursor.enter()
    first = cursor.next
    target = _ternary(cursor)
    if cursor.next.text in _ASSIGNING:
        sign = cursor.take()
        if not isinstance(target, Name | syntax.Deref):
            fail(sign.span, "nothing can be assigned to this", "assign to a variable or to `*x`")
        op = cast(BinaryOp, sign.text[:-1]) if sign.text != "=" else None
        target = syntax.Assignment(target, op, _assignment(cursor), cursor.since(first.span))
    cursor.depth -= 1
    return target


def _ternary(cursor: Cursor) -> syntax.Expression:
    first = cursor.next
    condition = _binary(cursor, 1)
    if not cursor.accept("?"):
        return condition
    then = _assignment(cursor)
    cursor.expect(":")
    otherwise = _assignment(cursor)
    return syntax.Ternary(condition, then, otherwise, cursor.since(first.span))


def _binary(cursor: Cursor, weakest: int) -> syntax.Expression:
    first = cursor.next
    left = _unary(cursor)
    while _PRECEDENCE.get(cursor.next.text, 0) >= weakest:
        op = cast(BinaryOp, cursor.take().text)
        right = _binary(cursor, _PRECEDENCE[op] + 1)
        left = syntax.Infix(op, left, right, cursor.since(first.span))
    return left


def _unary(cursor: Cursor) -> syntax.Expression:
    first = cursor.next
    cursor.enter()
    try:
        if cursor.accept("-", "!", "~"):
            op = cast(UnaryOp, first.text)
            return syntax.Prefix(op, _unary(cursor), cursor.since(first.span))
        if cursor.accept("+"):
            return _unary(cursor)
        if cursor.accept("*"):
            return syntax.Deref(_unary(cursor), cursor.since(first.span))
        if cursor.accept("&"):
            return syntax.AddressOf(_unary(cursor), cursor.since(first.span))
        if cursor.accept("++", "--"):
            return _changed_by_one(cursor, first.text, _unary(cursor), gives_old=False)
        if first.text == "(" and is_type(cursor.look(1).text):
            return _cast(cursor)
        return _postfix(cursor, _primary(cursor))
    finally:
        cursor.depth -= 1


def _cast(cursor: Cursor) -> syntax.Expression:
    cursor.expect("(")
    wanted = read_type(cursor)
    cursor.expect(")")
    operand = _unary(cursor)
    if wanted.is_truth and not wanted.stars:
        return syntax.Infix("!=", operand, syntax.Number(0, wanted.span), cursor.since(wanted.span))
    return operand


def _changed_by_one(cursor: Cursor, sign: str, target: syntax.Expression, *, gives_old: bool) -> syntax.Expression:
    if not isinstance(target, Name | syntax.Deref):
        fail(target.span, f"`{sign}` needs a variable or `*x`", None)
    span = cursor.since(target.span)
    return syntax.Assignment(target, cast(BinaryOp, _ONE[sign]), syntax.Number(1, span), span, gives_old)


def _postfix(cursor: Cursor, operand: syntax.Expression) -> syntax.Expression:
    first = operand.span
    while token := cursor.accept("[", "++", "--", ".", "->"):
        if token.text == "[":
            index = _assignment(cursor)
            cursor.expect("]")
            span = cursor.since(first)
            operand = syntax.Deref(syntax.Infix("+", operand, index, span), span)
        elif token.text in _ONE:
            operand = _changed_by_one(cursor, token.text, operand, gives_old=True)
        else:
            unsupported(token.span, "structs are not supported", "use one name a memory location")
    return operand


def _primary(cursor: Cursor) -> syntax.Expression:
    token = cursor.next
    if token.kind == "number":
        return _number(cursor)
    if token.kind == "word" and not is_type(token.text):
        cursor.take()
        if token.text in ("true", "false"):
            return syntax.Number(int(token.text == "true"), token.span)
        name = Name(token.text, token.span)
        return syntax.Call(name, _arguments(cursor), cursor.since(token.span)) if cursor.next.text == "(" else name
    if not cursor.accept("("):
        cursor.unexpected("an expression")
    inner = _assignment(cursor)
    cursor.expect(")")
    return inner


def _number(cursor: Cursor) -> syntax.Number:
    token = cursor.take()
    errors: list[Diagnostic] = []
    value = read_number(token.text.rstrip("lL"), token.span, errors)
    if errors:
        raise InputError(errors)
    if value is None or (token.text[:1] == "0" and token.text.isdigit() and value):
        fail(token.span, f"`{token.text}` is not a number", "numbers are decimal or hexadecimal, as in `12` or `0xc`")
    return syntax.Number(value, token.span)


def _arguments(cursor: Cursor) -> tuple[syntax.Expression, ...]:
    cursor.expect("(")
    found: list[syntax.Expression] = []
    while not cursor.accept(")"):
        if found:
            cursor.expect(",")
        found.append(_assignment(cursor))
    return tuple(found)
