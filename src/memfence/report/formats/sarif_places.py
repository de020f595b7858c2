"""Findings and their places in the user's text, as SARIF writes them."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from memfence.source import NOWHERE, SourceText, Span

Object = dict[str, Any]


def rule_id(rule: str) -> str:
    return f"memfence/{rule}"


def finding(rule: str, kind: str, level: str, message: str, at: Object, properties: Object, **more: Any) -> Object:
    """A SARIF `result` at one location; what is empty of `more` is left out."""
    return {
        "ruleId": rule_id(rule),
        "kind": kind,
        "level": level,
        "message": {"text": message},
        "locations": [at],
        **{key: value for key, value in more.items() if value},
        "properties": properties,
    }


def place(span: Span) -> Object:
    """A SARIF `location`: file, and lines and columns counted in characters from 1; nothing for what has no place."""
    if span.source is NOWHERE.source:
        return {}
    return {"physicalLocation": {"artifactLocation": {"uri": uri(span.source)}, "region": region(span)}}


def region(span: Span) -> Object:
    end_line = span.source.line_of(max(span.start, span.end - 1)) if span.end > span.start else span.line
    end_column = span.source.column_of(span.end - 1) + 1 if span.end > span.start else span.column
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": end_line,
        "endColumn": end_column,
    }


def uri(source: SourceText) -> str:
    """The path as a URI reference: relative paths stay relative, so that a log can be moved with its project."""
    path = PurePath(source.path)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
