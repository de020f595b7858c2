"""Results as JUnit XML, which every CI system shows: a test case a check.

A violation is a failure. What is neither proved nor refuted is an error: a green test must mean a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

from memfence.diagnostics import InputError, render
from memfence.records import Record
from memfence.report.describe.check_text import render_text, verdict_line
from memfence.report.words.properties import property_line
from memfence.tasks.answer import Verdict
from memfence.tasks.result import CheckResult

if TYPE_CHECKING:
    from memfence.synthesis.result import FixResult


Problem = Literal["failure", "error"] | None
PROBLEMS: dict[Verdict, Problem] = {
    Verdict.HOLDS: None,
    Verdict.VIOLATED: "failure",
    Verdict.HOLDS_UP_TO: "error",
    Verdict.UNKNOWN: "error",
}


class TestCase(Record):
    """`problem` is None for a proof; `message` is one line, `text` the whole report."""

    __test__ = False

    group: str
    name: str
    seconds: float
    problem: Problem
    kind: str
    message: str
    text: str


def render_junit(result: CheckResult) -> str:
    """The result of a check as JUnit XML."""
    return render_cases([check_case(result)])


def render_junit_errors(file: str, error: InputError) -> str:
    """An input that cannot be used as a test case with an error."""
    messages = "; ".join(f"{d.code.id}: {d.message}" for d in error.diagnostics)
    return render_cases([TestCase("memfence", file, 0.0, "error", "input", messages, render(error.diagnostics))])


def render_junit_fix(result: FixResult) -> str:
    """The result of fence synthesis: a missing fence is a failure, with the patch as its text."""
    from memfence.report.describe.fix_text import fix_text
    from memfence.report.words.fix_sentences import fix_property, fix_verdict_line
    from memfence.synthesis.result import FixVerdict

    problems: dict[FixVerdict, Problem] = {FixVerdict.ALREADY_HOLDS: None, FixVerdict.UNKNOWN: "error"}
    case = TestCase(
        group=f"memfence.{result.model}.{result.criterion}.fences",
        name=f"{result.program.source.path}: {fix_property(result)}",
        seconds=result.stats.seconds,
        problem=problems.get(result.verdict, "failure"),
        kind=result.verdict.value,
        message=fix_verdict_line(result),
        text=fix_text(result),
    )
    return render_cases([case])


def check_case(result: CheckResult) -> TestCase:
    """One check as a test case, called after its file."""
    return TestCase(
        group=f"memfence.{result.model}.{result.criterion}",
        name=f"{result.program.source.path}: {property_line(result)}",
        seconds=result.stats.seconds,
        problem=PROBLEMS[result.verdict],
        kind=result.verdict.value,
        message=verdict_line(result),
        text=render_text(result),
    )


def render_cases(cases: Sequence[TestCase]) -> str:
    """All cases as one test suite."""
    suite = ElementTree.Element(
        "testsuite",
        name="memfence",
        tests=str(len(cases)),
        failures=str(sum(case.problem == "failure" for case in cases)),
        errors=str(sum(case.problem == "error" for case in cases)),
        skipped="0",
        time=f"{sum(case.seconds for case in cases):.3f}",
    )
    for case in cases:
        attributes = {"classname": case.group, "name": _clean(case.name), "time": f"{case.seconds:.3f}"}
        element = ElementTree.SubElement(suite, "testcase", attributes)
        if case.problem is not None:
            attributes = {"type": case.kind, "message": _clean(case.message)}
            ElementTree.SubElement(element, case.problem, attributes).text = _clean(case.text)
        else:
            ElementTree.SubElement(element, "system-out").text = _clean(case.text)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    """`text` without the control characters that XML cannot contain."""
    return "".join(c if c in "\t\n\r" or (ord(c) >= 0x20 and c not in "\ufffe\uffff") else "�" for c in text)
