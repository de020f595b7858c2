"""The sentences under a counterexample: which store was overtaken by which load, and who noticed."""

from __future__ import annotations

from memfence.execution.occurrences import Occurrence, pending_at_end
from memfence.execution.overtaking import Overtaken, Why, explain, is_internal, torn_steps
from memfence.execution.trace import Trace
from memfence.program.expressions import Shared, walk
from memfence.program.ir import Forbidden, Invariant
from memfence.report.views.shown_run import value_text
from memfence.report.words.properties import violated_property
from memfence.source import NOWHERE
from memfence.tasks.evidence import BadState, CounterexampleRun
from memfence.tasks.result import CheckResult


def reasons(result: CheckResult) -> tuple[str, ...]:
    """Why the run of the result is possible. The run to a race is SC by nature: what races is among the details."""
    if result.trace is None or result.criterion in ("trf", "drf"):
        return ()
    if isinstance(result.evidence, CounterexampleRun) and result.evidence.fails_under_sc:
        return ("the program fails under sc, too: no fence can prevent it.",)
    return (*why_sentences(result.trace), *_unseen_stores(result))


def _unseen_stores(result: CheckResult) -> list[str]:
    """A property that looks at memory does not see what is pending; where all have ended, that may not be meant."""
    run = result.evidence
    if not isinstance(run, CounterexampleRun) or not isinstance(run.finding, BadState):
        return []
    trace, violated = run.trace, violated_property(result, run.trace)
    if not isinstance(violated, Forbidden | Invariant):
        return []
    read = {v for node in walk(violated.expr) if isinstance(node, Shared) for v in node.address.variables}
    pending = [event for event in pending_at_end(trace) if event.access.variable in read]
    if not pending:
        return []
    names = trace.program.processes
    stores = [
        f"`{names[event.access.process].name}`'s store {_equation(trace, event)} ({_where(trace, event)})"
        for event in pending
    ]
    verb = "has" if len(stores) == 1 else "have"
    first = f"The property looks at memory, where {' and '.join(stores)} {verb} not arrived yet."
    return [first, "If only the end matters, when nothing is pending, use --final instead."]


def why_sentences(trace: Trace) -> tuple[str, ...]:
    """Why the run is possible: empty for a run without steps."""
    if not trace.steps:
        return ()
    if not trace.end.buffers or not any(trace.end.buffers):
        return ("the run is sequentially consistent: no fence can prevent it.",)
    found = explain(trace)
    if found is None:
        return ("no access of this run overtakes an earlier store of its process.", *_without_overtaking(trace))
    if is_internal(trace, found.pair):
        return ("only accesses inside a library overtake earlier stores of their thread in this run.",)
    sentences = [_headline(trace, found.pair), *_conflicts(trace, found)]
    if found.others:
        several = "is 1 other overtaken store" if len(found.others) == 1 else f"are {len(found.others)} other pairs"
        sentences.append(f"There {several} in this run.")
    return tuple(sentences)


def _without_overtaking(trace: Trace) -> list[str]:
    torn = [one for one in torn_steps(trace) if not trace.program.variables[one[0].access.variable].is_internal]
    if not torn:
        return ["The same run is possible under sc: no fence can prevent it."] if trace.end.is_plain else []
    store, commit = torn[0]
    process = trace.program.processes[store.access.process].name
    when = "was still pending at the end" if commit is None else f"reached memory only in step {commit.position + 1}"
    first = (
        f"But `{process}` makes several accesses in one step ({_where(trace, store)}), which is atomic only under sc: "
    )
    return [f"{first}its store {_equation(trace, store)} {when}."]


def _headline(trace: Trace, pair: Overtaken) -> str:
    process = trace.program.processes[pair.store.access.process].name
    store = f"its own store {_equation(trace, pair.store)} ({_where(trace, pair.store)})"
    still = "was still in its store buffer"
    if pair.issued is None:
        load = f"`{process}` read {_equation(trace, pair.by)} from memory ({_where(trace, pair.by)})"
        return f"{load} while {store} {still}: the load overtook the store."
    younger = f"{_equation(trace, pair.by)} of `{process}` (issued at {_where(trace, pair.issued)}, "
    return f"{younger}committed in step {pair.by.position + 1}) reached memory while {store} {still}: " + (
        "the later store overtook the earlier one."
    )


def _conflicts(trace: Trace, found: Why) -> list[str]:
    sentences = []
    processes = trace.program.processes
    if found.hidden_from is not None:
        reader = processes[found.hidden_from.access.process].name
        sentences.append(
            f"So `{reader}` read {_equation(trace, found.hidden_from)} ({_where(trace, found.hidden_from)}), "
            f"not {value_text(trace.program, found.pair.store.access.variable, found.pair.store.access.value)}."
        )
    if found.missed is not None:
        writer = processes[found.missed.access.process].name
        sentences.append(
            f"And `{writer}`'s write {_equation(trace, found.missed)} reached memory only in step "
            f"{found.missed.position + 1}."
        )
    return sentences


def _equation(trace: Trace, event: Occurrence) -> str:
    variable = event.access.variable
    return f"{trace.program.variables[variable].name} = {value_text(trace.program, variable, event.access.value)}"


def _where(trace: Trace, event: Occurrence) -> str:
    step = f"step {event.position + 1}"
    if event.span.source is NOWHERE.source:
        return step
    is_own = event.span.source.path == trace.program.source.path
    return f"line {event.span.line}, {step}" if is_own else f"{event.span.place}, {step}"
