"""The sentences under a counterexample: which store was overtaken by which load, and who noticed."""

from __future__ import annotations

from memfence.execution.occurrences import Occurrence
from memfence.execution.overtaking import Overtaken, Why, explain, torn_steps
from memfence.execution.trace import Trace
from memfence.reports.shown_run import value_text
from memfence.source import NOWHERE
from memfence.tasks.result import CheckResult


def reasons(result: CheckResult) -> tuple[str, ...]:
    """Why the run of the result is possible. The run to a race is SC by nature: what races is among the details."""
    if result.trace is None or result.criterion in ("trf", "drf"):
        return ()
    return why_sentences(result.trace)


def why_sentences(trace: Trace) -> tuple[str, ...]:
    """Why the run is possible: empty for a run without steps."""
    if not trace.steps:
        return ()
    if not trace.end.buffers or not any(trace.end.buffers):
        return ("the run is sequentially consistent: no fence can prevent it.",)
    found = explain(trace)
    if found is None:
        return ("no access of this run overtakes an earlier store of its process.", *_without_overtaking(trace))
    sentences = [_headline(trace, found.pair), *_conflicts(trace, found)]
    if found.others:
        several = "is 1 other overtaken store" if len(found.others) == 1 else f"are {len(found.others)} other pairs"
        sentences.append(f"There {several} in this run.")
    return tuple(sentences)


def _without_overtaking(trace: Trace) -> list[str]:
    torn = torn_steps(trace)
    if not torn:
        return ["The same run is possible under sc: no fence can prevent it."] if trace.end.is_plain else []
    store, commit = torn[0]
    process = trace.program.processes[store.access.process].name
    when = "was still pending at the end" if commit is None else f"reached memory only in step {commit.position + 1}"
    first = f"But `{process}` makes several accesses in one step ({_where(store)}), which is atomic only under sc: "
    return [f"{first}its store {_equation(trace, store)} {when}."]


def _headline(trace: Trace, pair: Overtaken) -> str:
    process = trace.program.processes[pair.store.access.process].name
    store = f"its own store {_equation(trace, pair.store)} ({_where(pair.store)})"
    still = "was still in its store buffer"
    if pair.issued is None:
        load = f"`{process}` read {_equation(trace, pair.by)} from memory ({_where(pair.by)})"
        return f"{load} while {store} {still}: the load overtook the store."
    younger = f"{_equation(trace, pair.by)} of `{process}` (issued at {_where(pair.issued)}, "
    return f"{younger}committed in step {pair.by.position + 1}) reached memory while {store} {still}: " + (
        "the later store overtook the earlier one."
    )


def _conflicts(trace: Trace, found: Why) -> list[str]:
    sentences = []
    processes = trace.program.processes
    if found.hidden_from is not None:
        reader = processes[found.hidden_from.access.process].name
        sentences.append(
            f"So `{reader}` read {_equation(trace, found.hidden_from)} ({_where(found.hidden_from)}), "
            f"not {value_text(trace.program, found.pair.store.access.value)}."
        )
    if found.missed is not None:
        writer = processes[found.missed.access.process].name
        sentences.append(
            f"And `{writer}`'s write {_equation(trace, found.missed)} reached memory only in step "
            f"{found.missed.position + 1}."
        )
    return sentences


def _equation(trace: Trace, event: Occurrence) -> str:
    name = trace.program.variables[event.access.variable].name
    return f"{name} = {value_text(trace.program, event.access.value)}"


def _where(event: Occurrence) -> str:
    step = f"step {event.position + 1}"
    return step if event.span.source is NOWHERE.source else f"{event.span.place}, {step}"
