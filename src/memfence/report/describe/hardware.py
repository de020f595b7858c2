"""The reports of what was seen on the processor: `reproduce`, `conform`, `cost` and `fix --bench`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memfence.report.describe.found import finding_of, tone_of_problem, top_of
from memfence.report.formats.json import Object
from memfence.report.page import Page, TableView
from memfence.report.report import Case, Finding, Problem, Report, Style
from memfence.report.views.table import Column, render_table, wrap
from memfence.silicon.conform import Conformance
from memfence.silicon.costs import LABELS, Cost
from memfence.silicon.harness import values_of
from memfence.silicon.machine import is_x86, processor_name, processors
from memfence.silicon.reproduce import Reproduction, Seen
from memfence.silicon.variants import Timed
from memfence.source import SourceText
from memfence.tasks.answer import Verdict

SHOWN_OUTCOMES = 8


def reproduction_report(found: Reproduction) -> Report:
    """Was the violation seen?"""
    source, seen = found.allowed.program.source, found.verdict is Seen.SEEN
    problem: Problem = "failure" if seen else None if found.verdict is Seen.NEVER else "error"
    seconds = 0.0 if found.counted is None else found.counted.seconds
    run = found.allowed.trace if seen else None
    return measured_report(
        "reproduce",
        line=_verdict_line(found),
        name=source.path,
        problem=problem,
        text=lambda style: reproduction_text(found, width=style.width, quiet=style.quiet),
        data=lambda: reproduction_object(found),
        tables=lambda: _outcome_table(found),
        findings=lambda finding: [replace(finding, at=top_of(source), run=run)],
        sources=[source],
        seconds=seconds,
    )


def _outcome_table(found: Reproduction) -> Iterator[TableView]:
    if found.counted is not None and found.experiment is not None:
        rows = tuple(
            (f"{count:,}", "yes" if wanted else "", values_of(found.experiment, values))
            for values, count, wanted in sorted(found.counted.outcomes, key=lambda one: (not one[2], -one[1]))
        )
        yield TableView("Outcomes", ("times", "looked for", "outcome"), rows)


def conformance_report(found: Sequence[Conformance]) -> Report:
    """Is every outcome one that the model allows?"""
    outside = any(one.outside for one in found)
    is_open = processors() < 2 or all(one.refused for one in found)
    problem: Problem = "failure" if outside else "error" if is_open else None
    return measured_report(
        "conform",
        line=_sum(found),
        name=", ".join(one.path.name for one in found),
        problem=problem,
        text=lambda style: conformance_text(found, width=style.width, quiet=style.quiet),
        data=lambda: conformance_object(found),
        tables=lambda: [TableView("Litmus tests", tuple(one.title for one in TESTS), tuple(map(tuple, _rows(found))))],
        findings=lambda finding: [
            *(_of_test(one) for one in found if one.outside),
            *([] if outside else [finding]),
        ],
        sources=[SourceText(str(one.path), "") for one in found],
    )


def _of_test(one: Conformance) -> Finding:
    message = f"{one.path}: an outcome outside TSO was observed: {', '.join(_outside(one))}"
    at = top_of(SourceText(str(one.path), ""))
    return finding_of("conform", "failure", message, at)


def cost_report(measured: Sequence[Cost]) -> Report:
    """What do fences cost?"""
    steady = all(one.is_steady for one in measured)
    rows = tuple((LABELS[c.name], f"{c.nanoseconds:.1f}", f"{c.low:.1f} to {c.high:.1f}") for c in measured)
    return measured_report(
        "cost",
        line=f"{processor_name()}: {', '.join(f'{c.name} {c.nanoseconds:.1f} ns' for c in measured)}",
        name=processor_name(),
        problem=None if steady else "error",
        text=lambda _: cost_text(measured),
        data=lambda: cost_object(measured),
        tables=lambda: [TableView("A store, then a load, in a loop", ("with", "ns", "spread"), rows)],
    )


def assumed_costs_report(costs: Mapping[str, int]) -> Report:
    """What `fix` takes fences to cost."""
    known = ", ".join(f"{kind} {number}" for kind, number in costs.items())
    line = f"fix assumes: {known} (a loop is times 10)"
    return measured_report(
        "cost",
        line=line,
        name="assumed costs",
        problem=None,
        text=lambda _: f"{line}\n",
        data=lambda: {"costs": dict(costs)},
    )


def bench_report(file: str, timed: Sequence[Timed]) -> Report:
    """What does the fix cost in the user's benchmark?"""
    failed = any(one.code for one in timed)
    return measured_report(
        "cost",
        line=f"{file}: what the fix costs in your benchmark",
        name=file,
        problem="error" if failed else None,
        text=lambda style: bench_text(file, timed, width=style.width),
        data=lambda: bench_object(file, timed),
        tables=lambda: [TableView("Variants", tuple(c.title for c in VARIANTS), tuple(map(tuple, _variants(timed))))],
    )


