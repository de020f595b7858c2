"""The trunk stays a trunk: models are values, evidence is data, and the command line computes nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memfence.models.spec import SPECS
from memfence.passes.reductions import REDUCTIONS
from memfence.tasks.task import ALL_REDUCTIONS

ROOT = Path(__file__).resolve().parents[2] / "src" / "memfence"
FILES = sorted(ROOT.rglob("*.py"))

MODEL_NAMES = set(SPECS)
MAY_COMPARE_NAMES = ("models", "verbs", "cli", "report")
"""`models` defines them; the others read options, or show results."""
DATA_ONLY = ("tasks", "engines", "strategy", "questions")
COMPUTING = {
    "engines",
    "strategy",
    "questions",
    "passes",
    "models",
    "execution",
    "frontends",
    "translation",
    "synthesis",
    "silicon",
}


def stage_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def in_stages(*stages: str) -> list[Path]:
    return [path for path in FILES if stage_of(path) in stages]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def compared_names(tree: ast.AST) -> Iterator[int]:
    """Lines that compare something with the name of a memory model, or look something up by it."""
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        elif isinstance(node, ast.Dict):
            parts = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) != "Literal":
            parts = [node.slice]
        inner = [leaf for part in parts for leaf in ast.walk(part)]
        if any(isinstance(leaf, ast.Constant) and leaf.value in MODEL_NAMES for leaf in inner):
            yield getattr(node, "lineno", 0)


@pytest.mark.parametrize("path", [p for p in FILES if stage_of(p) not in MAY_COMPARE_NAMES], ids=named)
def test_nobody_asks_a_memory_model_for_its_name(path: Path) -> None:
    allowed = {"synthesis/synthesise.py": 2, "frontends/herd/condition.py": 1}
    """`--via tso` is an option; the conditions of some litmus tests name models themselves."""
    found = list(compared_names(ast.parse(path.read_text())))
    assert len(found) <= allowed.get(named(path), 0), f"{named(path)}: lines {found}"


def sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Texts of four or more words that are neither documentation nor part of an error."""
    excused: set[ast.AST] = set()
    for node in ast.walk(tree):
        is_error = isinstance(node, ast.Raise | ast.Assert)
        is_refusal = isinstance(node, ast.FunctionDef) and any(
            isinstance(inner, ast.Name) and inner.id in ("Diagnostic", "WrongUsage") for inner in ast.walk(node)
        )
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_error or is_refusal or is_text:
            excused.update(ast.walk(node))
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and node not in excused and len(re.findall(r"(?<!\S)[A-Za-z]+(?!\S)", node.value)) >= 4:
            yield node.lineno, node.value


READS_TEXT = {"questions/ltl/parser.py"}
"""All that it says is about mistakes in a formula."""


@pytest.mark.parametrize("path", [p for p in in_stages(*DATA_ONLY) if named(p) not in READS_TEXT], ids=named)
def test_there_is_no_prose_before_the_reports(path: Path) -> None:
    assert list(sentences(ast.parse(path.read_text()))) == []


@pytest.mark.parametrize("path", in_stages("cli"), ids=named)
def test_the_command_line_computes_nothing(path: Path) -> None:
    """It may name types, for annotations, and values that users type; what computes is behind `api`."""
    tree = ast.parse(path.read_text())
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    imported = [
        node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node not in for_types
    ]
    stages = {module.split(".")[1] for module in imported if module.startswith("memfence.")}
    assert stages.isdisjoint(COMPUTING - ALLOWED.get(path.name, set())), sorted(stages & COMPUTING)


ALLOWED = {
    "fix.py": {"synthesis"},  # the costs that users may change
    "report_files.py": {"synthesis"},  # which kind of result there is to write
}


MAY_READ_A_CLOCK = ("deadline.py", "silicon/variants.py")
"""The one clock; and the measurement of how long a user's own command takes."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_there_is_one_clock(path: Path) -> None:
    if str(path.relative_to(ROOT)) not in MAY_READ_A_CLOCK:
        assert not re.search(r"\b(monotonic|perf_counter|process_time|time\.time)\(", path.read_text())


def test_every_reduction_can_be_asked_for() -> None:
    by_the_search = {"order", "symmetry"}
    assert set(ALL_REDUCTIONS) == set(REDUCTIONS) | by_the_search


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("def f(m): return m.name == 'pso'", 1),
        ("def f(m): return {'tso': 1}[m]", 1),
        ("def f(m):\n    match m:\n        case 'sc': return 1", 1),
        ("def f(m): return m.has_buffers", 0),
    ],
)
def test_a_planted_comparison_is_seen(planted: str, found: int) -> None:
    assert len(list(compared_names(ast.parse(planted)))) == found


def test_planted_prose_is_seen() -> None:
    planted = 'def f(n):\n    """Says what it does."""\n    return f"the search ended after {n}"\n'
    assert [line for line, _ in sentences(ast.parse(planted))] == [3]
    assert list(sentences(ast.parse('def f():\n    raise ValueError("this is never a verdict")\n'))) == []
