"""The tests themselves: each of them asserts something, and what is skipped or expected to fail says why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
FILES = sorted(TESTS.rglob("*.py"))
CHECKING = re.compile(r"(check|assert|require)_")
"""Names of functions that fail where something is wrong."""


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    """Each call with the full name of what is called."""
    return ((ast.unparse(node.func), node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def can_fail(function: ast.FunctionDef) -> bool:
    """Whether the function asserts, expects an exception, or calls something that is named as if it did."""
    if any(isinstance(node, ast.Assert) for node in ast.walk(function)):
        return True
    names = [name for name, _ in calls(function)]
    return any(name == "pytest.raises" or CHECKING.match(name.rpartition(".")[2]) for name in names)


def idle_functions(tree: ast.AST) -> list[str]:
    """Tests that cannot fail, and functions that are called checks and cannot fail either."""
    claims = [f for f in functions(tree) if f.name.startswith("test_") or CHECKING.match(f.name)]
    return [function.name for function in claims if not can_fail(function)]


def silent_marks(tree: ast.AST) -> list[str]:
    """Skips and expected failures without a reason; expected failures that may pass unnoticed."""
    found = []
    for name, call in calls(tree):
        words = {keyword.arg: keyword.value for keyword in call.keywords}
        match name:
            case "pytest.skip":
                is_silent = not call.args
            case "pytest.mark.skip" | "pytest.mark.skipif":
                is_silent = "reason" not in words
            case "pytest.mark.xfail":
                strict = words.get("strict")
                is_silent = "reason" not in words or not (isinstance(strict, ast.Constant) and strict.value is True)
            case _:
                is_silent = False
        found += [f"line {call.lineno}: {name}"] if is_silent else []
    bare = {"pytest.mark.skip", "pytest.mark.xfail"}
    decorators = (decorator for function in functions(tree) for decorator in function.decorator_list)
    return found + [f"line {d.lineno}: {ast.unparse(d)}" for d in decorators if ast.unparse(d) in bare]


def test_every_test_can_fail() -> None:
    idle = {path: idle_functions(ast.parse(path.read_text())) for path in FILES}
    assert [f"{path.relative_to(TESTS)}: {name}" for path, names in idle.items() for name in names] == []


def test_whatever_is_skipped_or_expected_to_fail_says_why() -> None:
    silent = {path: silent_marks(ast.parse(path.read_text())) for path in FILES}
    assert [f"{path.relative_to(TESTS)}, {mark}" for path, marks in silent.items() for mark in marks] == []


@pytest.mark.parametrize(
    ("body", "idle"),
    [
        ("def test_a(): f()", ["test_a"]),
        ("def test_a(): assert f()", []),
        ("def test_a():\n with pytest.raises(E): f()", []),
        ("def test_a(): check_f()", []),
        ("def test_a(): m.check_f()", []),
        ("def check_f(): f()", ["check_f"]),
        ("def f(): g()", []),
    ],
)
def test_a_planted_test_that_cannot_fail_is_seen(body: str, idle: list[str]) -> None:
    assert idle_functions(ast.parse(body)) == idle


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("pytest.skip()", 1),
        ("pytest.skip('no spin')", 0),
        ("pytest.mark.skipif(True)", 1),
        ("pytest.mark.skipif(True, reason='no spin')", 0),
        ("pytest.mark.xfail(reason='a fault')", 1),
        ("pytest.mark.xfail(reason='a fault', strict=True)", 0),
        ("@pytest.mark.skip\ndef test_a(): assert True", 1),
    ],
)
def test_a_planted_silent_mark_is_seen(text: str, count: int) -> None:
    assert len(silent_marks(ast.parse(text))) == count
