"""Answers as values of the protocol: diagnostics, hovers, code lenses, edits. Its texts are counted in UTF-16 units."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lsprotocol import types

from memfence.source import SourceText, text_of

Object = dict[str, Any]
WORD = re.compile(r"[A-Za-z_][A-Za-z_0-9]*(?:\[\d+\])?")
MOST_VALUES = 12
COMMANDS = {"check": "memfence.check", "fix": "memfence.fix", "why": "memfence.why"}
NEEDS = {
    "needed": "needed: without it a run appears that breaks the program",
    "redundant": "not needed: the program is proved without it",
    "violated_anyway": "not known to be needed: the program fails as it is; check or fix it first",
    "unknown": "a limit was hit before it could be decided",
}

NEEDS_OF_ORDERS = {
    True: "needed: with {weaker} in its place a run appears that breaks the program",
    False: "not needed: with {weaker} in its place the program is proved, too",
    None: "not known to be needed: a limit was hit before it could be decided",
}


def position(source: SourceText, line: int, column: int) -> types.Position:
    """Line and column from 1, in characters, as the protocol counts: from 0, in UTF-16 units; never past the text."""
    last = source.text.count("\n") + 1
    line = max(1, min(line, last))
    shown = source.line_text(line)[: max(0, column - 1)]
    return types.Position(line - 1, len(shown.encode("utf-16-le")) // 2)


def line_range(source: SourceText, line: int, column: int = 1, length: int | None = None) -> types.Range:
    """`length` characters from there on, or the rest of the line."""
    start = position(source, line, column)
    last = position(source, line, 1_000_000 if length is None else column + length)
    return types.Range(start, max(last, start, key=lambda place: place.character))


def diagnostics_of(source: SourceText, address: str, answer: Object) -> list[types.Diagnostic]:
    """The mistakes in a text, or that reading it took too long; of a check, what it found."""
    if "verdict" in answer:
        return verdict_diagnostics(source, address, answer)
    if "limit" in answer:
        return [_diagnostic(source, 1, answer["limit"], types.DiagnosticSeverity.Information, "limit")]
    return [_mistake(source, address, one) for one in answer.get("diagnostics", [])]


def _mistake(source: SourceText, address: str, one: Object) -> types.Diagnostic:
    hint = f"\n{one['hint']}" if one.get("hint") else ""
    is_here = one["file"] == source.path
    severity = types.DiagnosticSeverity.Error if one["severity"] == "error" else types.DiagnosticSeverity.Warning
    where = line_range(source, one["line"], one["column"], one["length"]) if is_here else line_range(source, 1)
    place = "" if is_here else f"{one['file']}:{one['line']}: "
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(address, line_range(source, label["line"], label["column"], label["length"])), label["label"]
        )
        for label in one["related"]
        if label["file"] == source.path
    ]
    return types.Diagnostic(
        where, f"{place}{one['message']}{hint}", severity, one["code"], source="memfence", related_information=related
    )


def _diagnostic(
    source: SourceText, line: int, message: str, severity: types.DiagnosticSeverity, code: str
) -> types.Diagnostic:
    return types.Diagnostic(line_range(source, line), message, severity, code, source="memfence")


def verdict_diagnostics(source: SourceText, address: str, answer: Object) -> list[types.Diagnostic]:
    """What a check found: a violation at the place that matters, the overtaken store or what fails; the other places
    and the steps of the run are related to it."""
    warnings = [_mistake(source, address, one) for one in answer.get("warnings", [])]
    if "models" in answer:
        return [*_verdicts_of_models(source, address, answer), *warnings]
    if answer.get("verdict") != "violated" or not answer.get("trace"):
        return warnings
    places = [(_range_of(source, one), one["label"]) for one in answer["places"] if one["file"] == source.path]
    steps = [(line_range(source, line), text) for line, text in _steps(source, answer["trace"])]
    where = next((at for at, _ in places), steps[-1][0] if steps else line_range(source, 1))
    message = " ".join([f"{_sentence(answer['finding'])} (under {answer['model']}).", *answer["why"]])
    found = types.Diagnostic(where, message, types.DiagnosticSeverity.Error, "violated", source="memfence")
    found.related_information = [
        types.DiagnosticRelatedInformation(types.Location(address, at), text) for at, text in (*places, *steps)
    ]
    return [found, *warnings]


def _verdicts_of_models(source: SourceText, address: str, answer: Object) -> Iterable[types.Diagnostic]:
    """What was found under each of several models: a run of states where the model has them, else an execution."""
    places = {one["model"]: one for one in answer["wrong"]}
    for one in answer["models"]:
        if one["check"] is not None:
            yield from verdict_diagnostics(source, address, {**one["check"], "warnings": []})
        elif one["model"] in places:
            place = places[one["model"]]
            at = _range_of(source, place) if place["file"] == source.path else line_range(source, 1)
            why = one["execution"]["forbidden_by"] if one["execution"] is not None else []
            message = " ".join([f"{_sentence(one['reason'])} (under {one['model']}).", *(f"{text}." for text in why)])
            yield types.Diagnostic(at, message, types.DiagnosticSeverity.Error, "violated", source="memfence")


def _range_of(source: SourceText, place: Object) -> types.Range:
    return line_range(source, place["line"], place["column"], place["length"])


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] if not text.startswith(("assert", "`")) else text


def _steps(source: SourceText, trace: list[Object]) -> Iterable[tuple[int, str]]:
    """The steps with a place in this text; one that repeats the step before it is left out."""
    last = None
    for step in trace:
        what = (step.get("line"), step["process"], step["text"])
        if step.get("line") and step.get("file", source.path) == source.path and what != last:
            yield int(step["line"]), f"step {step['step']}: {step['process']}: {step['text']}"
            last = what


def lenses(source: SourceText, address: str, lines: list[int]) -> list[types.CodeLens]:
    """check | fix | why, above the first statement."""
    at = line_range(source, min(lines, default=1), 1, 0)
    return [types.CodeLens(at, types.Command(title, name, arguments=[address])) for title, name in COMMANDS.items()]


def word_at(source: SourceText, place: types.Position) -> str:
    """The name under the cursor; empty where there is none."""
    if place.line >= source.text.count("\n") + 1:
        return ""
    line = source.line_text(place.line + 1)
    at = len(line.encode("utf-16-le")[: 2 * place.character].decode("utf-16-le", errors="ignore"))
    return next((found[0] for found in WORD.finditer(line) if found.start() <= at <= found.end()), "")


def values_text(word: str, answer: Object) -> str:
    """What the variables and registers of that name can hold, a line each; empty if there are none."""
    how = "" if answer.get("complete") else f", at least (first {answer.get('states', 0):,} states)"
    lines = [
        f"`{name}` is {_values(values)}{how}"
        for name, values in answer.get("variables", {}).items()
        if word in (name, name.partition("[")[0])
    ]
    for process, registers in answer.get("registers", {}).items():
        for name, values in registers.items():
            if word in (name, name.rpartition(".")[2]):
                lines.append(f"`{process}`: `{name}` is {_values(values)}{how}")
    return f"under {answer['model']}:\n\n" + "  \n".join(lines) if lines else ""


def _values(values: list[int]) -> str:
    if len(values) > MOST_VALUES:
        return f"one of {len(values)} values from {values[0]} to {values[-1]}"
    return " or ".join(map(str, values))


def need_text(answer: Object, line: int) -> str:
    """Whether the fences and memory orders of the line are needed; empty where there is none."""
    return "  \n".join([*_needs_of_fences(answer, line), *_needs_of_orders(answer, line)])


def _needs_of_fences(answer: Object, line: int) -> Iterable[str]:
    return (
        f"`{fence.get('kind', 'fence')}` is {NEEDS[fence['need']]} ({answer_of['criterion']}, {answer_of['model']})"
        for answer_of in answer.get("criteria", [])
        for fence in answer_of["fences"]
        if fence["line"] == line
    )


def _needs_of_orders(answer: Object, line: int) -> Iterable[str]:
    models = ", ".join(one["model"] for one in answer.get("models", []))
    for one in answer.get("orders", []):
        if one["line"] == line:
            needed = NEEDS_OF_ORDERS[one["needed"]].format(weaker=one["weaker"] or "nothing")
            yield f"the {one['order']} {one['of']} is {needed} ({models})"


def edits_elsewhere(source: SourceText, files: list[Object]) -> dict[str, list[types.TextEdit]]:
    """The changes of other files than the text, by their addresses, where they are as they were read."""
    found: dict[str, list[types.TextEdit]] = {}
    for one in files:
        path = Path(one["file"])
        if one["file"] == source.path or not path.is_file():
            continue
        before = text_of(one["file"], path.read_bytes())
        found[path.resolve().as_uri()] = edits_of(before, one["patched"])
    return found


def edits_of(source: SourceText, patched: str) -> list[types.TextEdit]:
    """The smallest change of whole lines in one piece that makes `patched` of the text."""
    before, after = source.text.split("\n"), patched.split("\n")
    first = next(
        (n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    same = 0
    while same < min(len(before), len(after)) - first and before[-1 - same] == after[-1 - same]:
        same += 1
    start, end = types.Position(first, 0), types.Position(len(before) - same, 0)
    lines = after[first : len(after) - same]
    if same:
        return [types.TextEdit(types.Range(start, end), "".join(f"{line}\n" for line in lines))]
    whole = types.Range(types.Position(0, 0), position(source, len(before), 1_000_000))
    return [types.TextEdit(whole, patched)]
