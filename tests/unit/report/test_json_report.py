"""The JSON contract: keys that scripts rely on."""

from __future__ import annotations

import json

import pytest
from test_text_report import result_of

from memfence.diagnostics import InputError
from memfence.execution.trace import Trace
from memfence.models.state import Commit, DropSeparator, ProcessStep
from memfence.program.text.properties import parse_expression
from memfence.report.describe.check_data import error_object, trace_list
from memfence.report.described import written
from memfence.tasks.answer import Verdict
from support.models import memory_model
from support.samples import Sample, message_passing, store_buffering


def test_a_violation_has_every_key_of_the_contract() -> None:
    value = json.loads(written(result_of(message_passing(), "pso"), "json"))
    assert {"file", "model", "criterion", "verdict", "bound", "engine", "property", "trace", "stats"} <= set(value)
    assert {"scope", "notes"} <= set(value)
    assert (value["assumptions"], value["warnings"]) == ([], [])  # those are about C
    assert (value["file"], value["model"], value["verdict"]) == ("mp.txt", "pso", "violated")
    assert set(value["stats"]) >= {"states", "transitions", "seconds", "peak_mb"}
    step = value["trace"][2]
    assert (step["step"], step["process"], step["kind"], step["line"]) == (3, "writer", "commit", None)
    assert step["memory"] == {"data": 0, "flag": 1}
    assert step["buffers"] == {"writer": [{"variable": "data", "value": 1}], "reader": []}
    load = value["trace"][3]
    assert (load["kind"], load["file"], load["line"], load["text"]) == ("run", "mp.txt", 6, "f := flag")
    assert load["registers"] == {"writer": {}, "reader": {"f": 1, "d": 0}}


@pytest.mark.parametrize("verdict", [Verdict.HOLDS, Verdict.HOLDS_UP_TO, Verdict.UNKNOWN])
def test_without_a_violation_there_is_no_trace(verdict: Verdict) -> None:
    value = json.loads(written(result_of(store_buffering(), "tso", verdict), "json"))
    assert value["verdict"] == verdict.value
    assert value["trace"] is None


def test_separators_and_failures_are_shown() -> None:
    program = Sample("s", "x y").process("P", "x := 1", "sfence", "r := y", "assert r == 1").build()
    steps = [ProcessStep(0, 0), ProcessStep(0, 1), Commit(0, 0), DropSeparator(0), ProcessStep(0, 2), ProcessStep(0, 3)]
    shown = trace_list(Trace(program, memory_model("pso"), 0, steps))
    assert shown[1]["buffers"]["P"] == [{"variable": "x", "value": 1}, {"separator": True}]
    assert shown[3]["kind"] == "drop_separator"
    assert shown[5]["failure"] == "assertion violated"


def test_an_input_error_is_an_object_with_places() -> None:
    with pytest.raises(InputError) as caught:
        parse_expression("x == 1 &&\n  z", store_buffering())
    value = error_object(caught.value)
    (diagnostic,) = value["diagnostics"]
    assert value["error"] == "unknown shared variable `z`"
    assert (diagnostic["code"], diagnostic["line"], diagnostic["column"]) == ("MF101", 2, 3)
