"""What `--json` prints is what the shipped schemas promise."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

from memfence.api.simulate import simulate
from memfence.diagnostics import InputError
from memfence.models.spec import ModelName
from memfence.pipeline import load, load_text
from memfence.program.ir import Ltl
from memfence.questions import check
from memfence.questions.explore import ExploreOptions, explore
from memfence.questions.monitor import monitor
from memfence.report.contract.schema import FOLDER, ROOTS, as_text, derived
from memfence.report.describe.atomic import atomic_object
from memfence.report.describe.check_data import check_object, error_object
from memfence.report.describe.compare import comparison_object, render_comparison
from memfence.report.describe.explore_text import explore_object
from memfence.report.describe.fix_text import fix_object
from memfence.report.describe.monitor_text import monitor_object
from memfence.report.describe.simulate import walk_object
from memfence.report.describe.why_text import necessity_object
from memfence.report.schemas import json_schema, schema_names
from memfence.source import SourceText
from memfence.synthesis.atomic_writes import fix_ltl
from memfence.synthesis.comparison import compare
from memfence.synthesis.necessity import existing_fences, why
from memfence.synthesis.options import FixOptions
from memfence.synthesis.synthesise import fix_fences as fix
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from support.c_compiler import needs_clang

jsonschema = pytest.importorskip("jsonschema")
BORDERLINE = """\
{"op": "st", "thread": 0, "addr": "x", "value": 1}
{"op": "ld", "thread": 0, "addr": "y", "value": 0}
{"op": "st", "thread": 1, "addr": "y", "value": 1}
{"op": "ld", "thread": 1, "addr": "x", "value": 1}
"""
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def check_schema(value: Any, name: str) -> None:
    store = {json_schema(other)["$id"]: json_schema(other) for other in schema_names()}
    schema = json_schema(name)
    with warnings.catch_warnings(action="ignore"):  # RefResolver: works in versions with and without `referencing`
        resolver = jsonschema.RefResolver.from_schema(schema, store=store)
    validator = jsonschema.Draft202012Validator(schema, resolver=resolver)
    assert [error.message for error in validator.iter_errors(json.loads(json.dumps(value)))] == []


@pytest.mark.parametrize("name", schema_names())
def test_every_schema_is_a_schema(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema(name))


@pytest.mark.parametrize("name", schema_names())
def test_the_shipped_schemas_are_those_of_the_classes(name: str) -> None:
    assert set(schema_names()) == set(ROOTS)
    assert (FOLDER / f"{name}.json").read_text() == as_text(derived(name)), "write them again: make golden"


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize("criterion", ["safety", "persistent", "robust", "povso", "po", "trf", "drf"])
@pytest.mark.parametrize("example", ["lost_wakeup", "message_passing"])
def test_checks_follow_the_schema(example: str, criterion: Criterion, model: ModelName) -> None:
    result = check(load(EXAMPLES / f"{example}.pml"), CheckOptions(model=model, criterion=criterion))
    value = check_object(result)
    check_schema(value, "check")
    assert sorted(set(value) - set(json_schema("check")["properties"])) == []


def test_a_run_that_repeats_follows_the_schema() -> None:
    text = "P_0@cs"
    ltl = Ltl("ltl", f"G F {text}", SourceText("--ltl", text).span(0, 1))
    result = check(load(EXAMPLES / "peterson.pml"), CheckOptions(model="tso", ltl=ltl))
    value = check_object(result)
    assert value["verdict"] == "violated" and value["loop_start"] is not None
    check_schema(value, "check")


def test_a_proof_with_a_trace_is_refused() -> None:
    value = check_object(check(load(EXAMPLES / "lost_wakeup.pml"), CheckOptions(model="tso")))
    with pytest.raises(AssertionError):
        check_schema({**value, "verdict": "holds"}, "check")


@pytest.mark.parametrize("model", ["tso", "pso"])
@pytest.mark.parametrize("example", ["lost_wakeup", "message_passing"])
def test_fixes_follow_the_schema(example: str, model: ModelName) -> None:
    check_schema(fix_object(fix(load(EXAMPLES / f"{example}.pml"), FixOptions(model=model, all=True))), "fix")


@pytest.mark.parametrize("fences", [True, False])
@pytest.mark.parametrize("example", ["lost_wakeup", "message_passing"])
def test_comparisons_follow_the_schema(example: str, fences: bool) -> None:
    value = comparison_object(compare(load(EXAMPLES / f"{example}.pml"), fences=fences))
    assert all((row["fences"] is not None) == fences for name, row in value["criteria"].items() if name != "drf")
    check_schema(value, "compare")


@needs_clang
def test_a_comparison_says_which_criteria_it_leaves_out_and_why() -> None:
    comparison = compare(load(EXAMPLES / "c" / "ck_epoch_begin.c"), fences=False)
    value = comparison_object(comparison)
    note = (
        "drf, trf, persistent and robust are left out: they are about single accesses of shared memory, "
        "and have no meaning for the lifetime of an object (line 34)"
    )
    assert value["notes"] == [note]
    assert f"note: {note}\n" in render_comparison(comparison, width=100)
    assert set(value["criteria"]) == {"state-robust-tso", "state-robust-pso", "safety-tso", "safety-pso"}
    check_schema(value, "compare")


def test_a_comparison_about_infinite_runs_follows_the_schema() -> None:
    program, formula = load(EXAMPLES / "dve" / "increments.dve"), "F (x == 2 && y > 0)"
    ltl = Ltl("ltl", formula, SourceText("--ltl", formula).span(0, len(formula)))
    value = comparison_object(compare(program, CheckOptions(ltl=ltl)))
    check_schema(value, "compare")
    assert value["affected"] == {"tso": True, "pso": True}
    assert value["criteria"]["safety-sc"]["verdict"] == "holds"


def test_reasons_for_fences_follow_the_schema() -> None:
    patched = fix(load(EXAMPLES / "lost_wakeup.pml"), FixOptions(model="tso")).patched
    assert patched is not None
    program = load_text(SourceText("fixed.pml", patched.replace('#include "memfence.h"\n', "")))
    check_schema(necessity_object([why(program, "safety", CheckOptions(model="tso"), existing_fences(program))]), "why")


def test_bad_input_follows_the_schema() -> None:
    with pytest.raises(InputError) as caught:
        load_text(SourceText("bad.pml", "byte x; byte x; active proctype P() { y = 1 }"))
    check_schema(error_object(caught.value), "error")


def test_an_unknown_schema_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        json_schema("../json")


@pytest.mark.parametrize("example", ["sober/fig1b", "sober/fig1b_fenced", "message_passing"])
def test_explorations_follow_the_schema(example: str) -> None:
    check_schema(explore_object(explore(load(EXAMPLES / f"{example}.pml"), ExploreOptions(preemptions=2))), "explore")


def test_monitored_traces_follow_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(BORDERLINE)
    value = monitor_object(monitor(path))
    assert value["verdict"] == "violated" and value["event"] is not None
    check_schema(value, "monitor")
    path.write_text(BORDERLINE.splitlines()[0] + "\n")
    check_schema(monitor_object(monitor(path)), "monitor")


def test_a_fix_by_atomic_writes_follows_the_schema() -> None:
    ltl = Ltl("ltl", "G !(P@cs && Q@cs)", SourceText("--ltl", "P").span(0, 1))
    result = fix_ltl(load(EXAMPLES / "dve" / "peterson.dve"), FixOptions(ltl=ltl))
    value = atomic_object(result)
    assert value["verdict"] == "fixed" and value["count"] == 2 and value["minimum"]
    check_schema(value, "fix")


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_a_walk_follows_its_schema(model: ModelName) -> None:
    for path in (EXAMPLES / "store_buffering.litmus", EXAMPLES / "peterson.pml"):
        walk = simulate(path, model)
        check_schema(walk_object(walk), "simulate")
        check_schema(walk_object(walk.at_random(Random(1), 12)), "simulate")


@pytest.mark.parametrize("text", ["[] <> (x == 0)", "<> (x == 1)"])
def test_a_question_about_infinite_runs_is_named(text: str) -> None:
    program = load_text(SourceText("p.pml", "byte x;\nactive proctype P() { x = 1 }\n"))
    value = check_object(check(program, CheckOptions(ltl=Ltl("ltl", text, SourceText("--ltl", text).span(0, 1)))))
    check_schema(value, "check")
    assert (value["criterion"], value["formula"]) == ("liveness", text)
    assert check_object(check(program, CheckOptions(criterion="robust")))["formula"] is None
