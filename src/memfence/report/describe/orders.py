"""The reports about memory orders: which to make stronger (`fix`), which could be weaker (`why`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memfence.report.describe.fix import fix_case
from memfence.report.describe.found import finding_of, rule, tone_of_problem, top_of
from memfence.report.describe.models_text import cells_of, reason_text, verdict_text
from memfence.report.describe.order_fix import (
    change_line,
    first_line,
    needed_line,
    needed_object,
    needed_text,
    order_facts,
    order_fix_object,
    order_fix_text,
)
from memfence.report.page import Page, TableView
from memfence.report.report import Case, Finding, Kind, Level, Patch, Problem, Report
from memfence.report.views.source_view import source_view
from memfence.synthesis.orders.needed import NeededOrders, WeakerOrder
from memfence.synthesis.orders.result import OrderFix
from memfence.synthesis.result import FixVerdict


def order_fix_report(result: OrderFix) -> Report:
    """Which orders and fences to write, for all models at once."""
    return Report(
        line=lambda: first_line(result),
        text=lambda style: order_fix_text(result, width=style.width, quiet=style.quiet),
        data=lambda: order_fix_object(result),
        page=lambda: _fix_page(result),
        findings=lambda: _changes(result),
        case=lambda: fix_case(
            result, f"memfence.{','.join(result.models)}.safety.orders", "memory orders", result.seconds
        ),
        sources=lambda: [result.program.source],
        brief=lambda: f"{result.verdict} under {', '.join(result.models)}, {result.program.source.path}",
    )


def _changes(result: OrderFix) -> Iterator[Finding]:
    """One per change that is missing, each with the whole patch; else one that says why there is none."""
    problem = fix_case(result, "", "").problem
    facts: dict[str, Any] = {"verdict": result.verdict.value, "model": ",".join(result.models)}
    source = result.program.source
    if result.verdict is not FixVerdict.FIXED:
        yield finding_of("orders", problem, first_line(result), top_of(source), facts=facts)
        return
    patch = Patch("Write these orders, which are enough", result.files) if result.files else None
    for change in result.changes:
        message = f"{change_line(change)} (under {', '.join(result.models)})"
        yield finding_of("orders", problem, message, change.place.span, patch=patch, facts=facts)


def _fix_page(result: OrderFix) -> Page:
    texts = {one.source.path: one.text for one in result.files}
    sources = dict.fromkeys([result.program.source, *(one.source for one in result.files)])
    changes = tuple((change_line(change),) for change in result.changes)
    models = tuple(tuple(cells_of(answer)) for answer in result.answers)
    tables = (
        TableView("Changes", ("what",), changes),
        TableView("Models", ("model", "verdict", "loops", "why"), models),
    )
    return Page(
        title=f"{result.program.name}: memory orders",
        subject=result.program.source.path,
        verdict=result.verdict.value.replace("_", " ").upper(),
        tone="good" if result.verdict is FixVerdict.FIXED else tone_of_problem(fix_case(result, "", "").problem),
        headline=first_line(result),
        facts=tuple((name.capitalize(), text) for name, text in order_facts(result)),
        sources=tuple(source_view(source, {}, texts.get(source.path)) for source in sources),
        tables=tuple(table for table in tables if table.rows),
    )


def needed_report(result: NeededOrders) -> Report:
    """Which orders some model needs."""
    needed = {one.is_needed for one in result.orders}
    problem: Problem = "failure" if False in needed else "error" if None in needed else None
    words = {"failure": "NOT EVERY ORDER IS NEEDED", "error": "UNKNOWN", None: "EVERY ORDER IS NEEDED"}
    path = result.program.source.path
    return Report(
        line=lambda: f"{path}: {words[problem]} under {', '.join(result.models)}",
        text=lambda style: needed_text(result, width=style.width),
        data=lambda: needed_object(result),
        page=lambda: _needed_page(result, words[problem], problem),
        findings=lambda: [_weaker(result, one) for one in result.orders] or [_nothing(result)],
        case=lambda: Case(
            group=f"memfence.{','.join(result.models)}.why", name=path, kind=words[problem].lower(), problem=problem
        ),
        sources=lambda: [result.program.source],
        brief=lambda: path,
    )


def _nothing(result: NeededOrders) -> Finding:
    message = f"{result.program.source.path}: no order in it could be weaker"
    return finding_of("why", None, message, top_of(result.program.source))


def _weaker(result: NeededOrders, one: WeakerOrder) -> Finding:
    kinds: dict[bool | None, tuple[Kind, Level]] = {
        True: ("pass", "none"),
        False: ("fail", "warning"),
        None: ("open", "none"),
    }
    kind, level = kinds[one.is_needed]
    facts = {"model": ",".join(result.models), "needed": one.is_needed}
    at, message = one.place.span, f"{needed_line(one)} (under {', '.join(result.models)})"
    return Finding(rule=rule("why"), kind=kind, level=level, message=message, at=at, facts=facts)


def _needed_page(result: NeededOrders, verdict: str, problem: Problem) -> Page:
    rows = tuple(
        (needed_line(one), "; ".join(f"{a.name} {verdict_text(a)}: {reason_text(a)}" for a in one.answers))
        for one in result.orders
    )
    return Page(
        title=f"{result.program.name}: memory orders that are needed",
        subject=result.program.source.path,
        verdict=verdict,
        tone=tone_of_problem(problem),
        headline=f"which memory orders {', '.join(result.models)} need",
        facts=tuple((answer.name, verdict_text(answer)) for answer in result.before),
        sources=(source_view(result.program.source, {}),),
        tables=(TableView("Orders", ("order", "with a weaker one"), rows),) if rows else (),
    )
