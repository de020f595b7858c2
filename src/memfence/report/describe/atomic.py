"""The reports of `memfence fix` for temporal properties: which writes must be atomic, why each, and their list."""

from __future__ import annotations

from memfence.passes.atomic_list import print_atomic_writes
from memfence.passes.atomic_writes import AtomicWrite
from memfence.program.ir import Program
from memfence.program.text.steps import step_text
from memfence.report.describe.check_text import DEFAULT_WIDTH
from memfence.report.formats.json import Object, trace_list
from memfence.report.views.run_table import run_table
from memfence.report.views.table import wrap
from memfence.report.words.fix_sentences import common_facts, common_object, fix_scope, fix_verdict_line, stats_object
from memfence.source import NOWHERE
from memfence.synthesis.atomic_writes import AtomicFix, ChosenWrite
from memfence.synthesis.result import FixVerdict


def atomic_text(result: AtomicFix, *, width: int = DEFAULT_WIDTH, quiet: bool = False, verbose: bool = False) -> str:
    """The whole report; with `quiet` its first line, with `verbose` a run for every write."""
    lines = [fix_verdict_line(result)]
    if quiet:
        return f"{lines[0]}\n"
    lines += [f"  {name:<8}{text}" for name, text in _facts(result)]
    if result.chosen:
        lines += ["", *print_atomic_writes(result.program, [c.write for c in result.chosen]).splitlines()]
    for chosen in result.chosen if verbose else ():
        lines += _run(result.program, chosen, width)
    if result.lasso is not None:
        lasso = result.lasso
        lines += ["", f"This run is possible whatever is atomic (replayed under {lasso.trace.model}):", ""]
        lines.append(run_table(lasso.trace, width, lasso.loop_start))
    return "\n".join(lines) + "\n"


def _facts(result: AtomicFix) -> list[tuple[str, str]]:
    facts = [("proof" if result.verdict is FixVerdict.FIXED else "scope", fix_scope(result))]
    if result.verdict is FixVerdict.FIXED:
        facts.append(("minimum", _minimum(result)))
        whose = "its own process" if result.waits_for == "own" else "every process"
        facts.append(("atomic", f"such a write waits until no store of {whose} is pending"))
    facts += common_facts(result)
    stats = result.stats
    searched = f"{stats.sites} writes, {stats.clauses} clauses, {stats.checks} checks, {stats.states:,} states"
    facts.append(("search", f"{searched}, {stats.seconds:.2f} s"))
    return facts


def _minimum(result: AtomicFix) -> str:
    if not result.is_minimum:
        return f"none of them can be dropped; the paper's loop chose {result.found_first} (try --minimise count)"
    return "proved: no cheaper list is enough" if result.minimise == "cost" else "proved: fewer are not enough"


def _run(program: Program, chosen: ChosenWrite, width: int) -> list[str]:
    if chosen.run is None:
        return []
    trace = chosen.run.trace
    title = f"Without {_write_text(program, chosen.write)} (replayed under {trace.model}):"
    return ["", *wrap(title, width), "", run_table(trace, width, chosen.run.loop_start)]


def _write_text(program: Program, write: AtomicWrite) -> str:
    process = program.processes[write.process]
    shown = step_text(program, write.process, process.transitions[write.transition])
    return f"`{write.variable}` of {process.name}: {shown}"


def atomic_object(result: AtomicFix) -> Object:
    """`memfence fix --json` for temporal properties, before it becomes text."""
    return {
        **common_object(result),
        "fences": [_write_object(result.program, chosen) for chosen in result.chosen],
        "count": len(result.chosen),
        "instances": len(result.chosen),
        "cost": sum(chosen.cost for chosen in result.chosen),
        "sets": None,
        "waits_for": result.waits_for,
        "writes": result.writes,
        "found_first": result.found_first,
        "list": print_atomic_writes(result.program, result.atomic),
        "trace": None if result.lasso is None else trace_list(result.lasso.trace),
        "loop_start": None if result.lasso is None else result.lasso.loop_start + 1,
        "stats": stats_object(result),
    }


def _write_object(program: Program, chosen: ChosenWrite) -> Object:
    write = chosen.write
    process = program.processes[write.process]
    transition = process.transitions[write.transition]
    is_somewhere = transition.span.source is not NOWHERE.source
    return {
        "kind": "atomic",
        "file": transition.span.source.path if is_somewhere else None,
        "line": transition.span.line if is_somewhere else None,
        "process": process.name,
        "processes": [process.name],
        "location": process.locations[transition.source].name,
        "after": step_text(program, write.process, transition),
        "transition": write.transition,
        "variable": write.variable,
        "cost": chosen.cost,
        "trace": None if chosen.run is None else trace_list(chosen.run.trace),
        "loop_start": None if chosen.run is None else chosen.run.loop_start + 1,
    }
