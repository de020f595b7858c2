"""LTL formulas, from text: `G F X U W R` and Spin's spellings around predicates of the program.

| meaning      | spellings                                |
|--------------|------------------------------------------|
| always       | `G`, `[]`, `always`                      |
| eventually   | `F`, `<>`, `eventually`                  |
| next         | `X`, `next`                              |
| until        | `U`, `until`, `stronguntil`              |
| weak until   | `W`, `weakuntil`                         |
| release      | `R`, `V`, `release`                      |
| implication  | `->`, `implies`, `imply`                 |
| equivalence  | `<->`, `equivalent`                      |
| `! && ||`    | also `not`, `and`, `or`                  |

Unary operators bind tightest, then U, W and R, then `&&`, `||`, `->` and `<->`. Two of U, W, R side by side need
parentheses, and so do two `->`: tools disagree on them. What remains between the operators are predicates as
`--invariant` accepts them (`P@label`, `P.x + 1 < y`), or names from `--define`. A predicate whose name looks like an
operator is written in double quotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import NoReturn, assert_never

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.program.expressions import Const, Expr, conjunction, disjunction, negate
from memfence.program.ir import Program
from memfence.program.text.properties import parse_expression, print_expression
from memfence.questions.ltl import formula as ltl
from memfence.records import Record
from memfence.source import SourceText, Span

DEEPEST_NESTING = 100
MOST_TOKENS = 5000


class Proposition(Record):
    """What an atom of a formula stands for, as it was written and in the IR."""

    text: str
    expr: Expr


class ParsedFormula(Record):
    """`atoms[n]` is the predicate that `Atom(n)` of the formula stands for."""

    text: str
    formula: ltl.Formula
    atoms: tuple[Proposition, ...]


def parse_formula(
    text: str, program: Program, definitions: Mapping[str, str] | None = None, option: str = "--ltl"
) -> ParsedFormula:
    """The formula in `text`; `definitions` gives names to predicates. InputError, placed in `option`."""
    known: dict[str, Proposition] = {}
    for name, meaning in (definitions or {}).items():
        parsed = _Parser(SourceText(f"--define {name}", meaning), program, {}).whole()
        if not ltl.is_propositional(parsed.formula):
            at = Label(SourceText(f"--define {name}", meaning).span(0, len(meaning)), "has a temporal operator")
            what = f"`{name}` must be a predicate on states"
            raise InputError([Diagnostic(Code.BAD_PROPERTY, what, at, hint="write it out in the formula")])
        known[name] = Proposition(name, as_expression(parsed.formula, parsed.atoms))
    return _Parser(SourceText(option, text), program, known).whole()


def as_expression(formula: ltl.Formula, atoms: tuple[Proposition, ...]) -> Expr:
    """A formula without temporal operators, as a predicate on states."""
    match formula:
        case ltl.Truth(value):
            return Const(int(value))
        case ltl.Atom(number):
            return atoms[number].expr
        case ltl.Not(operand):
            return negate(as_expression(operand, atoms))
        case ltl.And():
            return conjunction(*(as_expression(part, atoms) for part in ltl.children(formula)))
        case ltl.Or():
            return disjunction(*(as_expression(part, atoms) for part in ltl.children(formula)))
        case ltl.Next() | ltl.Until() | ltl.Release():
            raise ValueError("the formula speaks about later states")
        case _:
            assert_never(formula)


class _Token(Record):
    """`sign` is the operator that the token is, whatever its spelling; empty for a part of a predicate.

    `is_defined`: a name from `--define`.
    """

    sign: str
    text: str
    start: int
    end: int
    is_defined: bool = False


_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<quoted>"[^"\n]*")|(?P<word>[A-Za-z_]\w*)|(?P<number>\d\w*)"""
    r"""|(?P<sign><->|->|&&|\|\||\[\]|<>|<<|>>|<=|>=|==|!=|.)""",
    re.DOTALL,
)
_WORDS = {
    "G": "G", "always": "G", "F": "F", "eventually": "F", "X": "X", "next": "X", "U": "U", "until": "U",
    "stronguntil": "U", "W": "W", "weakuntil": "W", "R": "R", "V": "R", "release": "R", "implies": "->",
    "imply": "->", "equivalent": "<->", "not": "!", "and": "&&", "or": "||",
}  # fmt: skip
_SIGNS = {"[]": "G", "<>": "F", "<->": "<->", "->": "->", "&&": "&&", "||": "||", "!": "!", "(": "(", ")": ")"}
_PREFIX = ("!", "G", "F", "X")
_TEMPORAL = ("G", "F", "X", "U", "W", "R")
_LOOSEST_FIRST = (("<->",), ("->",), ("||",), ("&&",), ("U", "W", "R"))
_IN_PREDICATES = {"!": "!", "&&": "&&", "||": "||", "(": "(", ")": ")"}