def measured_report(
    verb: str,
    *,
    line: str,
    name: str,
    problem: Problem,
    text: Callable[[Style], str],
    data: Callable[[], Object],
    tables: Callable[[], Iterable[TableView]] = tuple,
    findings: Callable[[Finding], Iterable[Finding]] = lambda finding: [finding],
    sources: Sequence[SourceText] = (),
    seconds: float = 0.0,
) -> Report:
    """A measurement: one finding that says what came of it, unless `findings` makes more of it."""
    verdict = {None: "MEASURED", "failure": "SEEN", "error": "OPEN"}[problem]
    return Report(
        line=lambda: line,
        text=text,
        data=data,
        page=lambda: Page(
            title=line,
            subject=name,
            verdict=verdict,
            tone=tone_of_problem(problem),
            headline=line,
            facts=(("Processor", f"{processor_name()}, {processors()} processors"),),
            tables=tuple(tables()),
        ),
        findings=lambda: findings(finding_of(verb, problem, line, None)),
        case=lambda: Case(group=f"memfence.{verb}", name=name, kind=verdict.lower(), problem=problem, seconds=seconds),
        sources=lambda: sources,
    )


def reproduction_text(found: Reproduction, *, width: int, quiet: bool = False) -> str:
    """The verdict, what was looked for, and how often each outcome came."""
    line = _verdict_line(found)
    if quiet or found.counted is None or found.experiment is None:
        return f"{line}\n"
    lines = [line, *(f"  {part}" for part in wrap(_what(found), width - 2))]
    lines += [f"  machine  {processor_name()}, {found.processors} processors", *_caveats(found, width)]
    best = found.counted.best
    if best.wanted:
        lines.append(f"  best     {best.name}: {best.wanted:,} of {best.rounds:,} rounds")
    outcomes = sorted(found.counted.outcomes, key=lambda one: (not one[2], -one[1]))
    rows = [
        [f"{count:,}", "yes" if wanted else "", values_of(found.experiment, values)]
        for values, count, wanted in outcomes[:SHOWN_OUTCOMES]
    ]
    table = render_table([Column("times", align_right=True), Column("looked for"), Column("outcome", 20)], rows, width)
    if table is not None and rows:
        lines += ["", table]
    if len(outcomes) > SHOWN_OUTCOMES:
        lines.append(f"({len(outcomes) - SHOWN_OUTCOMES} more outcomes: --json lists all)")
    return "\n".join(lines) + "\n"


def _verdict_line(found: Reproduction) -> str:
    name = found.allowed.program.source.path or found.allowed.program.name
    match found.verdict:
        case Seen.NEVER:
            return f"{name}: HOLDS under {found.allowed.model}: there is nothing to reproduce"
        case Seen.UNKNOWN:
            return f"{name}: UNKNOWN under {found.allowed.model}: no run was found that could be looked for"
        case Seen.SEEN | Seen.NOT_SEEN:
            assert found.counted is not None
            rounds, seconds = f"{found.counted.rounds:,} rounds", f"{found.counted.seconds:.1f} s"
            if found.verdict is Seen.SEEN:
                return f"{name}: SEEN {found.counted.wanted:,} times in {rounds} ({seconds})"
            if _is_allowed(found):
                return f"{name}: NOT SEEN in {rounds} ({seconds}): allowed, not observed"
            return f"{name}: NOT SEEN in {rounds} ({seconds}), and {found.allowed.model} does not allow it"


def _is_allowed(found: Reproduction) -> bool:
    """Whether the model has a run with the wanted outcome."""
    return found.allowed.verdict is Verdict.VIOLATED


def _what(found: Reproduction) -> str:
    if found.allowed.final_states is not None:
        return "looked for: the outcome that the test asks about"
    return "looked for: the values that the loads of the run found read; the program goes wrong where they read them"


def _caveats(found: Reproduction, width: int) -> list[str]:
    caveats: list[str] = []
    if found.processors < 2:
        caveats.append("only one processor: threads never run at the same time, so nothing can be concluded")
    if not is_x86():
        caveats.append(
            "this is no x86 processor: it may do more than TSO allows, and what is seen says nothing about x86"
        )
    return [f"  {line}" for caveat in caveats for line in wrap(f"note: {caveat}", width - 2)]


def reproduction_object(found: Reproduction) -> Object:
    counted = found.counted
    names = [] if found.experiment is None else [name for name, _ in found.experiment.observed]
    outcomes = () if counted is None else counted.outcomes
    return {
        "file": found.allowed.program.source.path or found.allowed.program.name,
        "model": found.allowed.model,
        "verdict": found.verdict.value,
        "seen": 0 if counted is None else counted.wanted,
        "rounds": 0 if counted is None else counted.rounds,
        "seconds": 0.0 if counted is None else round(counted.seconds, 3),
        "processor": processor_name(),
        "processors": found.processors,
        "observed": names,
        "outcomes": [{"values": list(values), "count": count, "wanted": wanted} for values, count, wanted in outcomes],
        "strategies": [
            {"name": s.name, "rounds": s.rounds, "seen": s.wanted, "seconds": round(s.seconds, 3)}
            for s in (() if counted is None else counted.strategies)
        ],
    }


