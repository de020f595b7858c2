"""Results as SARIF 2.1.0, for code scanning and editors: one result a check, a thread flow a process, patches as fixes.

A proof is a result of kind `pass`; what is neither proved nor refuted is `open`, never `pass`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError
from memfence.explanations import explanation
from memfence.report.describe.check_text import verdict_line
from memfence.report.formats.sarif_flows import code_flow, essential_places
from memfence.report.formats.sarif_places import finding, place, rule_id, uri
from memfence.report.words.coverage import assumptions
from memfence.report.words.doubts import warnings_of
from memfence.report.words.model_name import model_object
from memfence.report.words.reason import reasons
from memfence.report.words.sentences import detail_lines, scope_text
from memfence.source import NOWHERE, SourceText
from memfence.tasks.answer import Verdict
from memfence.tasks.result import CheckResult
from memfence.version import VERSION

if TYPE_CHECKING:
    from memfence.synthesis.result import FixResult

Object = dict[str, Any]

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

RULES = {
    "safety": "Every reachable state and every assertion is as the program demands.",
    "persistent": "Every run has the program order and store order of some SC run.",
    "robust": "Every run has the happens-before trace of an SC run.",
    "state-robust": "Every state with empty buffers is reachable under SC.",
    "trf": "No triangular race.",
    "drf": "No data race.",
    "run": "Every execution of the program is correct, and none could go differently with store buffers.",
    "fences": "The fences that make the program work are written.",
}


def render_sarif(result: CheckResult) -> str:
    """The result of a check as a SARIF log."""
    warnings = warnings_of(result)
    notes = [{**_diagnostic_result(one), "kind": "review", "level": "note"} for one in warnings]
    rules = [_code_rule(code) for code in dict.fromkeys(one.code for one in warnings)]
    return render_log([check_result(result), *notes], [result.criterion.value], [result.program.source], rules)


def render_sarif_errors(error: InputError) -> str:
    """What is wrong with an input as a SARIF log: one result a diagnostic."""
    results = [_diagnostic_result(d) for d in error.diagnostics]
    sources = dict.fromkeys(d.at.span.source for d in error.diagnostics)
    codes = dict.fromkeys(d.code for d in error.diagnostics)
    return render_log(results, [], list(sources), [_code_rule(code) for code in codes], succeeded=False)


def render_sarif_fix(result: FixResult) -> str:
    """The result of fence synthesis as a SARIF log: a result a fence, all with the same patch as their fix."""
    from memfence.report.formats.sarif_fixes import fix_results

    return render_log(fix_results(result), ["fences"], [result.program.source])


def check_result(result: CheckResult) -> Object:
    """The SARIF `result` object of a check."""
    kind, level = _kind_and_level(result.verdict)
    message = " ".join([verdict_line(result), *reasons(result), *detail_lines(result)])
    flows = [] if result.trace is None else [code_flow(result.trace)]
    places = [] if result.trace is None else essential_places(result.trace)
    first = places[0][0] if places else result.program.source.span(0, 0)
    related = [{"id": i, **place(span), "message": {"text": text}} for i, (span, text) in enumerate(places[1:], 1)]
    stats = result.stats
    properties = {
        **what_was_asked(result, scope_text(result)),
        "bound": result.bound,
        "engine": result.engine,
        "states": stats.states,
        "transitions": stats.transitions,
    }
    where = place(first)
    return finding(result.criterion, kind, level, message, where, properties, relatedLocations=related, codeFlows=flows)


def what_was_asked(result: CheckResult | FixResult, scope: str) -> Object:
    """The verdict, and what it is about."""
    return {
        "verdict": result.verdict.value,
        **model_object(result),
        "criterion": result.criterion.value,
        "scope": scope,
        "assumptions": list(assumptions(result.program, result.model)),
    }


def _kind_and_level(verdict: Verdict) -> tuple[str, str]:
    match verdict:
        case Verdict.VIOLATED:
            return "fail", "error"
        case Verdict.HOLDS:
            return "pass", "none"
        case Verdict.HOLDS_UP_TO | Verdict.UNKNOWN:
            return "open", "none"


def _diagnostic_result(diagnostic: Diagnostic) -> Object:
    hint = f" ({diagnostic.hint})" if diagnostic.hint else ""
    related = [
        {"id": i, **place(label.span), "message": {"text": label.text or "related"}}
        for i, label in enumerate(diagnostic.related, 1)
    ]
    return {
        "ruleId": diagnostic.code.id,
        "kind": "fail",
        "level": diagnostic.severity,
        "message": {"text": f"{diagnostic.message}{hint}"},
        "locations": [place(diagnostic.at.span)],
        **({"relatedLocations": related} if related else {}),
    }


def _code_rule(code: Code) -> Object:
    return {"id": code.id, "shortDescription": {"text": code.summary}, "fullDescription": {"text": explanation(code)}}


def render_log(
    results: list[Object],
    criteria: list[str],
    sources: list[SourceText],
    more_rules: list[Object] | None = None,
    *,
    succeeded: bool = True,
) -> str:
    rules = [{"id": rule_id(name), "shortDescription": {"text": RULES[name]}} for name in criteria]
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "memfence", "version": VERSION, "rules": rules + (more_rules or [])}},
                "invocations": [{"executionSuccessful": succeeded}],
                "artifacts": [{"location": {"uri": uri(source)}} for source in sources if source is not NOWHERE.source],
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"
