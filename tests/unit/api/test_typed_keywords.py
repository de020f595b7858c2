"""The keywords of the API have types: completion knows them, and a wrong one is an error before anything runs."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

from memfence.api import typed
from memfence.api.typing import KEYWORDS, PLACE, written
from memfence.verbs.options import by_keyword
from support.command_line import ROOT

API = sorted((ROOT / "src/memfence/api").glob("*.py"))
GOOD = """\
import memfence
from memfence.testing import assert_safe
memfence.check("m.pml", model="tso", forbid=["x == 1"], timeout=3, criterion="robust")
memfence.fix("m.pml", minimise="cost", kinds=("mfence",))
memfence.why("m.pml", criteria=["robust"]).to("sarif")
memfence.explore("m.pml", preemptions=2)
memfence.run("m.c", model="pso", spurious=0)
assert_safe("m.pml", invariant="x <= 1")
"""
BAD = {
    'memfence.check("m.pml", modle="tso")': "modle",
    'memfence.check("m.pml", criterion="fast")': "criterion",
    'memfence.fix("m.pml", minimise="money")': "minimise",
    'memfence.explore("m.pml", preemption=2)': "preemption",
    'memfence.run("m.c", timeout="soon")': "timeout",
    'memfence.check_models("m.c", "rc11", unrol=2)': "unrol",
}


def test_the_types_are_those_of_the_table() -> None:
    assert PLACE.read_text(encoding="utf-8") == written(), "write them again: make golden"


@pytest.mark.parametrize("name", KEYWORDS)
def test_every_option_of_the_verb_is_a_keyword_or_a_parameter(name: str) -> None:
    verb, parameters = KEYWORDS[name]
    typed_ones = set(get_type_hints(getattr(typed, f"{name}Keywords")))
    assert set(by_keyword(verb)) <= typed_ones | parameters
    assert not typed_ones & parameters


@pytest.mark.parametrize("path", API, ids=lambda path: path.stem)
def test_no_function_takes_any_keyword(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef) and node.args.kwarg is not None and node.name[0] != "_":
            assert ast.unparse(node.args.kwarg.annotation or ast.Constant("")).startswith("Unpack["), node.name


def test_type_checkers_know_a_wrong_keyword(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    text = GOOD + "\n".join(BAD) + "\n"
    (tmp_path / "use.py").write_text(text)
    importlib.invalidate_caches()
    line = [sys.executable, "-m", "mypy", "--no-error-summary", "--follow-imports=silent", "use.py"]
    environment = {"MYPYPATH": str(ROOT / "src"), "PATH": "", "MYPY_CACHE_DIR": str(ROOT / ".mypy_cache")}
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=environment)
    first = GOOD.count("\n") + 1
    wrong = {int(one.split(":")[1]) for one in done.stdout.splitlines() if ": error:" in one}
    assert wrong == set(range(first, first + len(BAD))), done.stdout + done.stderr
