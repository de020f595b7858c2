"""The report of `memfence monitor`: the borderline load, how it comes about, and what to fence."""

from __future__ import annotations

from memfence.engines.native.monitor import BorderlineEvent
from memfence.execution.recording import TraceEvent
from memfence.questions.monitor import MonitorResult
from memfence.report.describe.found import PROBLEMS, finding_of, tone_of, top_of
from memfence.report.describe.monitor_text import monitor_object, monitor_text
from memfence.report.page import Page, TableView
from memfence.report.report import Case, Finding, Report
from memfence.source import SourceText


def monitor_report(result: MonitorResult) -> Report:
    """One recorded execution."""
    return Report(
        line=lambda: monitor_text(result, quiet=True).rstrip("\n"),
        text=lambda style: monitor_text(result, quiet=style.quiet),
        data=lambda: monitor_object(result),
        page=lambda: monitor_page(result),
        findings=lambda: [_finding(result)],
        case=lambda: Case(
            group="memfence.monitor",
            name=result.path,
            kind=result.verdict.value,
            problem=PROBLEMS[result.verdict],
            seconds=result.monitored.seconds,
        ),
        sources=lambda: [SourceText(result.path, "")],
        brief=lambda: str(result.verdict),
    )


def _finding(result: MonitorResult) -> Finding:
    problem = PROBLEMS[result.verdict]
    line = monitor_text(result, quiet=True).rstrip("\n")
    event = result.event
    if event is None:
        return finding_of("monitor", problem, line, top_of(SourceText(result.path, "")))
    fences = "; ".join(f"fence after {_place(store)}, before {_place(load)}" for store, load in event.gaps)
    number = (event.load.line or 1) - 1
    source = SourceText(result.path, "\n" * number)  # only the number of the line is known here
    message = " ".join([line + ".", *_why(event), *([f"To do: {fences}."] if fences else [])])
    return finding_of("monitor", problem, message, source.span(number, number))


def monitor_page(result: MonitorResult) -> Page:
    """The page that `memfence monitor --html` writes."""
    event, monitored = result.event, result.monitored
    return Page(
        title=f"{result.path}: store-buffer safety of a trace",
        subject=result.path,
        verdict="HOLDS for this execution" if event is None else "VIOLATED",
        tone=tone_of(result.verdict),
        headline="store-buffer safety: no load could have seen a stale value",
        facts=(("Scope", "this execution only; others of the same program may differ"),) if event is None else (),
        why=() if event is None else _why(event),
        tables=() if event is None else _tables(event),
        statistics=(
            ("events", f"{monitored.events:,}"),
            ("threads", f"{monitored.threads:,}"),
            ("addresses", f"{monitored.addresses:,}"),
            ("seconds", f"{monitored.seconds:.2f}"),
            ("peak memory", f"{monitored.peak_mb:.0f} MB"),
        ),
    )


def _why(event: BorderlineEvent) -> tuple[str, ...]:
    stale = "an older value" if event.stale is None else f"the stale value {event.stale}"
    load, missed = event.load.event, event.missed.event
    return (
        f"The load of `{load.address}` by thread {load.thread} (line {event.load.line} of the trace) could "
        f"miss the write by thread {missed.thread} (line {event.missed.line}) and see {stale}: possible with "
        "store buffers, in no sequentially consistent execution.",
    )


def _tables(event: BorderlineEvent) -> tuple[TableView, ...]:
    columns = ("line", "thread", "operation", "address", "value", "place")
    accesses = event.path or (event.missed, event.load)
    path = TableView("How the write happens before the load", columns, tuple(_row(a) for a in accesses))
    gaps = tuple((str(store.event.thread), _place(store), _place(load)) for store, load in event.gaps)
    return (path, TableView("What to fence: each of these", ("thread", "after", "before"), gaps)) if gaps else (path,)


def _row(access: TraceEvent) -> tuple[str, ...]:
    event = access.event
    value = "" if event.value is None else str(event.value)
    address = "" if event.address is None else str(event.address)
    return (str(access.line), str(event.thread), access.op, address, value, event.place_text or "")


def _place(access: TraceEvent) -> str:
    return access.event.place_text or f"line {access.line} of the trace"
