"""Between preprocessor and grammar: calls of an `inline` become blocks, `ltl` blocks are set apart.

Spin replaces the call of an `inline` by its body, a block, with the arguments put in as text; so do we.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.frontends.promela.preprocess import MOST_TOKENS, closing_parenthesis, split_at_commas, wrong_count
from memfence.frontends.promela.tokens import NAME, Token
from memfence.records import Record

DEEPEST_NESTING = 60

_WHY_NOT = {
    "chan": "channels are not supported: processes share memory here",
    "trace": "`trace` is about channels, which are not supported: use a `never` claim",
    "notrace": "`notrace` is about channels, which are not supported: use a `never` claim",
    "unless": "`unless` is not supported", "provided": "`provided` clauses are not supported",
    "priority": "priorities are not supported",
    "hidden": "`hidden` is not supported", "show": "`show` is not supported", "local": "`local` is not supported",
    "c_code": "C code is not supported", "c_decl": "C code is not supported", "c_expr": "C code is not supported",
    "c_state": "C code is not supported", "c_track": "C code is not supported",
    "xr": "channels are not supported", "xs": "channels are not supported", "eval": "channels are not supported",
    "enabled": "`enabled` is not supported", "pc_value": "`pc_value` is not supported",
    "_last": "`_last` is not supported",
    "D_proctype": "`D_proctype` is not supported",
}  # fmt: skip
_OPENING = {"LPAR", "LSQB", "LBRACE", "IF", "DO"}
_CLOSING = {"RPAR", "RSQB", "RBRACE", "FI", "OD"}


class LtlBlock(Record):
    """`ltl name { tokens }`."""

    keyword: Token
    name: str
    tokens: tuple[Token, ...]


class _Inline(Record):
    name: Token
    parameters: tuple[str, ...]
    body: tuple[Token, ...]


@dataclass(slots=True)
class Arranged:
    """The tokens for the grammar, and what was taken out of them."""

    tokens: list[Token] = field(default_factory=list)
    formulas: list[LtlBlock] = field(default_factory=list)


def arrange(tokens: Sequence[Token]) -> Arranged:
    """Expand every `inline`, take out the `ltl` blocks; InputError with every unsupported construct."""
    work = _Arrangement()
    work.scan(list(tokens))
    if not work.errors:
        work.check_nesting()
    if work.errors:
        raise InputError(work.errors)
    return work.result


class _Arrangement:
    def __init__(self) -> None:
        self.result = Arranged()
        self.inlines: dict[str, _Inline] = {}
        self.types: set[str] = set()
        self.errors: list[Diagnostic] = []
        self.frames = 0

    def error(self, code: Code, message: str, token: Token, hint: str | None = None) -> None:
        self.errors.append(Diagnostic(code, message, Label(token.span), hint=hint))

    def scan(self, tokens: list[Token]) -> None:
        at = 0
        while at < len(tokens):
            match tokens[at].kind:
                case "INLINE":
                    at = self.definition(tokens, at)
                case "LTL":
                    at = self.formula(tokens, at)
                case "TYPEDEF":
                    at = self.record(tokens, at)
                case _:
                    at = self.copy(tokens, at, ())

    def record(self, tokens: Sequence[Token], at: int) -> int:
        """`typedef name`: from here on the name is a type."""
        self.result.tokens += tokens[at : at + 2]
        self.types.update(token.text for token in tokens[at + 1 : at + 2])
        return at + 2

    def copy(self, tokens: Sequence[Token], at: int, active: tuple[str, ...]) -> int:
        """Append the token at `at`, or what the call there expands to; return the position behind it."""
        token = tokens[at]
        if token.text in _WHY_NOT and token.kind == NAME:
            self.error(Code.UNSUPPORTED, _WHY_NOT[token.text], token)
        elif token.kind == "RECEIVE" or (token.kind == "NOT" and _is_operand_end(tokens, at - 1)):
            self.error(Code.UNSUPPORTED, f"`{token.text}` works on channels, which are not supported", token)
        called = self.inlines.get(token.text) if token.kind == NAME else None
        if called is not None and at + 1 < len(tokens) and tokens[at + 1].kind == "LPAR":
            return self.call(called, tokens, at, active)
        self.result.tokens.append(replace(token, kind="TYPE") if self.is_type(token) else token)
        if len(self.result.tokens) > MOST_TOKENS:
            self.error(Code.TOO_LARGE, "the text is too large once every `inline` is expanded", token)
            raise InputError(self.errors)
        return at + 1

    def is_type(self, token: Token) -> bool:
        return token.kind == NAME and token.text in self.types

    def definition(self, tokens: Sequence[Token], at: int) -> int:
        """`inline name(a, b) { body }`."""
        keyword, header = tokens[at], tokens[at + 1 : at + 3]
        if [token.kind for token in header] != [NAME, "LPAR"]:
            self.error(
                Code.SYNTAX, "`inline` needs a name and parameters", keyword, "write `inline name(a, b) { ... }`"
            )
            raise InputError(self.errors)
        name = header[0]
        end = closing_parenthesis(tokens, at + 2)
        last = closing_brace(tokens, end + 1) if end is not None else None
        if end is None or last is None:
            self.error(Code.SYNTAX, f"`inline {name.text}` needs a body", name, "write `inline name(a, b) { ... }`")
            raise InputError(self.errors)
        parts = split_at_commas(tokens[at + 3 : end])
        for part in parts:
            if len(part) != 1 or part[0].kind != NAME:
                self.error(Code.SYNTAX, f"the parameters of `inline {name.text}` are not names", name)
                raise InputError(self.errors)
        if name.text in self.inlines:
            related = (Label(self.inlines[name.text].name.span, "first defined here"),)
            message = f"`inline {name.text}` is defined twice"
            self.errors.append(Diagnostic(Code.DUPLICATE, message, Label(name.span), related))
        parameters = tuple(part[0].text for part in parts)
        self.inlines[name.text] = _Inline(name, parameters, tuple(tokens[end + 1 : last + 1]))
        return last + 1

    def call(self, inline: _Inline, tokens: Sequence[Token], at: int, active: tuple[str, ...]) -> int:
        use, name = tokens[at], inline.name.text
        end = closing_parenthesis(tokens, at + 1)
        if end is None:
            self.error(Code.SYNTAX, f"the arguments of `{name}` never end", use, "add `)`")
            raise InputError(self.errors)
        arguments = split_at_commas(tokens[at + 2 : end])
        if name in active:
            self.error(Code.RECURSION, f"`inline {name}` calls itself", use)
        elif len(arguments) != len(inline.parameters):
            message = wrong_count(f"`{name}`", len(inline.parameters), len(arguments))
            related = (Label(inline.name.span, "defined here"),)
            self.errors.append(Diagnostic(Code.ARGUMENT_COUNT, message, Label(use.span), related))
        else:
            self.expand(inline, dict(zip(inline.parameters, arguments, strict=True)), use, (*active, name))
            return end + 1
        self.result.tokens += [replace(use, kind="SKIP", text="skip")]
        return end + 1

    def expand(self, inline: _Inline, arguments: dict[str, list[Token]], use: Token, active: tuple[str, ...]) -> None:
        self.frames += 1
        frame, owner, call = self.frames, inline.name.text, use.place.line
        body: list[Token] = []
        for token in inline.body:
            given = arguments.get(token.text) if token.kind == NAME else None
            if given is None:
                body.append(replace(token, frame=frame, owner=owner, call=call))
            else:
                body += [replace(part, place=token.place, frame=frame, owner=owner, call=call) for part in given]
        at = 0
        while at < len(body):
            at = self.copy(body, at, active)

    def formula(self, tokens: Sequence[Token], at: int) -> int:
        """`ltl name { ... }`; the name may be missing."""
        keyword = tokens[at]
        named = at + 1 < len(tokens) and tokens[at + 1].kind in (NAME, "NEVER")  # many call it that
        opening = at + 1 + named
        last = closing_brace(tokens, opening)
        if last is None:
            self.error(Code.SYNTAX, "`ltl` needs a formula in braces", keyword, "write `ltl name { [] (x == 0) }`")
            raise InputError(self.errors)
        name = tokens[at + 1].text if named else f"ltl_{len(self.result.formulas)}"
        self.result.formulas.append(LtlBlock(keyword, name, tuple(tokens[opening + 1 : last])))
        return last + 1

    def check_nesting(self) -> None:
        depth = 0
        for token in self.result.tokens:
            depth += (token.kind in _OPENING) - (token.kind in _CLOSING)
            if depth > DEEPEST_NESTING:
                self.error(Code.TOO_DEEP, f"more than {DEEPEST_NESTING} levels of nesting", token)
                return


def closing_brace(tokens: Sequence[Token], at: int) -> int | None:
    """Position of the `}` that closes the `{` at `at`; None if there is no `{` or it is never closed."""
    if at >= len(tokens) or tokens[at].kind != "LBRACE":
        return None
    depth = 0
    for position in range(at, len(tokens)):
        depth += {"LBRACE": 1, "RBRACE": -1}.get(tokens[position].kind, 0)
        if depth == 0:
            return position
    return None


def _is_operand_end(tokens: Sequence[Token], at: int) -> bool:
    return at >= 0 and tokens[at].kind in (NAME, "RSQB")
