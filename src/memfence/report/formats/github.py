"""Reports as annotations of GitHub's workflows: a line per finding, which GitHub shows beside the line of code.

What is proved has no annotation. What is neither proved nor refuted is a warning: no annotation must mean a proof.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.report.report import Finding, Report
from memfence.source import NOWHERE

COMMANDS = {"error": "error", "warning": "warning", "note": "notice", "none": "warning"}


def render(report: Report) -> str:
    """Workflow commands, one per line: `::error file=a.c,line=7,...::what is wrong`."""
    return "".join(
        f"::{COMMANDS[finding.level]} {','.join(_properties(finding))}::{_data(finding.message)}\n"
        for finding in report.findings()
        if finding.kind != "pass"
    )


def _properties(finding: Finding) -> Iterator[str]:
    at = finding.at
    if at is not None and at.source is not NOWHERE.source:
        yield f"file={_property(at.source.path)}"
        yield f"line={at.line}"
        yield f"col={at.column}"
    yield f"title={_property(finding.rule.id.replace('/', ' '))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
