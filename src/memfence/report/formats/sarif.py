"""Reports as SARIF 2.1.0, for code scanning and editors: a result per finding, a thread flow per process, patches as
fixes.

A proof is a result of kind `pass`; what is neither proved nor refuted is `open`, never `pass`.
"""

from __future__ import annotations

import json
from difflib import SequenceMatcher
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from memfence.report.report import Finding, Patch, Report, Rule
from memfence.source import NOWHERE, SourceText, Span
from memfence.version import VERSION

Object = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report) -> str:
    """The report as a SARIF log of one run."""
    findings = list(report.findings())
    rules = dict.fromkeys(finding.rule for finding in findings)
    driver = {"name": "memfence", "version": VERSION, "rules": [_rule(rule) for rule in rules]}
    sources = [source for source in report.sources() if source is not NOWHERE.source]
    run = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": not report.is_about_input}],
        "artifacts": [{"location": {"uri": uri(source)}} for source in dict.fromkeys(sources)],
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding) for finding in findings],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False) + "\n"


def _rule(rule: Rule) -> Object:
    full = {"fullDescription": {"text": rule.text}} if rule.text else {}
    return {"id": rule.id, "shortDescription": {"text": rule.summary}, **full}


def _result(finding: Finding) -> Object:
    """A SARIF `result`; what is empty is left out."""
    more = {
        "relatedLocations": [
            {"id": number, **place(span), "message": {"text": text}}
            for number, (span, text) in enumerate(finding.related, 1)
        ],
        "codeFlows": _flows(finding),
        "fixes": [] if finding.patch is None else [_fix(finding.patch)],
        "properties": dict(finding.facts),
    }
    return {
        "ruleId": finding.rule.id,
        "kind": finding.kind,
        "level": finding.level,
        "message": {"text": finding.message},
        "locations": [{} if finding.at is None else place(finding.at)],
        **{key: value for key, value in more.items() if value},
    }


def _flows(finding: Finding) -> list[Object]:
    if finding.run is None:
        return []
    from memfence.report.formats.sarif_flow import code_flow

    return [code_flow(finding.run)]


def _fix(patch: Patch) -> Object:
    return {
        "description": {"text": patch.text},
        "artifactChanges": [
            {"artifactLocation": {"uri": uri(one.source)}, "replacements": replacements(one.source, one.text)}
            for one in patch.files
        ],
    }


def replacements(source: SourceText, patched: str) -> list[Object]:
    """The edits, line by line, that turn the text into `patched`."""
    old, new = source.text.splitlines(keepends=True), patched.splitlines(keepends=True)
    found: list[Object] = []
    for kind, old_from, old_to, new_from, new_to in SequenceMatcher(a=old, b=new, autojunk=False).get_opcodes():
        if kind != "equal":
            region = {"startLine": old_from + 1, "startColumn": 1, "endLine": old_to + 1, "endColumn": 1}
            found.append({"deletedRegion": region, "insertedContent": {"text": "".join(new[new_from:new_to])}})
    return found


def place(span: Span) -> Object:
    """A SARIF `location`: file, and lines and columns counted in characters from 1; nothing for what has no place."""
    if span.source is NOWHERE.source:
        return {}
    return {"physicalLocation": {"artifactLocation": {"uri": uri(span.source)}, "region": _region(span)}}


def _region(span: Span) -> Object:
    end_line = span.source.line_of(max(span.start, span.end - 1)) if span.end > span.start else span.line
    end_column = span.source.column_of(span.end - 1) + 1 if span.end > span.start else span.column
    return {"startLine": span.line, "startColumn": span.column, "endLine": end_line, "endColumn": end_column}


def uri(source: SourceText) -> str:
    """The path as a URI reference: relative paths stay relative, so that a log can be moved with its project."""
    path = PurePath(source.path)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
