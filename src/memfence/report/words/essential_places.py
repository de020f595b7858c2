"""The places of a run that matter, and what is there to say about each."""

from __future__ import annotations

from collections.abc import Iterator

from memfence.execution.occurrences import Occurrence, transition_of
from memfence.execution.overtaking import explain
from memfence.execution.trace import Trace
from memfence.report.words.actions import actions
from memfence.source import NOWHERE, Span


def essential_places(trace: Trace) -> list[tuple[Span, str]]:
    """What matters first: the store that is overtaken, else the step that fails or the last one. Then the others: what
    overtakes it, who noticed, and what fails because of it. Each place once."""
    found = [(event.span, text) for event, text in essential_events(trace) if event.span.source is not NOWHERE.source]
    found += _last_place(trace) if trace.failure is not None or not found else []
    return list({(span.source.path, span.start, span.end): (span, text) for span, text in reversed(found)}.values())[
        ::-1
    ]


def _last_place(trace: Trace) -> list[tuple[Span, str]]:
    for position in reversed(range(len(trace.steps))):
        for process in actions(trace, position):
            transition = transition_of(trace, position, process)
            if transition is not None and transition.span.source is not NOWHERE.source:
                return [(transition.span, "this fails" if trace.failure is not None else "the last step of the run")]
    return []


def essential_events(trace: Trace) -> Iterator[tuple[Occurrence, str]]:
    """The accesses that make the run one that SC does not have, and what each does."""
    why = explain(trace) if trace.steps else None
    if why is None:
        return
    yield why.pair.store, "this store is overtaken: it was still in the store buffer"
    yield why.pair.by if why.pair.issued is None else why.pair.issued, "this access takes effect before the store"
    if why.hidden_from is not None:
        yield why.hidden_from, "this read does not see the store"
    if why.missed is not None:
        yield why.missed, "this write comes too late to be read"
