"""The parse tables in the package are those of the grammars beside them."""

from __future__ import annotations

from importlib.resources import files

import pytest

from memfence.frontends.parsing.generate import render_tables
from memfence.frontends.parsing.grammar import STARTS, make_lark


@pytest.mark.parametrize("language", sorted(STARTS))
def test_the_tables_are_those_of_the_grammar(language: str) -> None:
    stored = files("memfence.frontends").joinpath(language, "grammar.tables").read_text(encoding="utf-8")
    assert stored == render_tables(make_lark(language, cache=False)), "run `make tables`"


def test_every_grammar_has_tables() -> None:
    folders = [each for each in files("memfence.frontends").iterdir() if each.is_dir()]
    assert {each.name for each in folders if each.joinpath("grammar.lark").is_file()} == set(STARTS)
