"""Fences as SARIF results: each says where it goes and why, and carries the whole patch as its fix."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

from memfence.execution.trace import Trace
from memfence.report.formats.sarif import what_was_asked
from memfence.report.formats.sarif_flows import code_flow
from memfence.report.formats.sarif_places import finding, place, uri
from memfence.report.words.fix_sentences import fix_scope
from memfence.source import SourceText, Span
from memfence.synthesis.result import FixResult, FixVerdict, PlacedFence

Object = dict[str, Any]


def fix_results(result: FixResult) -> list[Object]:
    """A result a fence that is missing; a single one where no fence is, or where none helps."""
    fixes = [_patch(result)] if result.files else []
    if result.verdict is FixVerdict.FIXED:
        return [_fence_result(result, fence, fixes) for fence in result.chosen.fences]
    kinds = {
        FixVerdict.ALREADY_HOLDS: ("pass", "none", "no fence is missing"),
        FixVerdict.IMPOSSIBLE: ("fail", "error", "no fence can make the program work"),
    }
    kind, level, text = kinds.get(result.verdict, ("open", "none", f"unknown: {fix_scope(result)}"))
    message = f"{result.program.source.path} under {result.model} ({result.criterion}): {text}"
    return [_result(result, kind, level, message, result.program.source.span(0, 0), result.trace, [])]


def _fence_result(result: FixResult, fence: PlacedFence, fixes: list[Object]) -> Object:
    side = "before" if fence.is_before else "after"
    message = f"{fence.kind} needed {side} `{fence.text}` under {result.model} ({result.criterion})"
    return _result(result, "fail", "error", message, fence.at, fence.run, fixes)


def _result(
    result: FixResult,
    kind: str,
    level: str,
    message: str,
    at: Span,
    run: Trace | None,
    fixes: list[Object],
) -> Object:
    properties = {**what_was_asked(result, fix_scope(result)), "minimum": result.is_minimum}
    flows = [] if run is None else [code_flow(run)]
    return finding("fences", kind, level, message, place(at), properties, codeFlows=flows, fixes=fixes)


def _patch(result: FixResult) -> Object:
    count = result.chosen.count
    return {
        "description": {"text": f"Write {count} fence{'' if count == 1 else 's'}, which is enough"},
        "artifactChanges": [
            {"artifactLocation": {"uri": uri(one.source)}, "replacements": replacements(one.source, one.text)}
            for one in result.files
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
