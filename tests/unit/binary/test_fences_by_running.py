"""Fences from executions: as few as by the model, none where none is needed, and the patched text is safe."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from memfence.api.run import fix_by_running, run
from memfence.synthesis.run_fences import RunFixVerdict
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang
from support.command_line import memfence

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
NEEDED = {"sober_lost_wakeup.c": 2, "chase_lev.c": 1, "postgresql_latch.c": 2}
pytestmark = needs_clang  # for tree-sitter


@pytest.mark.parametrize("name", NEEDED)
def test_as_few_fences_as_the_model_needs_and_the_patched_text_is_safe(name: str, tmp_path: Path) -> None:
    rows = {row["file"]: row for row in csv.DictReader((EXAMPLES / "c" / "expected.csv").open())}
    assert int(rows[name]["fences"]) == NEEDED[name]
    fixed = fix_by_running(EXAMPLES / "c" / name, timeout_seconds=60)
    assert fixed.verdict is RunFixVerdict.FIXED and len(fixed.fences) == NEEDED[name]
    assert fixed.patched is not None
    patched = tmp_path / name
    patched.write_text(fixed.patched)
    assert run(patched, timeout_seconds=60).verdict is Verdict.HOLDS
    assert all(set(clause) & set(fixed.fences) for clause in fixed.clauses)


def test_nothing_is_added_where_nothing_is_missing_or_nothing_helps() -> None:
    safe = fix_by_running(EXAMPLES / "c" / "latch_exchange.c", timeout_seconds=60)
    assert safe.verdict is RunFixVerdict.ALREADY_HOLDS and safe.diff == ""
    wrong = fix_by_running(EXAMPLES / "c" / "treiber_aba.c", timeout_seconds=60)
    assert wrong.verdict is RunFixVerdict.IMPOSSIBLE and wrong.patched is None


def test_the_command_writes_the_patch(tmp_path: Path) -> None:
    out = tmp_path / "fixed.c"
    done = memfence("fix", "--run", EXAMPLES / "c" / "sober_lost_wakeup.c", "-o", out, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["verdict"] == "fixed"
    assert out.read_text().count("atomic_thread_fence(memory_order_seq_cst);") == 2
    refused = memfence("fix", "--run", EXAMPLES / "c" / "sober_lost_wakeup.c", "--model", "pso")
    assert refused.returncode == 2 and "--run" in refused.stderr
