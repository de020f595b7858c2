"""The tables that read texts against lark, which made them: the same trees, and no text that only one accepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from lark.exceptions import UnexpectedInput

from memfence.diagnostics import InputError
from memfence.frontends.parsing.driver import parse, parse_tokens
from memfence.frontends.parsing.grammar import STARTS, from_lark, load_grammar
from memfence.frontends.parsing.nodes import Token, Tree
from memfence.frontends.promela.tokens import END_OF_LINE, tokenise
from memfence.source import SourceText
from support.mutated_texts import mutant, originals

LANGUAGES = sorted(STARTS)


def shape(item: Any) -> object:
    """A tree with all that its reader may ask for, in plain lists: nested texts are deep, and so would be comparing."""
    found: list[object] = []
    waiting = [item]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Tree):
            found.append((node.data, node.start_pos, node.end_pos, len(node.children)))
            waiting += reversed(node.children)
        elif isinstance(node, Token):
            found.append((node.type, str(node), node.start_pos, node.end_pos))
        else:
            assert node is None
            found.append(None)
    return found


def by_tables(language: str, text: str | Sequence[Any]) -> object:
    tables = load_grammar(language).tables
    tree = parse(tables, text, "start") if isinstance(text, str) else parse_tokens(tables, text, "start")
    return None if tree is None else shape(tree)


def by_lark(language: str, text: Any) -> object:
    try:
        return shape(from_lark(load_grammar(language).lark.parse(text, start="start")))
    except UnexpectedInput:
        return None


def input_of(language: str, text: str) -> str | list[Any] | None:
    """What the parser of a language gets: Promela reads its tokens by itself; None where it cannot."""
    if language != "promela":
        return text
    try:
        return [token for token in tokenise(SourceText("text", text)) if token.kind != END_OF_LINE]
    except InputError:
        return None


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_at_hand_yields_the_tree_of_lark(language: str) -> None:
    accepted = 0
    for text in originals(language):
        given = input_of(language, text)
        if given is not None:
            expected = by_lark(language, given)
            accepted += expected is not None
            assert by_tables(language, given) == expected, text
    assert accepted


def check_mutants(language: str, numbers: range) -> None:
    verdicts = set()
    for number in numbers:
        given = input_of(language, mutant(language, number))
        if given is not None:
            expected = by_lark(language, given)
            verdicts.add(expected is None)
            assert by_tables(language, given) == expected, f"mutant({language!r}, {number})"
    assert verdicts == {False, True}, "the mutants are all right, or all wrong: they compare too little"


@pytest.mark.parametrize("language", LANGUAGES)
def test_broken_texts_yield_the_tree_of_lark_or_none(language: str) -> None:
    check_mutants(language, range(100))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_many_broken_texts_yield_the_tree_of_lark_or_none(language: str) -> None:
    check_mutants(language, range(100, 3000))


def test_a_word_is_a_name_where_only_a_name_may_stand() -> None:
    """`guard` and `state` are words of DVE; lark reads what may follow."""
    text = "process guard { state state, q; init state; trans state -> q { guard 1 == 1; }; } system async;"
    expected = by_lark("dve", text)
    assert expected is not None
    assert by_tables("dve", text) == expected


def test_long_blanks_take_no_time() -> None:
    blanks = " \n" * 200_000
    text = f"{blanks}process P {{ state q; init q; }}{blanks}system async;{blanks}"
    assert parse(load_grammar("dve").tables, text, "start") is not None
    assert parse(load_grammar("dve").tables, f"{text} $", "start") is None
