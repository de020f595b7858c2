"""The report of `memfence test`: the clients of each object, and the smallest one that fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memfence.clients.comparing import outcome_of
from memfence.clients.order import MOST_ORDERS, Outcome
from memfence.clients.program import OBSERVED, result_names
from memfence.clients.result import ClientResult, Consistency, ObjectResult, ObjectsResult
from memfence.clients.specification import Client, call_text, client_text
from memfence.report.describe.found import PROBLEMS, finding_of
from memfence.report.describe.models_page import models_page
from memfence.report.describe.models_text import answer_object, reason_text, shown_lines, verdict_text
from memfence.report.formats.json import Object
from memfence.report.page import Page, TableView, Tone
from memfence.report.report import Case, Finding, Report, Style
from memfence.report.views.source_view import source_view
from memfence.report.views.table import Column, render_table
from memfence.tasks.answer import Verdict
from memfence.tasks.result import ModelAnswer

WORDS = {
    Verdict.HOLDS: "HOLDS",
    Verdict.VIOLATED: "VIOLATED",
    Verdict.UNKNOWN: "UNKNOWN",
    Verdict.HOLDS_UP_TO: "NO VIOLATION",
}
TONES: dict[Verdict, Tone] = {Verdict.HOLDS: "good", Verdict.VIOLATED: "bad"}
MEANT = {
    Consistency.SERIALISABLE: "some order of the calls gives every outcome",
    Consistency.LINEARIZABLE: "some order of the calls that respects time gives every outcome",
    Consistency.QUIESCENT: "some order of the calls, whichever thread makes them, gives every outcome",
}
MOST_OUTCOMES = 12


def test_report(result: ObjectsResult) -> Report:
    """The objects of one file."""
    source = result.objects[0].specification.source
    return Report(
        line=lambda: "; ".join(map(_line, result.objects)),
        text=lambda style: "\n".join(_text(one, style) for one in result.objects),
        data=lambda: test_object(result),
        page=lambda: _page(result),
        findings=lambda: (finding for one in result.objects for finding in _findings(one)),
        case=lambda: Case(
            group="memfence.test",
            name=source.path,
            kind=result.verdict.value,
            problem=PROBLEMS[result.verdict],
            seconds=sum(one.seconds for one in result.objects),
        ),
        sources=lambda: [source],
    )


def _line(result: ObjectResult) -> str:
    models = [model for model in result.models if result.verdict is not Verdict.VIOLATED or _fails(result, model)]
    return f"{result.specification.name}: {WORDS[result.verdict]} under {', '.join(models)} ({_extent(result)})"


def _fails(result: ObjectResult, model: str) -> bool:
    answers = (answer for one in result.tried if one.answers is not None for answer in one.answers.answers)
    return any(answer.name == model and answer.verdict is Verdict.VIOLATED for answer in answers)


def _extent(result: ObjectResult) -> str:
    """How many clients the verdict is about."""
    asked = sum(one.answers is not None for one in result.tried)
    count = f"{asked} of {result.clients} clients" if asked < result.clients else f"{asked} clients"
    return f"{count}, {result.consistency.value}"


def _text(result: ObjectResult, style: Style) -> str:
    source = result.specification.source
    lines = [f"{source.path}: {_line(result)}"]
    if not style.quiet:
        lines += _table(result, style)
        lines += [f"note: {note}" for note in _notes(result)]
    failing = result.failing
    if failing is not None:
        lines += ["", *_failure(result, failing, style)]
    return "\n".join(lines) + "\n"


def _table(result: ObjectResult, style: Style) -> list[str]:
    """A row per size of clients; `verbose`: a row per client."""
    columns = (Column("clients", 20), Column("number", 6, align_right=True), *(Column(m, 10) for m in result.models))
    rows = [_row(result, one) for one in result.tried] if style.verbose else list(_sizes(result))
    if not rows:
        return []
    return (render_table(columns, rows, style.width) or "\n".join("  ".join(row) for row in rows)).splitlines()


def _row(result: ObjectResult, one: ClientResult) -> list[str]:
    answers = () if one.answers is None else one.answers.answers
    found = {answer.name: verdict_text(answer) for answer in answers}
    return [client_text(result.specification, one.client), "1", *(found.get(m, "UNKNOWN") for m in result.models)]


def _sizes(result: ObjectResult) -> Iterator[list[str]]:
    groups: dict[tuple[int, ...], list[ClientResult]] = {}
    for one in result.tried:
        groups.setdefault(_size(one.client), []).append(one)
    for size, members in groups.items():
        name = f"{len(size)} threads, {' and '.join(map(str, size))} calls"
        yield [name, str(len(members)), *(_counted(members, model) for model in result.models)]


def _size(client: Client) -> tuple[int, ...]:
    return tuple(sorted(map(len, client.threads), reverse=True))


def _counted(members: Sequence[ClientResult], model: str) -> str:
    """`HOLDS`, or `3 HOLDS, 1 VIOLATED`."""
    answers = [a for one in members if one.answers is not None for a in one.answers.answers if a.name == model]
    words = Counter(verdict_text(answer) for answer in answers)
    missing = len(members) - len(answers)
    if missing:
        words["UNKNOWN"] += missing
    if len(words) == 1:
        return next(iter(words))
    return ", ".join(f"{count} {word}" for word, count in words.items())


def _notes(result: ObjectResult) -> Iterator[str]:
    """What the verdict says, and what it does not."""
    yield f"each client is every execution of a program: {MEANT[result.consistency]}"
    if result.failing is None and result.left_out:
        yield f"{result.left_out} clients were not looked at: give more by --clients or --timeout"
    elif result.left_out:
        yield f"{result.left_out} larger clients were not looked at: --all goes on"
    if result.stuck:
        yield f"{result.stuck} clients were left out: no order of their calls comes to an end"
    large = sum(one.is_too_large for one in result.tried)
    if large:
        yield f"{large} clients have more than {MOST_ORDERS:,} orders of their calls: they were not looked at"
    if result.failing is None and any(one.may_be_stuck for one in result.tried):
        yield "where some order of the calls gets stuck, threads that all wait are no deadlock"


def _failure(result: ObjectResult, failing: ClientResult, style: Style) -> list[str]:
    """The smallest client that fails: what it saw, what it may see, how it comes, and its text."""
    answer = failing.failing
    assert answer is not None and failing.answers is not None
    text = client_text(result.specification, failing.client)
    lines = [f"the smallest client that fails, under {answer.name}: {text}"]
    lines += _outcomes(result, failing)
    if style.quiet:
        return lines
    return [*lines, *shown_lines(answer, style.width), "", *_program(failing)]


def _outcomes(result: ObjectResult, failing: ClientResult) -> list[str]:
    outcome = outcome_of(result.specification, failing)
    allowed = failing.outcomes
    if outcome is None:
        assert failing.failing is not None
        return [f"  {reason_text(failing.failing)}"]
    seen = f"  {_outcome_text(result, failing.client, outcome)}"
    if not allowed:
        return [seen, "  no order of the calls gives that: none comes to an end"]
    lines = [seen, "  no order of the calls gives that; they give"]
    lines += [f"    {_outcome_text(result, failing.client, one)}" for one in allowed[:MOST_OUTCOMES]]
    more = len(allowed) - MOST_OUTCOMES
    return lines + ([f"    and {more} more"] if more > 0 else [])


def _outcome_text(result: ObjectResult, client: Client, outcome: Outcome) -> str:
    """`push(1) = 1 || pop() = 0, in the end 1`."""
    specification = result.specification
    values = dict(zip(result_names(specification, client), outcome, strict=True))
    threads = []
    for thread, calls in enumerate(client.threads, 1):
        returned = ((call_text(specification, call), values.get(f"r{thread}_{n}")) for n, call in enumerate(calls, 1))
        threads.append("; ".join(text if value is None else f"{text} = {value}" for text, value in returned))
    ending = f", in the end {values[OBSERVED]}" if OBSERVED in values else ""
    return " || ".join(threads) + ending


def _program(failing: ClientResult) -> list[str]:
    return ["the client as a program (-o writes it):", "", *failing.program.rstrip().splitlines()]


def _findings(result: ObjectResult) -> Iterator[Finding]:
    """One per client that fails; else the verdict."""
    failing = [one for one in result.tried if one.verdict is Verdict.VIOLATED]
    at = result.specification.operations[0].span
    for one in failing:
        answer = one.failing
        assert answer is not None
        message = f"{result.specification.name}: {client_text(result.specification, one.client)}: {_why(result, one)}"
        yield finding_of("safety", "failure", message, at, facts={"verdict": "violated", "model": answer.name})
    if not failing:
        facts = {"verdict": result.verdict.value, "model": ",".join(result.models)}
        yield finding_of("safety", PROBLEMS[result.verdict], _line(result), at, facts=facts)


def _why(result: ObjectResult, one: ClientResult) -> str:
    answer = one.failing
    assert answer is not None
    outcome = outcome_of(result.specification, one)
    if outcome is None:
        return f"{reason_text(answer)} under {answer.name}"
    return f"{_outcome_text(result, one.client, outcome)} under {answer.name}, which no order of the calls gives"


def _page(result: ObjectsResult) -> Page:
    """The clients in a table; below it the execution of the smallest one that fails."""
    one = next((one for one in result.objects if one.failing is not None), result.objects[0])
    columns = ("object", "clients", "outcomes", *one.models)
    rows = tuple(
        (each.specification.name, *_page_row(each, client)) for each in result.objects for client in each.tried
    )
    table = TableView("Clients", columns, rows)
    failing = one.failing
    base = None if failing is None or failing.answers is None else models_page(failing.answers)
    page = Page(
        title=f"{one.specification.name}: its clients",
        subject=one.specification.source.path,
        verdict=WORDS[result.verdict],
        tone=TONES.get(result.verdict, "open"),
        headline="; ".join(map(_line, result.objects)),
        facts=tuple(("Note", note) for note in _notes(one)),
        tables=(table,),
        sources=(source_view(one.specification.source, {}),),
    )
    if base is None or failing is None:
        return page
    return replace(
        page,
        details=(*(line.strip() for line in _outcomes(one, failing)), *base.details),
        tables=(table, *base.tables),
        plots=base.plots,
        sources=(*page.sources, *base.sources),
    )


def _page_row(result: ObjectResult, one: ClientResult) -> tuple[str, ...]:
    text, _, *verdicts = _row(result, one)
    return (text, str(len(one.outcomes)), *verdicts)


def test_object(result: ObjectsResult) -> Object:
    """`memfence test --json`, before it becomes text."""
    return {
        "file": result.objects[0].specification.source.path,
        "verdict": result.verdict.value,
        "objects": [_object(one) for one in result.objects],
        "stats": {"seconds": round(sum(one.seconds for one in result.objects), 6)},
    }


def _object(result: ObjectResult) -> Object:
    failing = result.failing
    return {
        "name": result.specification.name,
        "verdict": result.verdict.value,
        "criterion": result.consistency.value,
        "models": list(result.models),
        "clients_in_all": result.clients,
        "clients_left_out": result.left_out,
        "clients_stuck": result.stuck,
        "clients": [_client_object(result, one) for one in result.tried],
        "failing": None if failing is None else _failing_object(result, failing),
        "notes": list(_notes(result)),
    }


def _client_object(result: ObjectResult, one: ClientResult) -> Object:
    answers = () if one.answers is None else one.answers.answers
    return {
        "calls": [[call_text(result.specification, call) for call in thread] for thread in one.client.threads],
        "verdict": one.verdict.value,
        "models": {answer.name: answer.verdict.value for answer in answers},
        "outcomes": len(one.outcomes),
        "seconds": round(one.seconds, 6),
    }


def _failing_object(result: ObjectResult, failing: ClientResult) -> Object:
    answer = failing.failing
    assert isinstance(answer, ModelAnswer)
    names = result_names(result.specification, failing.client)
    outcome = outcome_of(result.specification, failing)
    return {
        "client": client_text(result.specification, failing.client),
        "model": answer.name,
        "reason": _why(result, failing),
        "outcome": None if outcome is None else dict(zip(names, outcome, strict=True)),
        "allowed": [dict(zip(names, one, strict=True)) for one in failing.outcomes],
        "program": failing.program,
        "answer": answer_object(answer),
    }
