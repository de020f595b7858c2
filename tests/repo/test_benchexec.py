"""The tool-info module for BenchExec: what it runs, and how it reads the answer."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from support.c_compiler import needs_clang
from support.command_line import memfence

MODULE = Path(__file__).resolve().parents[2] / "contrib" / "benchexec" / "memfence.py"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module with BenchExec, or with a stand-in of the few names it uses where BenchExec is not installed."""
    if importlib.util.find_spec("benchexec") is None:
        template, result = ModuleType("benchexec.tools.template"), ModuleType("benchexec.result")
        template.BaseTool2 = type("BaseTool2", (), {})  # type: ignore[attr-defined]
        words = {"RESULT_TRUE_PROP": "true", "RESULT_FALSE_PROP": "false", "RESULT_UNKNOWN": "unknown",
                 "RESULT_ERROR": "ERROR", "RESULT_TIMEOUT": "TIMEOUT"}  # fmt: skip
        vars(result).update(words)
        tools = ModuleType("benchexec.tools")
        tools.template = template  # type: ignore[attr-defined]
        package = ModuleType("benchexec")
        package.tools, package.result = tools, result  # type: ignore[attr-defined]
        for module in (package, tools, template, result):
            monkeypatch.setitem(sys.modules, module.__name__, module)
    spec = importlib.util.spec_from_file_location("memfence_tool_info", MODULE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Tool()


def ended(code: int, *, timeout: bool = False, line: str = "", output: str = "") -> SimpleNamespace:
    exit_code = SimpleNamespace(value=code, signal=None)
    return SimpleNamespace(
        was_timeout=timeout, exit_code=exit_code, cmdline=line.split(), output=output.splitlines(keepends=True)
    )


def test_only_a_proof_is_true(tool: Any) -> None:
    answers = [tool.determine_result(ended(code)) for code in (0, 1, 4)]
    assert answers == ["true", "false", "unknown"]
    assert tool.determine_result(ended(70)).startswith("ERROR")
    assert tool.determine_result(ended(0, timeout=True)) == "TIMEOUT"


def test_limits_become_options(tool: Any) -> None:
    task, limits = SimpleNamespace(single_input_file="a.pml"), SimpleNamespace(cputime=60, memory=2_000_000_000)
    line = tool.cmdline("memfence", ["check", "--model", "pso"], task, limits)
    assert line == ["memfence", "check", "a.pml", "--model", "pso", "--timeout", "60", "--memory", "1800"]


def test_columns_come_from_the_json_object(tool: Any) -> None:
    output = ['{"verdict": "holds",\n', ' "stats": {"states": 12}}\n']
    assert tool.get_value_from_output(output, "states") == "12"
    assert tool.get_value_from_output(output, "verdict") == "holds"
    assert tool.get_value_from_output(["no JSON"], "states") is None


def test_tasks_of_svcomp_are_asked_about_their_property(tool: Any) -> None:
    limits = SimpleNamespace(cputime=None, memory=None)
    lines = {}
    for asked in ("unreach-call", "no-data-race", "no-overflow"):
        task = SimpleNamespace(single_input_file="a.c", property_file=f"properties/{asked}.prp")
        lines[asked] = " ".join(tool.cmdline("memfence", ["check"], task, limits))
    assert lines == {
        "unreach-call": "memfence check a.c --model sc --json --assertions-only",
        "no-data-race": "memfence check a.c --model sc --json --criterion drf",
        "no-overflow": "memfence check a.c --model sc --json",
    }


@pytest.mark.parametrize(
    ("options", "failure", "expected"),
    [
        ("--json --assertions-only", "assertion violated", "false(unreach-call)"),
        ("--json --assertions-only", "null pointer dereference: load", "unknown"),
        ("--json", "assertion violated", "unknown"),
        ("--json", "signed integer overflow", "false(no-overflow)"),
        ("--json", "double free: heap1", "false(valid-free)"),
        ("--json --criterion drf", None, "false(no-data-race)"),
    ],
)
def test_a_violation_is_the_one_that_was_found(tool: Any, options: str, failure: str | None, expected: str) -> None:
    output = json.dumps({"verdict": "violated", "trace": [{"failure": None}, {"failure": failure}]})
    run = ended(1, line=f"memfence check a.c {options}", output=output)
    assert tool.determine_result(run) == expected


@needs_clang
def test_the_command_says_what_the_module_reads(tool: Any, tmp_path: Path) -> None:
    """The very words of a real run: they are the interface between the two."""
    path = tmp_path / "a.c"
    path.write_text("extern void reach_error(void);\nint main(void) { reach_error(); return 0; }\n")
    task = SimpleNamespace(single_input_file=str(path), property_file="unreach-call.prp")
    line = tool.cmdline("memfence", ["check"], task, SimpleNamespace(cputime=None, memory=None))
    done = memfence(*line[1:])
    run = ended(done.returncode, line=" ".join(line), output=done.stdout)
    assert tool.determine_result(run) == "false(unreach-call)"
