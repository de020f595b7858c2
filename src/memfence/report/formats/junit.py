"""Reports as JUnit XML, which every CI system shows: a test case per report.

A violation is a failure. What is neither proved nor refuted is an error: a green test must mean a proof.
"""

from __future__ import annotations

from xml.etree import ElementTree

from memfence.report.report import Report, Style


def render(report: Report) -> str:
    """The report as a test suite of one case; its text is the whole report."""
    case, text = report.case(), _clean(report.text(Style()))
    seconds = f"{case.seconds:.3f}"
    suite = ElementTree.Element(
        "testsuite",
        name="memfence",
        tests="1",
        failures=str(int(case.problem == "failure")),
        errors=str(int(case.problem == "error")),
        skipped="0",
        time=seconds,
    )
    element = ElementTree.SubElement(suite, "testcase", classname=case.group, name=_clean(case.name), time=seconds)
    if case.problem is not None:
        attributes = {"type": case.kind, "message": _clean(report.line())}
        ElementTree.SubElement(element, case.problem, attributes).text = text
    else:
        ElementTree.SubElement(element, "system-out").text = text
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    """`text` without the control characters that XML cannot contain."""
    return "".join(c if c in "\t\n\r" or (ord(c) >= 0x20 and c not in "\ufffe\uffff") else "�" for c in text)