def conformance_text(found: Sequence[Conformance], *, width: int, quiet: bool = False) -> str:
    """One line per test, and the sum."""
    table = render_table(TESTS, _rows(found), width)
    parts = [] if quiet or table is None else [table, ""]
    return "\n".join([*parts, _sum(found)]) + "\n"


TESTS = (
    Column("test", 16),
    Column("SC", 2),
    Column("TSO", 3),
    Column("observed", 3),
    Column("only TSO, seen", 6),
    Column("outside", 12),
)


def _rows(found: Sequence[Conformance]) -> list[list[str]]:
    return [
        [
            one.path.name,
            str(len(one.sc)),
            str(len(one.tso)),
            str(len(one.observed)),
            f"{len(one.relaxed_seen)} of {len(one.relaxed)}",
            ", ".join(_outside(one)) or ("-" if not one.refused else one.refused),
        ]
        for one in found
    ]


def _outside(one: Conformance) -> list[str]:
    assert one.experiment is not None or not one.outside
    return [values_of(one.experiment, values) for values in one.outside] if one.experiment is not None else []


def _sum(found: Sequence[Conformance]) -> str:
    run = [one for one in found if not one.refused]
    outside = sum(bool(one.outside) for one in run)
    relaxed = sum(len(one.relaxed) for one in run)
    seen = sum(len(one.relaxed_seen) for one in run)
    verdict = f"OUTSIDE TSO in {outside} tests" if outside else "WITHIN TSO"
    machine = f"{processor_name()}" + ("" if is_x86() else ", which is no x86 processor and need not keep to TSO")
    if processors() < 2:
        machine += "; only one processor: threads never run at the same time, so nothing can be concluded"
    return (
        f"{verdict}: {len(run)} tests run, {len(found) - len(run)} not; "
        f"{seen} of {relaxed} outcomes that only store buffers explain were seen; {machine}"
    )


def conformance_object(found: Sequence[Conformance]) -> Object:
    return {
        "verdict": "outside" if any(one.outside for one in found) else "within",
        "processor": processor_name(),
        "tests": [
            {
                "file": str(one.path),
                "sc": len(one.sc),
                "tso": len(one.tso),
                "observed": [{"values": list(values), "count": count} for values, count in one.observed],
                "relaxed": len(one.relaxed),
                "relaxed_seen": len(one.relaxed_seen),
                "outside": [list(values) for values in one.outside],
                "rounds": one.rounds,
                "refused": one.refused or None,
            }
            for one in found
        ],
    }


def bench_text(file: str, timed: Sequence[Timed], *, width: int) -> str:
    """The variants beside the program as it is."""
    table = render_table(VARIANTS, _variants(timed), width)
    return f"{file}: what the fix costs in your benchmark\n\n{table}\n"


VARIANTS = (
    Column("variant", 16),
    Column("edits", 5, align_right=True),
    Column("time", 16),
    Column("ratio", 5),
    Column("exit code", 4),
)


def _variants(timed: Sequence[Timed]) -> list[list[str]]:
    base = timed[0].seconds
    return [
        [
            one.variant.name,
            str(one.variant.edits),
            f"{one.seconds:.3f} s ({one.low:.3f} to {one.high:.3f})",
            f"{one.seconds / base:.2f}",
            str(one.code),
        ]
        for one in timed
    ]


def bench_object(file: str, timed: Sequence[Timed]) -> Object:
    return {
        "file": file,
        "variants": [
            {
                "name": one.variant.name,
                "edits": one.variant.edits,
                "seconds": round(one.seconds, 4),
                "low": round(one.low, 4),
                "high": round(one.high, 4),
                "exit_code": one.code,
            }
            for one in timed
        ],
    }


def cost_text(measured: Sequence[Cost]) -> str:
    """A line a kind, with the spread."""
    lines = [f"{processor_name()}: a store, then a load, in a loop"]
    for cost in measured:
        spread = f"{cost.low:.1f} to {cost.high:.1f}"
        lines.append(f"  {LABELS[cost.name]:36} {cost.nanoseconds:6.1f} ns  ({spread})")
    if not all(cost.is_steady for cost in measured):
        lines.append("  the machine is too noisy: some repetitions differ by more than 20 %")
    return "\n".join(lines) + "\n"


def cost_object(measured: Sequence[Cost]) -> Object:
    return {
        "processor": processor_name(),
        "steady": all(cost.is_steady for cost in measured),
        "costs": [
            {"name": c.name, "nanoseconds": round(c.nanoseconds, 2), "low": round(c.low, 2), "high": round(c.high, 2)}
            for c in measured
        ],
    }
