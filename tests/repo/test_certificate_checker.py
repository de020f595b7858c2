"""The checker of certificates shares no line with those who make them."""

from __future__ import annotations

import ast
import io
import re
import tokenize
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
LINES_OF_CODE = {
    ("question", "refusal", "invariant", "abridged", "finals"): 360,
    ("criteria", "events", "robust", "triangular"): 310,
    ("ranks", "tableau"): 145,
    ("automata", "languages"): 170,
    ("dual", "dual_local", "dual_order", "dual_ranges"): 300,
    ("minimum", "sc_trace"): 210,
}
"""Of what judges, by kind of proof, without imports, docstrings, comments, blank lines. The first are for all kinds."""
NO_JUDGES = {
    "__init__", "verify", "native", "native_automata", "native_criteria", "native_dual", "native_minimum",
    "native_ranks", "proved", "proved_formula",
}  # fmt: skip
"""They open the file, find the checker of a section, or hand it over to another checker."""
FOR_SETS_OF_STATES = 805
"""All kinds but those for buffers of any length (automata, dual) and for minimal sets of fences."""


def files_of(module: str) -> Iterator[Path]:
    """The file of a module, and the packages on the way to it."""
    parts = module.split(".")[1:]
    for end in range(1, len(parts) + 1):
        path = PACKAGE.joinpath(*parts[:end])
        yield from (file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file())


def lines_of_code(path: Path) -> int:
    """Lines with something on them that is executed, or part of it: no imports, docstrings, comments, blank lines."""
    text = path.read_text()
    left_out = set[int]()
    for node in ast.walk(ast.parse(text)):
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.Import | ast.ImportFrom) or is_text:
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({n for t in tokens if t.type not in blank for n in range(t.start[0], t.end[0] + 1)} - left_out)


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
        ("questions", "__init__"), ("questions", "ltl"), ("deadline",), ("failures",), ("safe_points",),
    }  # fmt: skip
    formulas = {"__init__", "formula", "parser"}
    assert {where[2] for where in others if where[:2] == ("questions", "ltl")} == formulas


def test_a_planted_import_of_an_engine_is_seen(tmp_path: Path) -> None:
    planted = tmp_path / "planted.py"
    planted.write_text("def f():\n    from memfence.engines.explicit import ExplicitEngine\n")
    assert PACKAGE / "engines" / "explicit.py" in everything_imported([planted])


def test_the_python_checker_is_short_enough_to_be_read() -> None:
    lines = {path.stem: lines_of_code(path) for path in CHECKER.glob("*.py") if path.stem not in NO_JUDGES}
    assert {name for names in LINES_OF_CODE for name in names} == set(lines), "every checker is counted"
    found = {names: sum(lines[name] for name in names) for names in LINES_OF_CODE}
    assert all(found[names] <= most for names, most in LINES_OF_CODE.items()), found
    assert sum(count for names, count in list(found.items())[:3]) <= FOR_SETS_OF_STATES


@pytest.mark.parametrize("path", sorted((CORE / "certificate").glob("*.?pp")), ids=lambda path: path.name)
def test_the_fast_checker_includes_nothing_of_the_search(path: Path) -> None:
    assert set(re.findall(r'#include "(\w+)/', path.read_text())) <= {"certificate"}


def test_only_the_binding_and_native_tests_use_the_fast_checker() -> None:
    users = {path.parent.name for path in CORE.glob("*/*.?pp") if '#include "certificate/' in path.read_text()}
    assert users <= {"certificate", "certify", "bind", "tests"}
