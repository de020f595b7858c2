"""From a `.pst` text to its syntax, and from its expressions to those of the IR."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.frontends.parsing.grammar import load_grammar, span_of
from memfence.frontends.parsing.limits import LARGEST, SMALLEST, first_too_deep, operation, read_integer
from memfence.frontends.parsing.recovery import LineStyle, parse_lines
from memfence.frontends.persist.syntax import Declaration, Instruction, ProcessText, ProgramText
from memfence.program.expressions import Binary, BinaryOp, Conditional, Const, Expr, Unary, UnaryOp
from memfence.program.text.expressions import PRECEDENCE
from memfence.source import SourceText

if TYPE_CHECKING:
    from memfence.frontends.parsing.nodes import Token, Tree

    Node = Token | Tree

READABLE = {
    "INT": "a number", "NAME": "a name", "REGISTER": "a register", "OPERATOR": "an operator", "PREFIX": "`!`",
    "NUMBERED": "a number", "SIGN": "`-`", "PROPERTY": "`forbid`", "COLON": "`:`", "SEMICOLON": "`;`", "EQUAL": "`=`",
    "COMMA": "`,`", "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`", "QMARK": "`?`",
}  # fmt: skip
STYLE = LineStyle(
    statement=re.compile(r"\s*\w+\s*:(?!\s*\[)"),
    comment=re.compile(r"(//|#).*"),
    after_statement="END",
    hints={
        "=": "comparison is written `==`",
        "==": "assignment is written `=`",
        ":=": "assignment is written `=`",
        "and": "write `&&`",
        "or": "write `||`",
        "not": "write `!`",
        "if": "branch with two instructions under one label: `q: assume e; goto a` and `q: assume !e; goto b`",
        "while": "loop with two instructions under one label: `q: assume e; goto q` and `q: assume !e; goto r`",
        "cas": "an atomic read and write is `arw(x, old, new)`",
    },
)
FUNCTIONS: dict[str, BinaryOp | UnaryOp] = {
    "add": "+", "plus": "+", "sub": "-", "minus": "-", "mul": "*", "times": "*", "div": "/", "mod": "%",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&&", "or": "||",
    "band": "&", "bor": "|", "xor": "^", "shl": "<<", "shr": ">>", "not": "!", "neg": "-", "bnot": "~",
}  # fmt: skip
ONE_ARGUMENT = ("not", "neg", "bnot")
OTHER_FUNCTIONS = {"min": 2, "max": 2, "ite": 3}


def read(source: SourceText) -> ProgramText:
    """The syntax tree of `source`; InputError where it does not follow the grammar."""
    tree = parse_lines(load_grammar("persist"), source, READABLE, STYLE)
    name, variables, *parts = tree.children
    processes = [_process(source, part) for part in _trees(parts, "process")]
    properties = [cast("Token", part.children[0]) for part in _trees(parts, "property")]
    return ProgramText(cast("Token", name), _declarations(variables), tuple(processes), tuple(properties))


def _trees(parts: Sequence[object], rule: str) -> list[Tree]:
    return [cast("Tree", part) for part in parts if getattr(part, "data", None) == rule]


def _declarations(part: object) -> tuple[Declaration, ...]:
    found = []
    for declared in getattr(part, "children", ()):
        name, *attributes = declared.children
        initials, ranges = _trees(attributes, "initial"), _trees(attributes, "range")
        found.append(Declaration(name, initials[-1] if initials else None, ranges[-1] if ranges else None))
    return tuple(found)


def _process(source: SourceText, tree: Tree) -> ProcessText:
    any_number, name, registers, initial, *rest = tree.children
    instructions = []
    for part in cast("list[Tree]", rest):
        label, statement, target = part.children
        instructions.append(
            Instruction(cast("Token", label), cast("Tree", statement), cast("Token", target), span_of(source, part))
        )
    return ProcessText(
        cast("Token", name),
        _declarations(registers),
        cast("Token", initial),
        tuple(instructions),
        span_of(source, tree),
        any_number is not None,
    )


class Findings:
    """What is wrong with a text, collected while it is read."""

    def __init__(self, source: SourceText) -> None:
        self.source = source
        self.errors: list[Diagnostic] = []

    def report(
        self, code: Code, message: str, at: Node, label: str = "", hint: str | None = None, first: Node | None = None
    ) -> None:
        related = () if first is None else (Label(span_of(self.source, first), "first"),)
        self.errors.append(Diagnostic(code, message, Label(span_of(self.source, at), label), related, hint))

    def raise_if_any(self) -> None:
        """InputError with everything reported so far, in the order of the text."""
        if self.errors:
            raise InputError(sorted(dict.fromkeys(self.errors), key=lambda d: d.at.span.start))

    def number(self, text: str, at: Node) -> int:
        """The value of `text`, 0 and reported if it has more than 32 bits."""
        value = read_integer(text)
        if SMALLEST <= value <= LARGEST:
            return value
        message = f"numbers lie between {SMALLEST} and {LARGEST}"
        self.report(Code.TOO_LARGE, message, at, "too large" if value > 0 else "too small")
        return 0


class ExpressionReader:
    """Turns expression trees into the IR; `name` says what a name or register stands for."""

    def __init__(self, findings: Findings, name: Callable[[Token], Expr]) -> None:
        self.findings = findings
        self.name = name

    def read(self, node: Node) -> Expr:
        deep = first_too_deep(node)
        if deep is None:
            return self.expression(node)
        hint = "compute parts of it in registers"
        self.findings.report(Code.TOO_DEEP, "an expression is nested too deeply", deep, "from here on", hint)
        return Const(0)

    def expression(self, node: Node) -> Expr:
        kind = getattr(node, "type", "")
        if kind == "INT":
            return Const(self.findings.number(str(node), node))
        if kind in ("NAME", "REGISTER"):
            return self.name(cast("Token", node))
        tree = cast("Tree", node)
        match tree.data:
            case "negation":
                return self.negation(tree)
            case "call":
                return self.call(tree)
            case "conditional":
                condition, then, otherwise = map(self.expression, tree.children)
                return Conditional(condition, then, otherwise)
            case _:
                return self.infix(tree.children)

    def negation(self, tree: Tree) -> Expr:
        sign, operand = tree.children
        if sign == "-" and getattr(operand, "type", "") == "INT":
            return Const(self.findings.number(f"-{operand}", tree))
        value = self.expression(operand)
        return (
            Const(-value.value) if sign == "-" and isinstance(value, Const) else Unary(cast(UnaryOp, str(sign)), value)
        )

    def infix(self, parts: Sequence[Node]) -> Expr:
        """Operands and operators in turn: two stacks, all operators bind to the left."""
        operands: list[Expr] = [self.expression(parts[0])]
        operators: list[BinaryOp] = []

        def apply() -> None:
            right, left = operands.pop(), operands.pop()
            operands.append(operation(operators.pop(), left, right))

        for i in range(1, len(parts), 2):
            operator = cast(BinaryOp, str(parts[i]))
            while operators and PRECEDENCE[operators[-1]] >= PRECEDENCE[operator]:
                apply()
            operators.append(operator)
            operands.append(self.expression(parts[i + 1]))
        while operators:
            apply()
        return operands[0]

    def call(self, tree: Tree) -> Expr:
        name, *nodes = cast("list[Token]", [child for child in tree.children if child is not None])
        known = [*FUNCTIONS, *OTHER_FUNCTIONS]
        if name not in known:
            hint = did_you_mean(name, known, f"there are {', '.join(known)}")
            self.findings.report(Code.UNSUPPORTED, f"unknown function `{name}`", name, "not a function", hint)
            return Const(0)
        arguments = [self.expression(node) for node in nodes]
        needed = OTHER_FUNCTIONS.get(name, 1 if name in ONE_ARGUMENT else 2)
        if len(arguments) != needed:
            message = f"`{name}` takes {needed} argument{'s' if needed > 1 else ''}, not {len(arguments)}"
            self.findings.report(Code.ARGUMENT_COUNT, message, tree, "", f"write `{name}({', '.join('abc'[:needed])})`")
            return Const(0)
        return _apply(name, arguments)


def _apply(name: str, arguments: Sequence[Expr]) -> Expr:
    if name == "ite":
        return Conditional(arguments[0], arguments[1], arguments[2])
    if name in ONE_ARGUMENT:
        return Unary(cast(UnaryOp, FUNCTIONS[name]), arguments[0])
    left, right = arguments
    if name in ("min", "max"):
        return Conditional(Binary("<=" if name == "min" else ">=", left, right), left, right)
    return operation(cast(BinaryOp, FUNCTIONS[name]), left, right)
