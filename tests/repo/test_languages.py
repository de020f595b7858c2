"""The catalogue of languages is the only list of endings: what lies outside of the package says the same."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

import memfence
from memfence.codes import Code
from memfence.explanations import explanation
from memfence.frontends import endings
from memfence.frontends.catalogue import LANGUAGES, Language, choose_language, editor_mode

ROOT = Path(__file__).resolve().parents[2]
SOURCES = Path(memfence.__file__).parent
ENDINGS = {ending for one in LANGUAGES for ending in one.suffixes}
LISTS = {"catalogue.py", "endings.py"}


def lists_of_endings(text: str) -> list[int]:
    """The lines that begin a tuple, list, set or table with two endings or more."""
    known = ENDINGS | set(endings.HEADERS)
    found = []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts) | ast.Dict(keys=parts):
                named = {part.value for part in parts if isinstance(part, ast.Constant)}
                found += [node.lineno] if len(named & known) > 1 else []
    return found


def test_there_is_no_second_list_of_endings() -> None:
    files = [path for path in SOURCES.rglob("*.py") if path.name not in LISTS]
    assert {path.name: lines for path in files if (lines := lists_of_endings(path.read_text()))} == {}


def test_a_planted_second_list_is_seen() -> None:
    assert lists_of_endings('CPP = (".cc", ".cpp")') == [1]
    assert lists_of_endings('COLOURS = {".pml": 1, ".c": 2}') == [1]


def test_the_hook_takes_the_files_of_every_language_and_no_others() -> None:
    (pattern,) = re.findall(r"^  files: (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(), re.MULTILINE)
    assert {ending for ending in ENDINGS if not re.search(pattern, f"model{ending}")} == set()
    (named,) = re.findall(r"\((.*)\)", pattern)
    assert {f".{one}".replace("\\", "") for one in named.split("|")} == ENDINGS


def test_the_extension_of_vscode_declares_every_language_of_models() -> None:
    manifest = json.loads((ROOT / "contrib" / "vscode" / "package.json").read_text())
    declared = {ending for one in manifest["contributes"]["languages"] for ending in one["extensions"]}
    assert declared == {ending for one in LANGUAGES if one.name != "c" for ending in one.suffixes}


def test_vim_knows_the_endings_of_the_languages_that_it_colours() -> None:
    text = (ROOT / "contrib" / "vim" / "ftdetect" / "memfence.vim").read_text()
    lines = re.findall(r"(\*\S+) setfiletype (\w+)", text)
    detected = {kind: set(re.findall(r"\*(\.\w+)", files)) for files, kind in lines}
    endings_of = {one.name: set(one.suffixes) for one in LANGUAGES}
    assert detected == {"promela": endings_of["promela"] | endings_of["remmex"], "litmus": endings_of["litmus"]}


def test_the_explanation_of_unknown_languages_names_every_language_that_has_an_ending() -> None:
    named = set(re.findall(r"\.[a-z]+", explanation(Code.UNKNOWN_LANGUAGE)))
    assert {one.name for one in LANGUAGES if one.suffixes and not named & set(one.suffixes)} == set()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_comments_and_words_can_be_told(language: Language) -> None:
    assert re.compile(language.comments, re.DOTALL)
    assert len(set(language.words.split())) == len(language.words.split()) > 0


def test_an_ending_that_one_language_has_is_enough() -> None:
    for ending in ENDINGS - {".litmus"}:
        (language,) = (one for one in LANGUAGES if ending in one.suffixes)
        assert choose_language(f"a{ending}", "") is language


def test_the_editor_of_the_page_tells_c_from_cpp() -> None:
    modes = {"C": (".c", ".h", ".pml", ".dve"), "C++": (".C", ".cc", ".hpp"), "": (".ll", ".bc", ".txt")}
    for mode, names in modes.items():
        assert [editor_mode(f"a{ending}") for ending in names] == [mode] * len(names)
