"""Reading C is fast: a file of 1,000 lines within 1.5 seconds of processor time beyond clang's own."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from support.c_compiler import needs_clang

BENCHMARK = Path(__file__).resolve().parents[2] / "benchmarks" / "c_speed.py"


def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("c_speed", BENCHMARK)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_clang
def test_a_thousand_lines_are_read_in_time() -> None:
    speed = benchmark()
    source = speed.generated()
    assert source.text.count("\n") >= 1000
    _, reading = speed.reading_seconds(source)
    assert reading <= 1.5
