"""One table of formats: every verb that prints an object writes every format, and so does every result in Python."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import memfence
from memfence.report.describe.error import error_report
from memfence.report.described import REPORTS, report_of, written
from memfence.report.formats.github import render as annotations
from memfence.report.formats.table import FORMATS
from memfence.report.report import Case, Finding, Report, Rule
from memfence.source import SourceText
from memfence.verbs.names import IN_JSON
from memfence.verbs.options import option_of
from support.c_compiler import needs_clang
from support.command_line import ROOT
from support.command_line import memfence as command

EXAMPLE = "examples/lost_wakeup.pml"
RING = "examples/c/spsc_ring.c"
TRACE = '{"op":"st","thread":0,"addr":"x","value":1}\n'
LINES = {
    "check": ("check", EXAMPLE),
    "check of models": ("check", "examples/store_buffering.litmus", "--model", "sc,x86"),
    "fix": ("fix", EXAMPLE),
    "why": ("why", "examples/double_checked.pml"),
    "relax": ("relax", "examples/c/message_passing.c", "--model", "x86"),
    "compare": ("compare", "examples/message_passing.pml", "--no-fences"),
    "explore": ("explore", EXAMPLE),
    "simulate": ("simulate", EXAMPLE, "--random", "1"),
    "monitor": ("monitor", "TRACE"),
    "verify": ("verify", "PROOF", EXAMPLE),
    "cost": ("cost", "--default"),
    "test": ("test", "examples/objects/spsc_ring.c", "--model", "sc", "--shape", "2x1"),
    "conform": ("conform", "examples/store_buffering.litmus", "--seconds", "0.05"),
    "reproduce": ("reproduce", "examples/message_passing.pml"),
}


def test_every_verb_that_prints_an_object_has_every_format() -> None:
    for verb in sorted(IN_JSON):
        for form in FORMATS:
            option = option_of(verb, form.name)
            assert option is not None and option.help == form.help, (verb, form.name)
    assert {line[0] for line in LINES.values()} | {"run"} == IN_JSON


@pytest.mark.parametrize("name", [pytest.param(n, marks=needs_clang) if n in ("relax", "test") else n for n in LINES])
def test_the_formats_are_written_beside_what_is_printed(name: str, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text(TRACE)
    places = {"TRACE": str(tmp_path / "t.jsonl"), "PROOF": str(tmp_path / "p.mfc")}
    line = [places.get(word, word) for word in LINES[name]]
    if "PROOF" in LINES[name]:
        command("check", EXAMPLE, "--model", "sc", "--certificate", places["PROOF"])
    asked = [word for form in FORMATS for word in (f"--{form.name}", tmp_path / form.name)]
    done = command(*line, *asked)
    assert done.returncode in (0, 1, 4), done.stderr
    assert done.stdout
    assert (tmp_path / "html").read_text().startswith("<!doctype html>")
    (suite,) = ElementTree.fromstring((tmp_path / "junit").read_text())
    problem = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
    (run,) = json.loads((tmp_path / "sarif").read_text())["runs"]
    kinds = {one["kind"] for one in run["results"]}
    assert kinds, "a report finds something, be it a proof"
    assert done.returncode == 0 or line[0] in ("fix", "simulate") or problem or line[0] == "compare"
    lines = (tmp_path / "github").read_text().splitlines()
    assert len(lines) == sum(one["kind"] != "pass" for one in run["results"])
    assert all(one.startswith(("::error ", "::warning ", "::notice ")) for one in lines)


@needs_clang
def test_memory_orders_are_findings_with_the_patch() -> None:
    fixed = memfence.fix_models(ROOT / "examples/c/sober_lost_wakeup.c", "x86")
    (run,) = json.loads(fixed.to("sarif"))["runs"]
    assert fixed.verdict == "fixed" and len(run["results"]) == len(fixed.changes)
    assert all(one["fixes"] for one in run["results"])
    for form in ("sarif", "html", "github"):
        assert "x86" in written(memfence.why_models(ROOT / RING, models="x86"), form)


def test_bad_input_is_reported_in_every_format_of_machines(tmp_path: Path) -> None:
    (tmp_path / "bad.pml").write_text("byte x;\nactive proctype A() { y = 1 }\n")
    asked = [word for form in FORMATS for word in (f"--{form.name}", form.name)]
    done = command("explore", "bad.pml", *asked, folder=tmp_path)
    assert done.returncode == 3
    assert {path.name for path in tmp_path.iterdir()} == {"bad.pml", "sarif", "junit", "github"}
    (line,) = (tmp_path / "github").read_text().splitlines()
    assert line.startswith("::error file=bad.pml,line=2,col=23,title=MF")


def test_a_dash_prints_the_report_instead_of_the_text() -> None:
    done = command("check", EXAMPLE, "--github", "-")
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"::error file={EXAMPLE},line=")
    assert "title=memfence safety::" in line
    found = json.loads(command("check", EXAMPLE, "--sarif", "-").stdout)
    assert found["version"] == "2.1.0"


def _report(*findings: Finding) -> Report:
    def nothing(*_: object) -> str:
        return ""

    return Report(
        line=nothing,
        text=nothing,
        data=dict,
        page=lambda: error_report(memfence.InputError([]), "f").page(),
        findings=lambda: findings,
        case=lambda: Case(group="g", name="n", kind="k", problem=None),
        sources=tuple,
    )


def test_annotations_escape_what_github_would_read() -> None:
    at = SourceText("a,b:c.pml", "x\ny\n").span(2, 3)
    rule = Rule("memfence/safety", "")
    found = Finding(rule=rule, kind="fail", level="error", message="100 %\nof it", at=at)
    assert annotations(_report(found)) == (
        "::error file=a%2Cb%3Ac.pml,line=2,col=1,title=memfence safety::100 %25%0Aof it\n"
    )


def test_a_proof_has_no_annotation_and_an_open_question_is_a_warning() -> None:
    rule = Rule("memfence/safety", "")
    proved = Finding(rule=rule, kind="pass", level="none", message="HOLDS")
    unknown = Finding(rule=rule, kind="open", level="none", message="UNKNOWN")
    review = Finding(rule=rule, kind="review", level="note", message="look")
    shown = annotations(_report(proved, unknown, review)).splitlines()
    assert shown == ["::warning title=memfence safety::UNKNOWN", "::notice title=memfence safety::look"]


def test_every_report_of_the_table_exists() -> None:
    from importlib import import_module

    for place in REPORTS.values():
        module, _, function = place.partition(".")
        assert callable(getattr(import_module(f"memfence.report.describe.{module}"), function))


def test_a_result_in_python_is_written_in_every_format() -> None:
    result = memfence.check(ROOT / EXAMPLE)
    for form in FORMATS:
        assert result.to(form.name) == form.render(report_of(result))
    assert result.to("text") == str(result) + "\n"
