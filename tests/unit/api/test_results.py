"""The Python API: everything takes paths, texts and strings, and every result can be looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import memfence
from support.c_compiler import needs_clang
from support.command_line import ROOT
from support.command_line import memfence as command

EXAMPLE = "examples/lost_wakeup.pml"
TEXT = "byte x; active proctype A() { x = 1; assert(x == 1) }"
RUN = "examples/c/sober_lost_wakeup.c"
ORDERED = ROOT / "examples/c/spsc_ring.c"
TRACE = '{"op":"st","thread":0,"addr":"x","value":1}\n'


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")


def results(tmp_path: Path) -> dict[str, Any]:
    trace = tmp_path / "t.jsonl"
    trace.write_text(TRACE)
    return {
        "check": memfence.check(EXAMPLE),
        "fix": memfence.fix(EXAMPLE),
        "why": memfence.why("examples/double_checked.pml"),
        "compare": memfence.compare(EXAMPLE, fences=False),
        "explore": memfence.explore(EXAMPLE),
        "monitor": memfence.monitor(trace),
        "check_models": memfence.check_models("examples/store_buffering.litmus", "x86,sc"),
        "run": memfence.run(RUN),
    }


def test_strings_and_keywords_work_everywhere() -> None:
    assert memfence.check(EXAMPLE, model="tso", forbid="waiter@asleep && producer@unaware").verdict == "violated"
    assert memfence.check(Path(EXAMPLE), model="sc").verdict == "holds"
    assert memfence.check(TEXT).verdict == "holds"
    assert memfence.check(TEXT, final="x == 1", invariant=["x <= 1"]).verdict == "holds"
    assert memfence.fix(EXAMPLE).verdict == "fixed"


def test_results_of_every_verb_can_be_looked_at(tmp_path: Path) -> None:
    for verb, result in results(tmp_path).items():
        shown = repr(result).replace(EXAMPLE, "lost_wakeup.pml")
        assert len(shown) < 120 and "\n" not in shown, verb
        assert str(result).strip(), verb
        assert isinstance(json.loads(result.to_json()), dict), verb
        assert result.to_html().startswith("<!doctype html>"), verb
        assert "<iframe" in result._repr_html_(), verb


def test_results_about_memory_orders_have_pages_too() -> None:
    for result in (memfence.why_models(ORDERED, models="x86"), memfence.fix_models(ORDERED, "x86")):
        assert len(repr(result).replace(str(ORDERED), "spsc_ring.c")) < 120 and "x86" in str(result)
        assert isinstance(json.loads(result.to_json()), dict)
        assert "<iframe" in result._repr_html_() and "x86" in result._repr_html_()


def test_keywords_may_have_the_names_of_the_command_line() -> None:
    assert memfence.check(EXAMPLE, timeout=10, memory=1000).limits.memory_megabytes == 1000
    assert memfence.explore(EXAMPLE, timeout=10).verdict == "violated"
    assert memfence.run(RUN, timeout=20, model="tso").verdict == "violated"
    assert memfence.check_models("examples/store_buffering.litmus", "sc,x86", timeout=10).verdict == "violated"


def test_a_result_is_neither_true_nor_false(tmp_path: Path) -> None:
    for result in results(tmp_path).values():
        with pytest.raises(TypeError, match=r'write `result.verdict == "holds"`|look at'):
            bool(result)


def test_the_text_of_a_result_is_what_the_terminal_shows() -> None:
    shown = command("check", EXAMPLE).stdout
    mine = str(memfence.check(EXAMPLE))
    assert mine.splitlines()[0] == shown.splitlines()[0]
    assert mine.splitlines()[4:] == shown.splitlines()[4:]
    assert repr(memfence.check(EXAMPLE)) == "<CheckResult: VIOLATED under tso (safety), examples/lost_wakeup.pml>"


@pytest.mark.parametrize(
    ("verb", "keywords", "allowed"),
    [
        ("check", {"model": "arm"}, "'sc', 'tso', 'pso'"),
        ("check", {"model": 3}, "'sc', 'tso', 'pso'"),
        ("check", {"timeout": "soon"}, "seconds"),
        ("run", {"model": "armv8"}, "'sc', 'tso', 'pso'"),
        ("run", {"preemption": 2}, "did you mean preemptions?"),
        ("check", {"criterion": "fast"}, "'robust'"),
        ("check", {"engine": "magic"}, "'auto'"),
        ("check", {"modle": "tso"}, "did you mean model?"),
        ("check", {"buffer_bound": 0}, "1"),
        ("check", {"buffer_bound": 99999999999}, "65535"),
        ("check", {"timeout_seconds": float("nan")}, "seconds"),
        ("fix", {"minimise": "money"}, "'count'"),
        ("compare", {"model_": "tso"}, "no such option"),
        ("explore", {"preemption": 2}, "did you mean preemptions?"),
        ("why", {"criteria": ["fast"]}, "'robust'"),
        ("translate", {"to": "klingon"}, "'promela'"),
    ],
)
def test_a_value_that_makes_no_sense_is_a_value_error_with_the_allowed_ones(
    verb: str, keywords: dict[str, Any], allowed: str
) -> None:
    with pytest.raises(ValueError) as raised:
        getattr(memfence, verb)(EXAMPLE, **keywords)
    assert allowed in str(raised.value)


def test_bad_input_prints_with_its_line_and_a_caret() -> None:
    with pytest.raises(memfence.InputError) as raised:
        memfence.check("byte x;\nactive proctype A() { y = 1 }\n")
    shown = str(raised.value)
    assert "error[MF101]" in shown and "2 | active proctype A() { y = 1 }" in shown and "^" in shown


def test_a_name_that_is_no_file_says_so() -> None:
    with pytest.raises(memfence.InputError, match=r"cannot read `nowhere\.pml`"):
        memfence.check("nowhere.pml")


@pytest.mark.parametrize("model", ["x86,sc", ["x86", "sc"]])
def test_check_takes_lists_of_models(model: str | list[str]) -> None:
    found = memfence.check("examples/store_buffering.litmus", model=model, timeout=10)
    several = memfence.check_models("examples/store_buffering.litmus", model, timeout=10)
    assert [(one.name, one.verdict) for one in found.answers] == [(one.name, one.verdict) for one in several.answers]
    assert [(one.name, str(one.verdict)) for one in found.answers] == [("x86", "violated"), ("sc", "holds")]


@needs_clang
@pytest.mark.parametrize("model", ["rc11", "armv8", "riscv"])
def test_the_verbs_take_models_without_states(model: str) -> None:
    """Each answer is what the engine of executions answers to the portfolio."""
    (answer,) = memfence.check(ORDERED, model=model).answers
    assert (answer.verdict, answer.answer.engine) == ("holds", "executions")
    assert memfence.fix(ORDERED, model=model).verdict == "already_holds"
    assert True in {one.is_needed for one in memfence.why(ORDERED, model=model).orders}
    with pytest.raises(ValueError, match="engine"):
        memfence.check(ORDERED, model=model, engine="dual")
