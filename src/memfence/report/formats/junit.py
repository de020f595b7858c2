"""Reports as JUnit XML, which every CI system shows: a test case per report, or one for each of its
parts.

A violation is a failure. What is neither proved nor refuted is an error: a green test must mean a proof.
"""

from __future__ import annotations

from xml.etree import ElementTree

from memfence.report.report import Case, Report, Style


def render(report: Report) -> str:
    """The report as a test suite of its case, whose text is the whole report, or of the parts of that."""
    whole = report.case()
    cases = [whole] if report.cases is None else list(report.cases()) or [whole]
    seconds = f"{whole.seconds:.3f}"
    suite = ElementTree.Element(
        "testsuite",
        name="memfence",
        tests=str(len(cases)),
        failures=str(sum(case.problem == "failure" for case in cases)),
        errors=str(sum(case.problem == "error" for case in cases)),
        skipped="0",
        time=seconds,
    )
    for case in cases:
        _add(suite, case, report)
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _add(suite: ElementTree.Element, case: Case, report: Report) -> None:
    text = _clean(case.text or report.text(Style()))
    seconds = f"{case.seconds:.3f}"
    element = ElementTree.SubElement(suite, "testcase", classname=case.group, name=_clean(case.name), time=seconds)
    if case.problem is not None:
        attributes = {"type": case.kind, "message": _clean(case.text or report.line())}
        ElementTree.SubElement(element, case.problem, attributes).text = text
    else:
        ElementTree.SubElement(element, "system-out").text = text


def _clean(text: str) -> str:
    """`text` without the control characters that XML cannot contain."""
    return "".join(c if c in "\t\n\r" or (ord(c) >= 0x20 and c not in "\ufffe\uffff") else "�" for c in text)