class _Parser:
    def __init__(self, source: SourceText, program: Program, known: Mapping[str, Proposition]) -> None:
        self.source = source
        self.program = program
        self.known = known
        self.atoms: dict[Expr, Proposition] = {}
        self.errors: list[Diagnostic] = []
        self.tokens = self.tokenize()
        self.partner = self.match_parentheses()

    def whole(self) -> ParsedFormula:
        if not self.tokens:
            self.fail("the formula is empty", 0, 0)
        formula = self.formula(0, len(self.tokens), 0)
        if self.errors:
            raise InputError(self.errors)
        return ParsedFormula(self.source.text, formula, tuple(self.atoms.values()))

    def fail(
        self, message: str, first: int, last: int, hint: str | None = None, code: Code = Code.BAD_PROPERTY
    ) -> NoReturn:
        """Report at the tokens `first` to `last`."""
        raise InputError([*self.errors, Diagnostic(code, message, Label(self.span(first, last)), hint=hint)])

    def span(self, first: int, last: int) -> Span:
        if not self.tokens:
            return self.source.span(0, len(self.source.text))
        end = len(self.tokens) - 1
        return self.source.span(self.tokens[min(first, end)].start, self.tokens[min(last, end)].end)

    # Tokens

    def tokenize(self) -> list[_Token]:
        found = [m for m in _TOKEN.finditer(self.source.text) if m.lastgroup != "space"]
        if len(found) > MOST_TOKENS:
            what = f"the formula has more than {MOST_TOKENS} tokens"
            raise InputError([Diagnostic(Code.TOO_LARGE, what, Label(self.source.span(0, 1)))])
        tokens: list[_Token] = []
        for number, match in enumerate(found):
            before = found[number - 1][0] if number else ""
            after = found[number + 1][0] if number + 1 < len(found) else ""
            tokens += self.tokens_of(match, is_name=before in (".", "@") or after in (".", "@", "["))
        return tokens

    def tokens_of(self, match: re.Match[str], is_name: bool) -> list[_Token]:
        text, start, end = match[0], match.start(), match.end()
        if match.lastgroup != "word":
            return [_Token(_SIGNS.get(text, "") if match.lastgroup == "sign" else "", text, start, end)]
        if is_name or text in self.known:
            return [_Token("", text, start, end, not is_name)]
        if re.fullmatch("[GFX]{2,}", text):  # `GF p`
            return [_Token(letter, letter, start + i, start + i + 1) for i, letter in enumerate(text)]
        return [_Token(_WORDS.get(text, ""), text, start, end)]

    def match_parentheses(self) -> dict[int, int]:
        partner: dict[int, int] = {}
        opened: list[int] = []
        for number, token in enumerate(self.tokens):
            if token.text in ("(", "["):
                opened.append(number)
            elif token.text in (")", "]"):
                if not opened or (self.tokens[opened[-1]].text == "(") != (token.text == ")"):
                    self.fail(f"`{token.text}` without its opening partner", number, number)
                partner[opened.pop()] = number
        if opened:
            self.fail(f"`{self.tokens[opened[-1]].text}` is never closed", opened[-1], opened[-1])
        return partner

    # Formulas

    def formula(self, start: int, end: int, depth: int) -> ltl.Formula:
        """The formula of the tokens from `start` up to `end`."""
        if depth > DEEPEST_NESTING:
            self.fail("the formula is nested too deeply", start, start, code=Code.TOO_DEEP)
        if start >= end:
            self.fail("a formula is missing", max(start - 1, 0), end)
        for signs in _LOOSEST_FIRST:
            places = [n for n in self.outer(start, end) if self.tokens[n].sign in signs]
            if places:
                return self.binary(start, end, places, depth)
        first = self.tokens[start]
        if first.sign in _PREFIX and not self.is_arithmetic_negation(start, end):
            return self.prefixed(first.sign, self.formula(start + 1, end, depth + 1))
        if first.sign == "(" and self.partner[start] == end - 1:
            return self.formula(start + 1, end - 1, depth + 1)
        return self.predicate(start, end)

    def outer(self, start: int, end: int) -> list[int]:
        """The tokens outside of all parentheses."""
        found = []
        number = start
        while number < end:
            found.append(number)
            number = self.partner.get(number, number) + 1
        return found

    def binary(self, start: int, end: int, places: list[int], depth: int) -> ltl.Formula:
        sign = self.tokens[places[0]].sign
        if len(places) > 1 and sign in ("U", "W", "R", "->"):
            shown = f"`{self.tokens[places[0]].text}` and `{self.tokens[places[1]].text}` side by side"
            hint = f"write parentheses: `(a {sign} b) {self.tokens[places[1]].sign} c`"
            self.fail(f"{shown} can be read in two ways", places[1], places[1], hint)
        bounds = [start - 1, *places, end]
        parts = [self.formula(low + 1, high, depth + 1) for low, high in pairwise(bounds)]
        match sign:
            case "&&":
                return ltl.all_of(parts)
            case "||":
                return ltl.any_of(parts)
            case "->":
                return ltl.implies(parts[0], parts[1])
            case "<->":
                result = parts[0]
                for part in parts[1:]:
                    result = ltl.equivalent(result, part)
                return result
            case "U":
                return ltl.Until(parts[0], parts[1])
            case "W":
                return ltl.weak_until(parts[0], parts[1])
            case _:
                return ltl.Release(parts[0], parts[1])

    def prefixed(self, sign: str, operand: ltl.Formula) -> ltl.Formula:
        match sign:
            case "!":
                return ltl.Not(operand)
            case "G":
                return ltl.always(operand)
            case "F":
                return ltl.eventually(operand)
            case _:
                return ltl.Next(operand)

    def is_arithmetic_negation(self, start: int, end: int) -> bool:
        """Whether `!` is C's, which binds tighter than a comparison: `!x == 1`."""
        if self.tokens[start].sign != "!":
            return False
        rest = [self.tokens[n] for n in self.outer(start + 1, end)]
        return not any(t.sign in _TEMPORAL for t in rest) and any(t.text in _OPERATORS for t in rest)

    # Predicates

    def predicate(self, start: int, end: int) -> ltl.Formula:
        tokens = self.tokens[start:end]
        for number, token in enumerate(tokens):
            if token.sign in (*_TEMPORAL, "->", "<->"):
                hint = f'if it is a name, write `"{token.text}"`' if token.text.isalpha() else None
                place = start + number
                self.fail(f"`{token.text}` cannot stand inside a predicate", place, place, hint)
        if len(tokens) == 1 and tokens[0].text in ("true", "false"):
            return ltl.TRUE if tokens[0].text == "true" else ltl.FALSE
        text = self.source.text[tokens[0].start : tokens[-1].end]
        if len(tokens) == 1 and tokens[0].is_defined:
            return self.atom(self.known[text])
        return self.atom(Proposition(text, self.expression(tokens, text)))

    def atom(self, proposition: Proposition) -> ltl.Formula:
        """The atom of that meaning; two spellings of one predicate are the same atom."""
        self.atoms.setdefault(proposition.expr, proposition)
        return ltl.Atom(list(self.atoms).index(proposition.expr))

    def expression(self, tokens: list[_Token], text: str) -> Expr:
        """The predicate in the IR; names from `--define` are replaced by their meaning first."""
        words = [self.spelled(token) for token in tokens]
        is_as_written = words == [token.text for token in tokens]
        try:
            return parse_expression(text if is_as_written else " ".join(words), self.program, self.source.path)
        except InputError as error:
            whole = self.source.span(tokens[0].start, tokens[-1].end)
            for found in error.diagnostics:
                span = found.at.span
                place = self.source.span(whole.start + span.start, whole.start + span.end) if is_as_written else whole
                self.errors.append(replace(found, at=replace(found.at, span=place)))
            return Const(0)

    def spelled(self, token: _Token) -> str:
        if token.sign:
            return _IN_PREDICATES[token.sign]
        if token.is_defined:
            return f"({print_expression(self.known[token.text].expr, self.program)})"
        return token.text


_OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "^", "?")
