"""Reading the statements of a thread."""

from __future__ import annotations

from dataclasses import replace

from memfence.frontends.clitmus import syntax
from memfence.frontends.clitmus.cursor import Cursor, unsupported
from memfence.frontends.clitmus.expressions import read_expression
from memfence.frontends.clitmus.types import is_type, read_type
from memfence.frontends.parsing.syntax import Name

_REFUSED = ("goto", "switch", "case", "asm", "__asm__")


def read_block(cursor: Cursor) -> syntax.Block:
    """What stands up to the end of the words."""
    body: list[syntax.Statement] = []
    while cursor.next.kind != "end":
        body += _statements(cursor)
    return syntax.Block(tuple(body))


def _statements(cursor: Cursor) -> list[syntax.Statement]:
    """One statement; a declaration of several variables is several."""
    token = cursor.next
    if token.kind == "word" and is_type(token.text):
        return _declarations(cursor)
    if token.text in _REFUSED:
        unsupported(token.span, f"`{token.text}` is not supported", "use `if` and loops")
    return [_statement(cursor)]


def _statement(cursor: Cursor) -> syntax.Statement:
    cursor.enter()
    token = cursor.next
    match token.text:
        case ";":
            cursor.take()
            found: syntax.Statement = syntax.NOTHING
        case "{":
            found = _braced(cursor)
        case "if":
            found = _if(cursor)
        case "while":
            found = _while(cursor)
        case "do":
            found = _do(cursor)
        case "for":
            found = _for(cursor)
        case "break" | "continue" | "return" as kind:
            cursor.take()
            cursor.expect(";", "a thread returns nothing" if kind == "return" else None)
            found = syntax.Jump(kind, token.span)
        case _:
            value = read_expression(cursor)
            cursor.expect(";")
            found = syntax.Evaluate(value, cursor.since(token.span))
    cursor.depth -= 1
    return found


def _braced(cursor: Cursor) -> syntax.Block:
    cursor.expect("{")
    body: list[syntax.Statement] = []
    while not cursor.accept("}"):
        body += _statements(cursor)
    return syntax.Block(tuple(body))


def _body(cursor: Cursor) -> syntax.Statement:
    """The body of an `if` or a loop."""
    found = _statement(cursor)
    return replace(found, is_lone=True) if isinstance(found, syntax.Evaluate) else found


def _declarations(cursor: Cursor, *, can_end: bool = True) -> list[syntax.Statement]:
    first = cursor.next
    declared = read_type(cursor)
    if declared.stars:
        unsupported(declared.span, "pointers in local variables are not supported", "use the parameters of the thread")
    found: list[syntax.Declaration] = []
    while not found or cursor.accept(","):
        token = cursor.next
        if token.kind != "word":
            cursor.unexpected("the name of a variable")
        cursor.take()
        if cursor.next.text == "[":
            unsupported(cursor.next.span, "local arrays are not supported", "use one name a variable")
        value = read_expression(cursor) if cursor.accept("=") else None
        found.append(syntax.Declaration(Name(token.text, token.span), value, declared.is_truth, first.span, ends=False))
    cursor.expect(";")
    span = cursor.since(first.span)
    return [replace(one, span=span, ends=can_end and one is found[-1]) for one in found]


def _parenthesised(cursor: Cursor) -> syntax.Expression:
    cursor.expect("(")
    condition = read_expression(cursor)
    cursor.expect(")")
    return condition


def _if(cursor: Cursor) -> syntax.Statement:
    first = cursor.take()
    condition = _parenthesised(cursor)
    span = cursor.since(first.span)
    then = _body(cursor)
    otherwise = _body(cursor) if cursor.accept("else") else syntax.NOTHING
    return syntax.If(condition, then, otherwise, span)


def _while(cursor: Cursor) -> syntax.Statement:
    first = cursor.take()
    condition = _parenthesised(cursor)
    span = cursor.since(first.span)
    return syntax.While(condition, _body(cursor), syntax.NOTHING, False, span)


def _do(cursor: Cursor) -> syntax.Statement:
    cursor.take()
    body = _body(cursor)
    first = cursor.expect("while")
    condition = _parenthesised(cursor)
    span = cursor.since(first.span)
    cursor.expect(";")
    return syntax.While(condition, body, syntax.NOTHING, True, span)


def _for(cursor: Cursor) -> syntax.Statement:
    first = cursor.take()
    cursor.expect("(")
    start: list[syntax.Statement] = []
    if cursor.next.kind == "word" and is_type(cursor.next.text):
        start = _declarations(cursor, can_end=False)
    elif not cursor.accept(";"):
        start = [_unfenced(cursor)]
        cursor.expect(";")
    always = syntax.Number(1, cursor.next.span)
    condition = always if cursor.next.text == ";" else read_expression(cursor)
    cursor.expect(";")
    step = syntax.NOTHING if cursor.next.text == ")" else syntax.Block((_unfenced(cursor),))
    cursor.expect(")")
    span = cursor.since(first.span)
    loop = syntax.While(condition, _body(cursor), step, False, span)
    return syntax.Block((*start, loop))


def _unfenced(cursor: Cursor) -> syntax.Evaluate:
    """An expression in the head of a loop."""
    value = read_expression(cursor)
    return syntax.Evaluate(value, value.span, ends=False)
