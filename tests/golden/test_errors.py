"""What users see for bad input: `errors/LANGUAGE/` is the list of tests, UPDATE_GOLDEN=1 writes their `.expected`."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memfence.diagnostics import InputError, render
from memfence.frontends.catalogue import language_named
from memfence.models.cat.reader import parse as parse_cat
from memfence.source import SourceText
from support.c_compiler import HAS_CLANG

FOLDER = Path(__file__).with_name("errors")
CASES = sorted(path for path in FOLDER.glob("*/*") if path.suffix != ".expected")


def parser_of(folder: str) -> Callable[[SourceText], object]:
    """The front end of a language, or the reader of memory models."""
    if folder == "cat":
        return parse_cat
    language = language_named(folder)
    assert language is not None, f"{folder} is not the name of a language"
    return language.frontend().parse


def diagnostics_of(case: Path) -> str:
    """What the front end of the case's folder says about it, rendered."""
    try:
        parser_of(case.parent.name)(SourceText(case.name, case.read_bytes().decode("utf-8")))
    except InputError as error:
        return render(error.diagnostics)
    return "no error\n"


@pytest.mark.parametrize("case", CASES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_diagnostics_match_the_expected_file(case: Path) -> None:
    if case.parent.name == "c" and not HAS_CLANG:
        pytest.skip("neither ziglang nor clang is installed")
    actual = diagnostics_of(case)
    expected = case.with_suffix(".expected")
    if os.environ.get("UPDATE_GOLDEN"):
        expected.write_bytes(actual.encode())
    assert actual == expected.read_bytes().decode()


def shown_cases() -> Iterator[tuple[Path, str]]:
    return ((case, case.with_suffix(".expected").read_bytes().decode()) for case in CASES)


def test_every_case_shows_a_code_a_place_and_a_caret() -> None:
    shape = re.compile(
        r"\A(error|warning)\[MF\d\d\d\]: .+\n +--> .+:\d+:\d+\n *\|\n\d+ \| .*\n *\| *\s*\^+", re.MULTILINE
    )
    assert [case.name for case, shown in shown_cases() if not shape.match(shown)] == []


def test_every_case_of_c_has_a_help() -> None:
    cases = [(case, shown) for case, shown in shown_cases() if case.parent.name == "c"]
    assert len(cases) >= 25
    assert [case.name for case, shown in cases if "  = help: " not in shown] == []


def test_no_expected_file_is_left_without_its_case() -> None:
    known = {case.with_suffix(".expected") for case in CASES}
    assert sorted(FOLDER.glob("*/*.expected")) == sorted(known)
