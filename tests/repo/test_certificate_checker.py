"""The judge of certificates shares no line with those who make them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from repo.test_layering import imported

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "memfence"
CHECKER = PACKAGE / "certificates" / "checker"
CORE = ROOT / "core"
TRUSTED = {"version", "records", "digraph", "source", "codes", "explanations", "diagnostics", "program", "models"}
"""What one has to believe beside the checker itself; `frontends` and `pipeline` made the program."""
FOR_INVARIANTS = ("verify", "question", "refusal", "invariant", "finals")
MOST_LINES = 800
"""For invariants; each other kind of proof adds less than half of that."""


def files_of(module: str) -> Iterator[Path]:
    """The file of a module, and the packages on the way to it."""
    parts = module.split(".")[1:]
    for end in range(1, len(parts) + 1):
        path = PACKAGE.joinpath(*parts[:end])
        yield from (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file())


def place(path: Path) -> tuple[str, ...]:
    return path.relative_to(PACKAGE).with_suffix("").parts if path.is_relative_to(PACKAGE) else ()


def executed(path: Path) -> Iterator[str]:
    """What the file imports; of `questions`, which has the front end for formulas, only what importing it runs."""
    if place(path)[:1] != ("questions",):
        yield from imported(path)
        return
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module


def everything_imported(first: list[Path]) -> set[Path]:
    seen, waiting = set[Path](), list(first)
    while waiting:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting += [file for name in executed(path) if name.startswith("memfence.") for file in files_of(name)]
    return seen


def test_the_checker_reaches_nothing_but_what_is_trusted() -> None:
    reached = {place(path) for path in everything_imported(sorted(CHECKER.glob("*.py")))}
    others = {where for where in reached if where[0] not in TRUSTED}
    assert {where[:2] for where in others} == {
        ("certificates", "__init__"), ("certificates", "checker"), ("certificates", "format"),
        ("questions", "__init__"), ("questions", "ltl"),
    }  # fmt: skip
    formulas = {"__init__", "formula", "parser"}
    assert {where[2] for where in others if where[:2] == ("questions", "ltl")} == formulas


def test_a_planted_import_of_an_engine_is_seen(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("def f():\n    from memfence.engines.explicit import ExplicitEngine\n")
    assert PACKAGE / "engines" / "explicit.py" in everything_imported([planted])


def test_the_python_checker_is_short_enough_to_be_read() -> None:
    lines = {path.stem: len(path.read_text().splitlines()) for path in CHECKER.glob("*.py")}
    assert sum(lines[name] for name in FOR_INVARIANTS) <= MOST_LINES


@pytest.mark.parametrize("path", sorted((CORE / "certificate").glob("*.?pp")), ids=lambda path: path.name)
def test_the_fast_checker_includes_nothing_of_the_search(path: Path) -> None:
    assert set(re.findall(r'#include "(\w+)/', path.read_text())) <= {"certificate"}


def test_only_the_binding_and_native_tests_use_the_fast_checker() -> None:
    users = {path.parent.name for path in CORE.glob("*/*.?pp") if '#include "certificate/' in path.read_text()}
    assert users <= {"certificate", "bind", "tests"}
