"""Property expressions, from text: what `--forbid`, `--invariant` and `--final` accept.

C operators with C's precedence, and `->` (implies), which binds loosest, over `process@label`, `process.register`,
shared variables (`x`, `a[0]`, `a[x + 1]`), names of values (Promela's `mtype`), Promela's `timeout` and
`_nr_pr`, `empty(process)` (no pending store), integers, `true` and `false`. A name with other characters than letters,
digits and `_` is written in double quotes; `process@#3` is location number 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn, cast, get_args

from memfence.codes import Code
from memfence.diagnostics import InputError, did_you_mean
from memfence.program import expressions
from memfence.program.ir import Process, Program
from memfence.program.text.expressions import PRECEDENCE, named_locations, print_address, print_expression
from memfence.program.text.property_tokens import Token, Tokens
from memfence.source import SourceText, Span

__all__ = ["parse_expression", "print_address", "print_expression"]

DEEPEST_NESTING = 50
HIGHEST = 200
LARGEST, LEAST = 2**64 - 1, -(2**63)
LONGEST_NUMBER = 100


def parse_expression(text: str, program: Program, option: str = "--forbid") -> expressions.Expr:
    """The expression in `text`, names looked up in `program`; InputError, placed in `option`, with every mistake."""
    parser = _Parser(SourceText(option, text), program)
    try:
        expr = parser.whole()
    except RecursionError:
        parser.too_deep()
    if parser.errors:
        raise InputError(parser.errors)
    return expr


class _Parser(Tokens):
    """Precedence climbing. Unknown names are collected and read as 0; the first syntax error ends the parse."""

    def __init__(self, source: SourceText, program: Program) -> None:
        super().__init__(source)
        self.program = program
        self.depth = 0

    # Operators

    def whole(self) -> expressions.Expr:
        expr, _ = self.expression()
        if self.next.kind != "end":
            self.unexpected("an operator or the end")
        return expr

    def expression(self) -> tuple[expressions.Expr, int]:
        """An expression and its height; the height is limited because everything later recurses over it."""
        condition, height = self.binary(1)
        if self.accept("->"):
            conclusion, other = self.nested(self.expression)
            return expressions.Binary("||", expressions.negate(condition), conclusion), self.higher(height, other) + 1
        if not self.accept("?"):
            return condition, height
        then, b = self.nested(self.expression)
        self.expect(":")
        otherwise, c = self.nested(self.expression)
        return expressions.Conditional(condition, then, otherwise), self.higher(height, b, c)

    def binary(self, weakest: int) -> tuple[expressions.Expr, int]:
        left, height = self.unary()
        while self.next.kind == "op" and self.next.text in get_args(expressions.BinaryOp):
            op = cast(expressions.BinaryOp, self.next.text)
            if PRECEDENCE[op] < weakest:
                break
            self.take()
            right, other = self.binary(PRECEDENCE[op] + 1)
            left, height = expressions.Binary(op, left, right), self.higher(height, other)
        return left, height

    def unary(self) -> tuple[expressions.Expr, int]:
        op = self.accept("-", "!", "~")
        if op is None:
            return self.primary()
        if op.text == "-" and self.next.kind == "number":
            return expressions.Const(-self.number(self.take(), -LEAST)), 1
        operand, height = self.nested(self.unary)
        return expressions.Unary(cast(expressions.UnaryOp, op.text), operand), self.higher(height)

    def nested(self, parse: Callable[[], tuple[expressions.Expr, int]]) -> tuple[expressions.Expr, int]:
        self.depth += 1
        self.higher(self.depth + HIGHEST - DEEPEST_NESTING)
        result = parse()
        self.depth -= 1
        return result

    def higher(self, *heights: int) -> int:
        if max(heights) >= HIGHEST:
            self.too_deep()
        return max(heights) + 1

    def too_deep(self) -> NoReturn:
        self.fail("the expression is nested too deeply", self.next.span, code=Code.TOO_DEEP)

    # Operands

    def primary(self) -> tuple[expressions.Expr, int]:
        if self.accept("("):
            result = self.nested(self.expression)
            self.expect(")")
            return result
        token = self.next
        if token.kind == "number":
            return expressions.Const(self.number(self.take(), LARGEST)), 1
        if token.kind not in ("name", "quoted"):
            self.unexpected("a value")
        self.take()
        if token.text in ("true", "false"):
            return expressions.TRUE if token.text == "true" else expressions.FALSE, 1
        if token.text == "empty" and self.accept("("):
            return self.empty(), 1
        return self.named(token)

    def number(self, token: Token, largest: int) -> int:
        try:
            value = int(token.text, 0) if len(token.text) < LONGEST_NUMBER else largest + 1
        except ValueError:
            self.fail(f"`{token.text}` is neither a number nor a name", token.span, "put odd names in double quotes")
        if value > largest:
            self.fail(f"`{token.text}` does not fit into 64 bits", token.span, code=Code.TOO_LARGE)
        return value

    def empty(self) -> expressions.Expr:
        token = self.take()
        process = self.process(token.name + self.constant_index(), token.span)
        self.expect(")")
        return expressions.FALSE if process is None else expressions.BufferEmpty(process)

    def constant_index(self) -> str:
        """`[3]`, where the next tokens are exactly that, else nothing."""
        ahead = self.tokens[self.position : self.position + 3]
        if len(ahead) < 3 or ahead[0].text != "[" or ahead[1].kind != "number" or ahead[2].text != "]":
            return ""
        self.position += 3
        return f"[{ahead[1].text}]"

    def named(self, token: Token) -> tuple[expressions.Expr, int]:
        before = self.position
        name = token.name + self.constant_index()
        span = self.upto(token.span)
        if self.accept("@"):
            return self.at(name, span), 1
        if self.accept("."):
            return self.field(name, span), 1
        if self.program.variable_named(name) is not None:
            return expressions.Shared(expressions.variable_address(self.variable_number(name))), 1
        constants = dict(self.program.constants)
        if name in constants:
            return expressions.Const(constants[name]), 1
        meanings = dict(self.program.meanings)
        if name in meanings:
            return meanings[name], 1
        self.position = before
        if self.accept("["):
            return self.element(token)
        return self.unknown_variable(token.name, token.span), 1

    def field(self, owner: str, span: Span) -> expressions.Expr:
        """`record.field.field`, or a register of a process, which may be a field itself."""
        path, start = "", self.next.span
        while True:
            part = self.take()
            if part.kind not in ("name", "quoted", "number"):
                self.position -= part.kind != "end"
                self.unexpected("a register")
            path += part.name + self.constant_index()
            if not self.accept("."):
                break
            path += "."
        variable = self.program.variable_named(f"{owner}.{path}")
        if variable is not None and not self.instances(owner):
            return expressions.Shared(expressions.variable_address(variable))
        fields = [v.name for v in self.program.variables if re.match(rf"{re.escape(owner)}[.\[]", v.name)]
        if fields and not self.instances(owner):
            whole = f"{owner}.{path}"
            hint = did_you_mean(whole, fields, _choices("fields", fields))
            return self.report(Code.UNKNOWN_VARIABLE, f"unknown shared variable `{whole}`", self.upto(span), hint)
        return self.register(owner, span, path, self.upto(start))

    def upto(self, start: Span) -> Span:
        """From the start of `start` to the end of the token read last."""
        return self.source.span(start.start, max(start.end, self.tokens[self.position - 1].span.end))

    def at(self, name: str, span: Span) -> expressions.Expr:
        process = self.process(name, span)
        by_number = self.accept("#") is not None
        label = self.take()
        if label.kind not in ("name", "quoted", "number"):
            self.position -= label.kind != "end"
            self.unexpected("a label")
        if process is None:
            return expressions.FALSE
        where = self.program.processes[process]
        locations = named_locations(where).get(label.name, frozenset())
        if by_number:
            locations = frozenset({int(label.text)} if label.text.isdecimal() else ()) & set(
                range(len(where.locations))
            )
        if not locations:
            known = _choices("labels", _labels(where, self.program.language))
            hint = did_you_mean(label.name, list(named_locations(where)), known)
            return self.report(Code.UNKNOWN_LABEL, f"`{where.name}` has no label `{label.name}`", label.span, hint)
        return expressions.At(process, locations)

    def register(self, owner: str, span: Span, name: str, at: Span) -> expressions.Expr:
        process = self.process(owner, span)
        if process is None:
            return expressions.FALSE
        where = self.program.processes[process]
        names = [r.name for r in where.registers if not r.transient]
        if name in names:
            return expressions.RegisterOf(process, next(i for i, r in enumerate(where.registers) if r.name == name))
        if name in named_locations(where):
            return expressions.At(process, named_locations(where)[name])
        hint = did_you_mean(name, names, _choices("registers", names))
        return self.report(Code.UNKNOWN_REGISTER, f"`{where.name}` has no register `{name}`", at, hint)

    def element(self, array: Token) -> tuple[expressions.Expr, int]:
        index, height = self.nested(self.expression)
        self.expect("]")
        span = self.upto(array.span)
        first = self.program.variable_named(f"{array.name}[0]")
        if first is None:
            return self.unknown_variable(array.name, array.span), 1
        size = _array_size(self.program, first)
        if isinstance(index, expressions.Const):
            if not 0 <= index.value < size:
                message = f"index {index.value} of `{array.name}` lies outside 0..{size - 1}"
                return self.report(Code.BAD_ADDRESS, message, span), 1
            return expressions.Shared(expressions.variable_address(first + index.value)), 1
        return expressions.Shared(expressions.Address(first, size, index)), self.higher(height)

    # Names

    def variable_number(self, name: str) -> int:
        found = self.program.variable_named(name)
        assert found is not None
        return found

    def instances(self, name: str) -> list[int]:
        """The processes that `name` may mean: of that name, `P_0` for `P[0]`, else instance 0 of template P."""
        exact = self.program.process_named(name)
        indexed = re.fullmatch(r"(.*)\[(\d+)\]", name)
        if exact is not None or indexed is None:
            return [] if exact is None else [exact]
        underscored = self.program.process_named(f"{indexed[1]}_{indexed[2]}")
        if underscored is not None:
            return [underscored]
        of_template = [i for i, p in enumerate(self.program.processes) if p.template == indexed[1]]
        return of_template[int(indexed[2]) :][:1]

    def process(self, name: str, span: Span) -> int | None:
        found = self.instances(name)
        if found:
            return found[0]
        names = [p.name for p in self.program.processes]
        of_template = [p.name for p in self.program.processes if p.template == name]
        near = did_you_mean(name, names, _choices("processes", names))
        hint = f"did you mean `{of_template[0]}`?" if of_template else near
        self.report(Code.UNKNOWN_PROCESS, f"unknown process `{name}`", span, hint)
        return None

    def unknown_variable(self, name: str, span: Span) -> expressions.Expr:
        program = self.program
        if program.process_named(name) is not None:
            message, hint = f"`{name}` is a process, not a value", f"write `{name}@label` or `{name}.register`"
            return self.report(Code.TYPE_MISMATCH, message, span, hint)
        if program.variable_named(f"{name}[0]") is not None:
            return self.report(Code.TYPE_MISMATCH, f"`{name}` is an array, not a value", span, f"write `{name}[0]`")
        owners = [p.name for p in program.processes if any(r.name == name for r in p.registers)]
        shared = [v.name for v in program.variables]
        known = [*shared, *(constant for constant, _ in program.constants)]
        near = did_you_mean(name, known, _choices("shared variables", shared))
        hint = f"it is a register: write `{owners[0]}.{name}`" if owners else near or ""
        return self.report(Code.UNKNOWN_VARIABLE, f"unknown shared variable `{name}`", span, hint or None)


def _choices(what: str, names: Sequence[str]) -> str | None:
    more = " ..." if len(names) > 8 else ""
    return f"{what}: {', '.join(f'`{n}`' for n in names[:8])}{more}" if names else f"there are no {what}"


def _labels(process: Process, language: str) -> list[str]:
    """What people call its locations; our own names for those that the language leaves nameless are left out."""
    labels = [label for location in process.locations for label in location.labels]
    names = [location.name for location in process.locations]
    if language in ("promela", "c"):
        names = [name for name in names if name == "end"]
    return list(dict.fromkeys(labels or names))


def _array_size(program: Program, first: int) -> int:
    """How many variables from `first` on are the elements of its array."""
    stem = program.variables[first].name.removesuffix("[0]")
    size = 1
    while first + size < len(program.variables) and program.variables[first + size].name == f"{stem}[{size}]":
        size += 1
    return size
