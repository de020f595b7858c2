"""Witnesses of violations in SV-COMP's format: valid YAML, with the places of the run and the one that fails."""

from __future__ import annotations

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import memfence
from memfence.report.formats.svcomp_witness import has_witness, render_witness, specification
from support.c_compiler import needs_clang
from support.command_line import memfence as command

yaml = pytest.importorskip("yaml")
CREATED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LOST = """#include <pthread.h>
#include <assert.h>
int x;
static void *add(void *u)
{
    int r = x;
    x = r + 1;
    return 0;
}
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(x == 2);
    return 0;
}
"""


def waypoints(entry: Any) -> list[Any]:
    return [part["waypoint"] for segment in entry["content"] for part in segment["segment"]]


@needs_clang
def test_a_witness_leads_to_the_assertion(tmp_path: Path) -> None:
    path = tmp_path / "lost.c"
    path.write_text(LOST)
    result = memfence.check(path, model="sc")
    assert has_witness(result)
    (entry,) = yaml.safe_load(render_witness(result, created=CREATED))
    task = entry["metadata"]["task"]
    assert entry["entry_type"] == "violation_sequence"
    assert entry["metadata"]["format_version"] == "2.0"
    assert entry["metadata"]["creation_time"] == "2026-01-02T03:04:05+00:00"
    assert task["input_file_hashes"] == {str(path): sha256(LOST.encode()).hexdigest()}
    assert "reach_error" in task["specification"]
    found = waypoints(entry)
    assert [w["type"] for w in found].count("target") == 1
    assert found[-1]["type"] == "target" and found[-1]["location"]["line"] == 17
    assert [w["location"]["line"] for w in found if w["location"]["line"] in (6, 7)] != []


@needs_clang
def test_the_command_writes_it_for_sc_alone(tmp_path: Path) -> None:
    path, out = tmp_path / "lost.c", tmp_path / "out.yml"
    path.write_text(LOST)
    assert command("check", path, "--model", "sc", "--witness", out, "-q").returncode == 1
    assert yaml.safe_load(out.read_text())[0]["content"]
    refused = command("check", path, "--model", "tso", "--witness", out)
    assert refused.returncode == 2 and "--model sc" in refused.stderr


@needs_clang
def test_a_proof_has_no_witness(tmp_path: Path) -> None:
    path, out = tmp_path / "fine.c", tmp_path / "out.yml"
    path.write_text("int main(void) { return 0; }")
    assert command("check", path, "--model", "sc", "--criterion", "safety", "--witness", out, "-q").returncode == 0
    assert not out.exists()


def test_each_failure_has_its_property() -> None:
    assert "overflow" in specification("signed integer overflow")
    assert "valid-free" in specification("double free: heap1")
    assert "valid-deref" in specification("null pointer dereference: load")
    assert "reach_error" in specification("assertion violated")
