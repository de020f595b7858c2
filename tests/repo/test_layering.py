"""The picture in ARCHITECTURE.md is true: no stage imports a later one, only `engines/native` touches the core."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from memfence.frontends.catalogue import LANGUAGES, Language

ROOT = Path(__file__).resolve().parents[2] / "src" / "memfence"

ORDER = [
    "version", "records", "safe_points", "foreign_calls", "deadline", "output_files", "cache_folder", "reading",
    "digraph", "source", "codes", "explanations", "diagnostics", "failures", "program", "models", "passes",
    "frontends", "pipeline", "execution", "axiomatic", "simulation", "tasks", "cluster", "_core", "engines",
    "strategy", "binary", "questions", "synthesis", "clients", "silicon", "translation", "certificates", "report",
    "verbs", "api", "testing", "server", "cli",
]  # fmt: skip
DOORS = {"__init__", "__main__"}
"""The public names and `python -m memfence` may reach everything."""

FAST_CHECKER = frozenset((ROOT / "certificates").glob("*/native*.py"))
"""The other users of the native core: of `core/certificate` alone."""

FILES = sorted(path for path in ROOT.rglob("*.py") if path.relative_to(ROOT).parts[0].removesuffix(".py") not in DOORS)


def stage_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported(path: Path) -> Iterator[str]:
    """Every module of memfence that the file names in an import, wherever it stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "memfence":
                yield from (f"memfence.{alias.name}" for alias in node.names)
            elif node.module is not None:
                yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_stage_imports_a_later_one(path: Path) -> None:
    here = stage_of(path)
    assert here in ORDER, f"{here} has no place in the order of stages"
    for name in imported(path):
        if name.startswith("memfence."):
            there = name.split(".")[1]
            assert ORDER.index(there) <= ORDER.index(here), f"{path.relative_to(ROOT)} imports {name}"
            may_touch = path.parent.name == "native" or path in FAST_CHECKER
            assert there != "_core" or may_touch, f"{path.relative_to(ROOT)} touches the native core"


def test_values_are_records() -> None:
    """The standard decorator is for what a record cannot be: an object that changes, is ordered or makes itself."""
    value = re.compile(r"^@dataclass\(frozen=True, slots=True(?!, (?:order=True|init=False)\))", re.MULTILINE)
    assert [path.name for path in FILES if value.search(path.read_text())] == []


def test_the_architecture_names_the_stages_in_this_order() -> None:
    text = (ROOT.parents[1] / "ARCHITECTURE.md").read_text()
    picture = text.split("```")[1]
    named = [word for word in re.findall(r"[a-z_]+", picture.split("core/")[0]) if word in ORDER]
    assert list(dict.fromkeys(named)) == [stage for stage in ORDER if stage in named]
    assert [stage for stage in ORDER if f"`{stage}/`" not in text and f"`{stage}.py`" not in text] == ["_core"]


def test_a_planted_wrong_import_is_seen(tmp_path: Path) -> None:
    planted = tmp_path / "wrong.py"
    planted.write_text("def f():\n    from memfence.cli import main\n")
    assert list(imported(planted)) == ["memfence.cli"]


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES} - {ROOT}), ids=lambda path: path.name)
def test_every_folder_says_what_lives_there(folder: Path) -> None:
    text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))
    assert text, f"{folder.name}/__init__.py has no docstring"


def test_the_unit_tests_mirror_the_package() -> None:
    units = ROOT.parents[1] / "tests" / "unit"
    folders = {path.parent.name for path in units.glob("*/test_*.py")}
    assert folders == {path.parent.name for path in ROOT.glob("*/__init__.py")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_all_front_ends_look_alike(language: Language) -> None:
    """A package with the way of the text, a module each, that exports what the registry promises."""
    folder = ROOT / "frontends" / language.module
    rooms = {"syntax.py", "reader.py", "lowering.py", "edits.py"}
    if language.name == "c":  # its syntax is LLVM's, and between reader and lowering a machine runs what is known
        rooms = {"llvm", "machine", "lowering", "edits.py"}
    assert rooms <= {path.name for path in folder.iterdir()}
    package = import_module(f"memfence.frontends.{language.module}")
    assert package.__all__ == ["insert_fences", "parse"]
    defined = [
        node for node in ast.parse((folder / "__init__.py").read_text()).body if isinstance(node, ast.FunctionDef)
    ]
    assert defined == []


def test_no_module_has_a_name_that_means_nothing() -> None:
    meaningless = {"utils", "util", "helpers", "helper", "misc", "common", "manager", "tools"}
    assert [path for path in FILES if path.stem in meaningless] == []


def test_only_the_command_line_prints_or_exits() -> None:
    found = []
    for path in FILES:
        if stage_of(path) != "cli":
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call) and ast.unparse(node.func) in ("print", "sys.exit", "exit", "input"):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert found == []
