"""What a verdict about C says that it covers, in every kind of report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import memfence
from memfence.models.spec import ModelName
from memfence.program.load_options import COptions
from memfence.report.describe.check_data import check_object
from memfence.report.describe.check_page import check_page
from memfence.report.describe.check_text import render_text
from memfence.report.described import report_of, written
from memfence.report.formats.html import render_html
from memfence.report.words.coverage import assumptions
from memfence.tasks.result import CheckResult
from support.c_compiler import needs_clang

pytestmark = needs_clang
EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "c"


@pytest.fixture(scope="module")
def result() -> CheckResult:
    return memfence.check(EXAMPLES / "treiber_aba.c", model="tso")


def test_json_lists_the_assumptions_and_each_race_with_both_places(result: CheckResult) -> None:
    value = check_object(result)
    assert value["assumptions"][0] == "x86 only: C11 and ARM allow more"
    (warning,) = value["warnings"]
    assert (warning["code"], warning["severity"], warning["line"]) == ("MF206", "warning", 17)
    assert [place["line"] for place in warning["related"]] == [26]


def test_the_text_says_the_same_in_short(result: CheckResult) -> None:
    text = render_text(result)
    assert "  covers  x86 only: C11 and ARM allow more\n" in text
    assert "an xchg" not in text
    assert "an xchg" in render_text(result, verbose=True)


def test_page_and_sarif_say_so_too(result: CheckResult) -> None:
    page = render_html(check_page(result))
    assert "x86 only: C11 and ARM allow more" in page
    assert "MF206" in page
    (run,) = json.loads(written(result, "sarif"))["runs"]
    assert [found["ruleId"] for found in run["results"]] == ["memfence/safety", "MF206"]
    assert run["results"][0]["properties"]["assumptions"][0] == "x86 only: C11 and ARM allow more"


@pytest.mark.parametrize(("model", "limit"), [("sc", "sequential consistency only"), ("pso", "PSO only")])
def test_every_model_says_what_it_is_about(result: CheckResult, model: ModelName, limit: str) -> None:
    assert assumptions(result.program, model)[0].startswith(limit)


def test_bounds_that_were_reached_are_named(result: CheckResult) -> None:
    cut = replace(result.program, notes=("at most 2 threads created at one place (--threads-bound)",), is_cut_off=True)
    assert cut.notes[0] in assumptions(cut, "tso")
    assert not any("no bound" in text for text in assumptions(cut, "tso"))


def test_code_as_compiled_is_called_so(result: CheckResult) -> None:
    options = replace(result.program.options, c=COptions(as_compiled=True, overflow=False))
    taken = assumptions(replace(result.program, options=options), "tso")
    assert any("clang -O2" in text for text in taken)
    assert any("signed overflow wraps" in text for text in taken)


def test_fix_says_so_too() -> None:
    value = report_of(memfence.fix(EXAMPLES / "musl_unlock.c")).data()
    assert value["assumptions"][0] == "x86 only: C11 and ARM allow more"
    assert value["warnings"] == []


def test_the_runs_in_json_have_call_sites_and_no_names_of_the_front_end(result: CheckResult) -> None:
    trace = check_object(result)["trace"]
    assert [call["line"] for call in trace[0]["calls"]] == [38]
    named = [name for step in trace for registers in step["registers"].values() for name in registers]
    assert named and not any("%" in name for name in named)
    assert not any(name.startswith("thread") for name in trace[0]["memory"])
