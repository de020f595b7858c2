"""An execution that RC11 allows, and SC does not: what shows that a program is not robust.

The model's text gets one more flag, which says that program order, reads-from, coherence and from-read have a cycle. So
the solver looks for it as it does for races, and the interpreter judges what is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

from memfence.axiomatic.execution import Execution, Place
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.engines.axiomatic.goals import Raises
from memfence.engines.axiomatic.solve import Executions, Found, LimitHit
from memfence.engines.axiomatic.violations import Violation, told
from memfence.models.cat.reader import library_text, parse
from memfence.models.catalogue import model_of
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.tasks.evidence import Counterexample
from memfence.tasks.limits import Limits

FLAG = "beyond-sc"
_TEXT = f"""
let sc-order = (po | com)+
flag ~empty (sc-order & id) as {FLAG}
"""
ROUNDS = (1, 2)
"""How often loops are gone round, one after the other."""


def execution_beyond_sc(program: Program, name: str, limits: Limits, rounds: Sequence[int]) -> Counterexample | None:
    """Such an execution, with loops gone round as often as `rounds` say, one after the other; None: none was found.

    What threads read where they stand and wait does not count.
    """
    model = _flagged(name)
    for times in rounds:
        try:
            code = unroll(synchronised(replace(program, properties=())), times)
            executions = Executions(code, limits=limits)
            found = executions.find(executions.add(model), Raises(FLAG))
        except (NotUnrolled, LimitHit):
            return None
        pair = _too_early(found.execution) if isinstance(found, Found) else None
        if isinstance(found, Found) and pair is not None:
            shown = told(Violation(found.execution, None, False), model, times, dependencies=True)
            return replace(shown, beyond_sc=pair)
    return None


def _too_early(execution: Execution) -> tuple[int, int] | None:
    """Two events, by number: a read, and a write that leads to it but that it does not see; else two such writes."""
    numbers = {event.place: n for n, event in enumerate(execution.events)}
    graph = _Graph(execution)
    before = {numbers[a]: {numbers[b] for b in later} for a, later in graph.edges()}
    for a, b in graph.overtaking():
        if a[0] >= 0 and a[0] != b[0] and _leads(before, numbers[b], numbers[a]):
            return numbers[a], numbers[b]
    return None


class _Graph:
    """An execution, without the last reads of threads that wait."""

    def __init__(self, execution: Execution) -> None:
        decided = execution.decisions
        left_out = {
            event.place
            for event in execution.events
            if event.place in decided.read_from and _is_at_the_end(execution, event.place)
        }
        self.places = [event.place for event in execution.events if event.place not in left_out]
        self.source = {read: w for read, w in decided.read_from.items() if read not in left_out}
        self.orders = decided.order.values()

    def behind(self, write: Place) -> tuple[Place, ...]:
        """The writes that come after this one at its variable."""
        return next((order[order.index(write) + 1 :] for order in self.orders if write in order), ())

    def overtaking(self) -> Iterator[tuple[Place, Place]]:
        """Reads with writes that they do not see, and writes with those that come later."""
        for read, source in self.source.items():
            yield from ((read, write) for write in self.behind(source))
        for order in self.orders:
            yield from combinations(order, 2)

    def edges(self) -> Iterator[tuple[Place, list[Place]]]:
        """Program order, reads-from, coherence and from-read."""
        for place in self.places:
            later = [b for b in self.places if place[0] >= 0 and b[0] == place[0] and b[1] > place[1]]
            later += [read for read, source in self.source.items() if source == place]
            later += self.behind(place)
            if place in self.source:
                later += [write for write in self.behind(self.source[place]) if write != place]
            yield place, later


def _is_at_the_end(execution: Execution, place: Place) -> bool:
    """Whether the thread waits, and only reads from here on."""
    if not any(waits[0] == place[0] for waits in execution.waiting):
        return False
    rest = (event.place for event in execution.events if event.place[0] == place[0] and event.place[1] > place[1])
    return all(later in execution.decisions.read_from for later in rest)


def _leads(before: Mapping[int, set[int]], start: int, goal: int) -> bool:
    seen, work = {start}, [start]
    while work:
        for after in before[work.pop()] - seen:
            seen.add(after)
            work.append(after)
    return goal in seen


@cache
def _flagged(name: str) -> AxiomaticModel:
    (base,) = models_named(name)
    known = model_of(name)
    assert known is not None
    text = library_text(f"{known.text}.cat")
    return replace(base, cat=parse(SourceText(text.path, text.text + _TEXT)))
