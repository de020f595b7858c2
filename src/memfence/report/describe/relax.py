"""The report of `memfence relax`: each place, the order that it needs, and the run that forbids a weaker one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence.program.orders import MemoryOrder
from memfence.report.describe.found import finding_of, rule, tone_of_problem
from memfence.report.describe.models_text import STOPS, answer_object, bound_text, reason_text, verdict_text
from memfence.report.formats.json import Object
from memfence.report.page import Page, TableView
from memfence.report.report import Case, Finding, Patch, Problem, Report
from memfence.report.views.source_view import source_view
from memfence.report.views.table import Column, render_table
from memfence.report.words.sentences import UNFIT
from memfence.synthesis.orders.weakest import RelaxedPlace, RelaxResult
from memfence.synthesis.patch import PatchedFile

COLUMNS = (
    Column("place", 5),
    Column("what", 5),
    Column("order", 7),
    Column("enough", 7),
    Column("judgement", 6),
    Column("because", 20),
)
TITLES = tuple(column.title for column in COLUMNS)
PROBLEMS: dict[str, Problem] = {
    "relaxed": None,
    "minimal": None,
    "fixed": None,
    "violated": "failure",
    "unknown": "error",
}


def relax_report(result: RelaxResult) -> Report:
    """All places and the patch."""
    problem = _problem(result)
    return Report(
        line=lambda: first_line(result),
        text=lambda style: relax_text(result, width=style.width, quiet=style.quiet),
        data=lambda: relax_object(result),
        page=lambda: _page(result),
        findings=lambda: _findings(result),
        case=lambda: Case(
            group=f"memfence.{','.join(result.models)}.relax",
            name=result.program.source.path,
            kind=result.verdict,
            problem=problem,
            seconds=result.seconds,
        ),
        sources=lambda: [result.program.source],
        brief=lambda: f"{result.verdict} under {', '.join(result.models)}, {result.program.source.path}",
    )


def _problem(result: RelaxResult) -> Problem:
    return "error" if PROBLEMS[result.verdict] is None and result.is_bounded else PROBLEMS[result.verdict]


def first_line(result: RelaxResult) -> str:
    """The verdict in one line."""
    models, path = ", ".join(result.models), result.program.source.path
    rounds = [a.unrolled for r in result.after for a in r.answers if a.verdict == "holds_up_to" and a.unrolled]
    bound = f", loops followed up to {max(rounds)} times" if rounds else ""
    match result.verdict:
        case "relaxed" | "fixed":
            changed = [one for one in result.places if one.order is not one.place.order]
            orders = "1 order" if len(changed) == 1 else f"{len(changed)} orders"
            return f"{result.verdict.upper()} under {models}: {orders} changed{bound} ({path})"
        case "minimal":
            is_partial = any(one.kept and one.place.order is not MemoryOrder.RELAXED for one in result.places)
            which = "NO ORDER THAT MAY BE CHANGED" if is_partial else "NO ORDER"
            return f"{which} IS TOO STRONG under {models}{bound} ({path})"
        case "violated":
            where = "that may be changed" if any(one.kept for one in result.places) else "there"
            return f"VIOLATED under {models}: the strongest orders at the places {where} are not enough ({path})"
        case _:
            return f"UNKNOWN under {models} ({path})"


def relax_text(result: RelaxResult, *, width: int, quiet: bool = False) -> str:
    """The whole report; with `quiet` its first line."""
    lines = [first_line(result)]
    if quiet:
        return f"{lines[0]}\n"
    rows = [cells(result, one) for one in result.places]
    if rows and PROBLEMS[result.verdict] is None:
        table = render_table(COLUMNS, rows, width) or "\n".join("  ".join(row).rstrip() for row in rows)
        lines += ["", *table.splitlines(), ""]
    lines += [f"  {name:<9}{text}" for name, text in facts(result)]
    if result.diff and result.is_written:
        lines += ["", result.diff.rstrip("\n")]
    return "\n".join(lines) + "\n"


def cells(result: RelaxResult, one: RelaxedPlace) -> tuple[str, ...]:
    """A row of the table."""
    source = one.place.span.source
    line = str(one.place.span.line)
    where = line if source is result.program.source else f"{source.path}:{line}"
    is_gone = one.place.kind == "fence" and one.order is MemoryOrder.RELAXED
    enough = "no fence" if is_gone else one.order.value
    return where, one.place.kind, one.place.order.value, enough, one.judgement, because(one)


def because(one: RelaxedPlace) -> str:
    """Which model needs the order, and which run shows it."""
    if one.kept:
        return one.kept
    said = []
    for reason in one.forbidden:
        weaker = (
            "no fence" if one.place.kind == "fence" and reason.weaker is MemoryOrder.RELAXED else reason.weaker.value
        )
        shown = "; ".join(f"{answer.name}: {reason_text(answer)}" for answer in reason.answers[:1])
        names = ", ".join(answer.name for answer in reason.answers)
        said.append(f"with {weaker}, {shown}" + (f" ({names})" if len(reason.answers) > 1 else "") if shown else
                    f"{weaker} was not seen to fail")  # fmt: skip
    return "\n".join(said)


def facts(result: RelaxResult) -> Iterator[tuple[str, str]]:
    """What the verdict covers, and what it cost."""
    kept = sum(bool(one.kept) for one in result.places)
    if result.is_minimum and PROBLEMS[result.verdict] is None:
        but = f", but for {kept} that stay as they are" if kept else ""
        yield "minimum", f"proved: nothing cheaper is enough, of all orders of the accesses and fences there{but}"
    for name, (before, after) in zip(result.models, result.prices, strict=False):
        yield "price", f"{name}: {before} as it is" + (f", {after} then" if after != before else "")
    if result.verdict == "violated":
        for one in result.places:
            if one.kept:
                yield "kept", f"{one.place.order.value} {one.place.kind} in line {one.place.span.line}: {one.kept}"
        yield "try", "`memfence fix`, which also writes fences"
    if result.refused is not None:
        yield "limit", f"orders cannot be chosen here: {UNFIT[result.refused]}"
    if result.stop is not None:
        yield "limit", STOPS.get(result.stop, "the search was stopped")
    for found in result.after or result.before:
        for answer in found.answers:
            bound = bound_text(answer)
            loops = f" (loops: {bound})" if bound else ""
            yield answer.name, f"{verdict_text(answer)}{loops}: {reason_text(answer)}"
    yield "search", f"{len(result.places)} places, {result.asked} choices tried, {result.seconds:.2f} s"


def relax_object(result: RelaxResult) -> Object:
    """`memfence relax --json`, before it becomes text."""
    return {
        "file": result.program.source.path,
        "verdict": result.verdict,
        "bounded": result.is_bounded,
        "minimum": result.is_minimum,
        "models": [answer_object(answer) for found in result.after or result.before for answer in found.answers],
        "places": [_place_object(one) for one in result.places],
        "prices": [
            {"model": name, "before": before, "after": after}
            for name, (before, after) in zip(result.models, result.prices, strict=False)
        ],
        "diff": result.diff if result.is_written else "",
        "patched": result.patched if result.is_written else None,
        "files": [{"file": one.source.path, "patched": one.text} for one in _written(result)],
        "limit": STOPS.get(result.stop, "the search was stopped") if result.stop is not None else None,
        "assumptions": list(result.program.assumed),
        "stats": {"asked": result.asked, "seconds": round(result.seconds, 6)},
    }


def _written(result: RelaxResult) -> Sequence[PatchedFile]:
    return result.files if result.is_written else ()


def _place_object(one: RelaxedPlace) -> Object:
    return {
        "file": one.place.span.source.path,
        "line": one.place.span.line,
        "text": one.place.span.text,
        "of": one.place.kind,
        "order": one.place.order.value,
        "enough": one.order.value,
        "judgement": one.judgement,
        "kept": one.kept or None,
        "forbidden": [
            {
                "weaker": reason.weaker.value,
                "models": [{"model": answer.name, "reason": reason_text(answer)} for answer in reason.answers],
            }
            for reason in one.forbidden
        ],
    }


def _findings(result: RelaxResult) -> Iterator[Finding]:
    """One per order that changes, each with the whole patch; one that says why there is none, else."""
    if not result.is_written:
        yield finding_of("relax", _problem(result), first_line(result), result.program.source.span(0, 0))
        return
    patch = Patch("Write these orders, which are enough", result.files)
    for one in result.places:
        if one.order is not one.place.order:
            message = f"{one.judgement}: {one.place.order.value} {one.place.kind}, {one.order.value} is enough"
            said = f"{message} (under {', '.join(result.models)})"
            yield Finding(rule=rule("relax"), kind="review", level="note", message=said, at=one.place.span, patch=patch)


def _page(result: RelaxResult) -> Page:
    texts = {one.source.path: one.text for one in result.files} if result.is_written else {}
    sources = dict.fromkeys([result.program.source, *(one.source for one in result.files)])
    rows = tuple(cells(result, one) for one in result.places)
    return Page(
        title=f"{result.program.name}: the cheapest orders",
        subject=result.program.source.path,
        verdict=result.verdict.upper(),
        tone=tone_of_problem(_problem(result)),
        headline=first_line(result),
        facts=tuple((name.capitalize(), text) for name, text in facts(result)),
        sources=tuple(source_view(source, {}, texts.get(source.path)) for source in sources),
        tables=(TableView("Orders", TITLES, rows),) if rows else (),
    )
