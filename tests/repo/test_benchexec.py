"""The tool-info module for BenchExec: what it runs, and how it reads the answer."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

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


def ended(code: int, *, timeout: bool = False) -> SimpleNamespace:
    return SimpleNamespace(was_timeout=timeout, exit_code=SimpleNamespace(value=code, signal=None))


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
