"""`memfence run --model LIST`: one exploration per model, one table, one object."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from memfence.report.schemas import json_schema
from support.command_line import memfence
from support.run_programs import two_threads

MESSAGE = two_threads(
    "atomic_int ready; int data;",
    "data = 42; atomic_store_explicit(&ready, 1, memory_order_relaxed);",
    "if (atomic_load_explicit(&ready, memory_order_acquire)) assert(data == 42);",
)


@pytest.fixture
def message(tmp_path: Path) -> Path:
    path = tmp_path / "message.c"
    path.write_text(MESSAGE)
    return path


def test_the_worst_verdict_counts_and_each_model_has_a_row(message: Path) -> None:
    done = memfence("run", message, "--model", "x86,rc11", "-q")
    rows = [[cell.strip() for cell in line.split("│")] for line in done.stdout.splitlines()[3:]]
    assert done.returncode == 1
    assert [row[:2] for row in rows if len(row) > 1] == [["x86", "HOLDS"], ["rc11", "VIOLATED"]]


def test_the_object_follows_the_schema(message: Path) -> None:
    found = json.loads(memfence("run", message, "--model", "x86,rc11", "--json").stdout)
    jsonschema.validate(found, json_schema("run_models"))
    assert (found["verdict"], found["model"]) == ("violated", "x86,rc11")
    assert [one["verdict"] for one in found["models"]] == ["holds", "violated"]
    for name in ("executions", "blocked"):
        assert found[name] == sum(one[name] for one in found["models"])


def test_a_list_shows_what_each_model_shows_alone(message: Path) -> None:
    both = json.loads(memfence("run", message, "--model", "sc,rc11", "--json").stdout)["models"]
    for one in both:
        alone = json.loads(memfence("run", message, "--model", one["model"], "--json").stdout)
        assert [one[name] for name in ("verdict", "executions", "model")] == [
            alone[name] for name in ("verdict", "executions", "model")
        ]


@pytest.mark.parametrize("options", [("--save", "here"), ("--preemptions", "2"), ("--random", "3")])
def test_what_one_of_the_models_does_not_have_is_refused(message: Path, options: tuple[str, ...]) -> None:
    done = memfence("run", message, "--model", "x86,rc11", *options, folder=message.parent)
    assert done.returncode == 2
    assert not (message.parent / "here").exists()


def test_a_model_that_cannot_be_run_is_wrong_usage(message: Path) -> None:
    done = memfence("run", message, "--model", "x86,armv8")
    assert done.returncode == 2
    assert "'armv8' is not one of" in done.stderr
