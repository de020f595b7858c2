"""The tokens of `ltl` blocks: where references end, operators that are words, formulas that are about one state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from memfence.frontends.promela.tokens import NAME, Token

_WORDS = {
    "always": "[]", "eventually": "<>", "until": "U", "weakuntil": "W", "release": "R", "V": "R", "next": "X",
    "implies": "->", "equivalent": "<->",
}  # fmt: skip
TEMPORAL = frozenset({"[]", "<>", "U", "W", "R", "X"})
_LOOSER_THAN_ALWAYS = frozenset({"&&", "||", "->", "<->"})


def reference_end(tokens: Sequence[Token], at: int) -> int | None:
    """Where the reference to another process that starts at `at` ends; None if none starts there."""
    if tokens[at].kind == "NR_PR":
        return at + 1
    if tokens[at].text == "empty" and at + 2 < len(tokens) and tokens[at + 1].kind == "LPAR":
        return _behind_brackets(tokens, at + 3) + 1
    if tokens[at].kind != NAME or tokens[at].text in TEMPORAL:
        return None
    end = _behind_brackets(tokens, at + 1)
    if end < len(tokens) and tokens[end].kind == "DOT":
        return _behind_fields(tokens, end)
    if end + 1 >= len(tokens) or tokens[end].kind not in ("AT", "COLON"):
        return None
    return _behind_fields(tokens, _behind_brackets(tokens, end + 2))


def _behind_fields(tokens: Sequence[Token], at: int) -> int:
    while at < len(tokens) and tokens[at].kind == "DOT":
        at = _behind_brackets(tokens, at + 2)
    return at


def _behind_brackets(tokens: Sequence[Token], at: int) -> int:
    if at < len(tokens) and tokens[at].kind == "LSQB":
        for position in range(at, len(tokens)):
            if tokens[position].kind == "RSQB":
                return position + 1
    return at


def with_operators(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with `[]`, `<>` and the words for operators as one token each."""
    result: list[Token] = []
    for token in tokens:
        joined = (result[-1].text if result else "") + token.text
        if joined in ("[]", "<>") and result[-1].span.end <= token.span.start:
            span = token.span.source.span(result[-1].span.start, token.span.end)
            result[-1] = replace(token, kind="TEMPORAL", text=joined, span=span)
        elif token.kind == NAME and token.text in _WORDS:
            text = _WORDS[token.text]
            result.append(replace(token, kind="TEMPORAL" if text in TEMPORAL else "BINOP", text=text))
        else:
            result.append(token)
    return result


def is_one_state_formula(tokens: Sequence[Token]) -> bool:
    """Whether an operator in front of `tokens` applies to all of them, and all of them speak of one state.

    Temporal operators bind tighter than logical ones: `[] p && q` says of `q` only that it holds at the start.
    """
    depth = 0
    for token in tokens:
        depth += (token.kind == "LPAR") - (token.kind == "RPAR")
        if token.text in TEMPORAL or (depth == 0 and token.text in _LOOSER_THAN_ALWAYS):
            return False
    return True


def is_state_formula(tokens: Sequence[Token]) -> bool:
    return not any(token.text in TEMPORAL for token in tokens)


def state_formula(tokens: Sequence[Token]) -> list[Token]:
    """`->` and `<->` are operators here, `:` names a variable of another process, `empty(P)` looks at its buffer."""
    kinds = {"ARROW": "BINOP", "IFF": "BINOP", "COLON": "REMOTE"}
    return _with_buffers([replace(token, kind=kinds.get(token.kind, token.kind)) for token in tokens])


def with_references(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a whole model; `P:x` and `P[n]:x` in `never` claims name a variable of another process."""
    proctypes = {name.text for keyword, name in pairwise(tokens) if keyword.kind == "PROCTYPE"}
    result, at = list(tokens), 0
    while at < len(result):
        if result[at].kind == "NEVER":
            first, at = at, _end_of_body(result, at)
            result[first:at] = _with_buffers(_with_locals(result[first:at], proctypes))
        at += 1
    return result


def _end_of_body(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    for position in range(at, len(tokens)):
        depth += (tokens[position].kind == "LBRACE") - (tokens[position].kind == "RBRACE")
        if tokens[position].kind == "RBRACE" and depth == 0:
            return position + 1
    return len(tokens)


def _with_locals(tokens: list[Token], proctypes: set[str]) -> list[Token]:
    for at, token in enumerate(tokens):
        if token.kind == NAME and token.text in proctypes and at + 1 < len(tokens):
            behind = _behind_brackets(tokens, at + 1)
            if behind < len(tokens) and tokens[behind].kind == "COLON":
                tokens[behind] = replace(tokens[behind], kind="REMOTE")
    return tokens


def _with_buffers(changed: list[Token]) -> list[Token]:
    """`empty(P)` looks at a buffer."""
    for at, (token, after) in enumerate(pairwise(changed)):
        if token.kind == NAME and token.text == "empty" and after.kind == "LPAR":
            changed[at] = replace(token, kind="EMPTY")
    return changed
