"""Labels whose names mean something, as in Spin: runs that come to `accept` again and again, or never to `progress`."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.program.expressions import FALSE, TRUE, At, Expr, conjunction, disjunction, fold, negate
from memfence.program.ir import Assume, Location, Process, Program, PropertyAutomaton, PropertyEdge

ACCEPT, PROGRESS = "accept", "progress"


def has_meaning(location: Location) -> bool:
    """Whether a question may be about runs that come to this place again and again."""
    return any(label.startswith((ACCEPT, PROGRESS)) for label in location.labels)


def places_with_a_way(process: Process) -> frozenset[int]:
    """The locations to which steps lead from the beginning, unless a step can never be taken: its guard is false."""
    reached, waiting = {process.initial}, [process.initial]
    while waiting:
        for _, transition in process.leaving(waiting.pop()):
            is_closed = any(isinstance(op, Assume) and fold(op.condition) == FALSE for op in transition.ops)
            if not is_closed and transition.target not in reached:
                reached.add(transition.target)
                waiting.append(transition.target)
    return frozenset(reached)


def at_label(processes: Sequence[Process], beginning: str) -> Expr:
    """True where some process is at a label that begins so."""
    found = []
    for number, process in enumerate(processes):
        places = {
            place
            for place, location in enumerate(process.locations)
            if any(label.startswith(beginning) for label in location.labels)
        }
        if places:
            found.append(At(number, frozenset(places)))
    return disjunction(*found) if found else FALSE


def no_acceptance_cycle(program: Program) -> PropertyAutomaton:
    """No fair run comes to an `accept` label again and again; standing still there counts."""
    here = at_label(program.processes, ACCEPT)
    edges = [PropertyEdge(source, 1, here) for source in (0, 1)]
    edges += [PropertyEdge(source, 0, negate(here)) for source in (0, 1)]
    return PropertyAutomaton("no acceptance cycle", ("elsewhere", "there"), 0, tuple(edges), (frozenset({1}),))


def no_non_progress_cycle(program: Program) -> PropertyAutomaton:
    """Every fair run comes to a `progress` label again and again, or stands still."""
    stands_still = dict(program.meanings).get("timeout", FALSE)
    stays = conjunction(negate(at_label(program.processes, PROGRESS)), negate(stands_still))
    edges = (PropertyEdge(0, 0, TRUE), PropertyEdge(0, 1, stays), PropertyEdge(1, 1, stays))
    return PropertyAutomaton("no non-progress cycle", ("before", "without progress"), 0, edges, (frozenset({1}),))
