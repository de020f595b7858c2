"""From an execution to a run: the steps of processes and store buffers in which the same reads and writes happen.

The axioms of SC, TSO and PSO say that the loads from memory and the moments at which stores get there fit into one
order. The search goes by such an order and takes only steps that do what the execution says: each process reads and
writes the same values, and writes reach each variable in the same order. It hardly ever has to turn back. What it finds
is taken step by step by the definition of the model, so that it is a run whatever the axioms say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memfence.axiomatic.candidates import candidate
from memfence.axiomatic.code import Write
from memfence.axiomatic.execution import Execution, Place
from memfence.axiomatic.model import AxiomaticModel
from memfence.digraph import in_order
from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.models.cat.interpreter import Evaluation
from memfence.models.cat.relations import Rows, bits
from memfence.models.state import Failure, State, Step
from memfence.models.steps import MemoryModel, set_at, starts, successors
from memfence.program.ir import Program
from memfence.records import Record

MOST_STATES = 20_000
"""Whoever has seen more than that is lost."""

Places = tuple[Place, ...]


class Progress(Record):
    """`done`: how many accesses of each process have happened; `pending`: its stores that memory has not got yet;
    `reached`: how many writes have reached each variable."""

    done: tuple[int, ...]
    pending: tuple[Places, ...]
    reached: tuple[int, ...]


Node = tuple[State, Progress]
IsWanted = Callable[[State | Failure], bool]


def run_of(
    program: Program, memory: MemoryModel, model: AxiomaticModel, execution: Execution, is_wanted: IsWanted
) -> Trace | None:
    """A run of `program` that does what the execution does and ends as wanted; None if none was found soon enough.

    `memory` is the model with states, `model` the same as axioms.
    """
    search = _Search(program, memory, _Guide(program, model, execution))
    for start in starts(program, memory):
        if start.memory == execution.decisions.initial:
            steps = search.steps_from(start, is_wanted)
            if steps is not None:
                return Trace(program, memory, start, steps)
    return None


class _Search:
    """Depth first; what was seen once leads nowhere."""

    def __init__(self, program: Program, memory: MemoryModel, guide: _Guide) -> None:
        self.program = program
        self.memory = memory
        self.guide = guide
        self.seen: set[Node] = set()

    def steps_from(self, start: State, is_wanted: IsWanted) -> list[Step] | None:
        first = (start, self.guide.start())
        ways: list[Iterator[tuple[Step, State | Failure, Progress]]] = [self.ways_on(first)]
        steps: list[Step] = []
        if is_wanted(start):
            return steps
        while ways and len(self.seen) < MOST_STATES:
            found = next(ways[-1], None)
            if found is None:
                ways.pop()
                del steps[-1:]
                continue
            step, after, progress = found
            if is_wanted(after):
                return [*steps, step]
            if not isinstance(after, Failure) and (after, progress) not in self.seen:
                self.seen.add((after, progress))
                steps.append(step)
                ways.append(self.ways_on((after, progress)))
        return None

    def ways_on(self, node: Node) -> Iterator[tuple[Step, State | Failure, Progress]]:
        """The steps that the execution allows, those that come first in its order before others."""
        state, progress = node
        found = []
        for number, (step, after) in enumerate(successors(self.program, self.memory, state)):
            follows = self.guide.follow(progress, accesses(self.program, self.memory, state, step))
            if follows is not None:
                rank, later = follows
                found.append((rank, number, step, after, later))
        found.sort(key=lambda way: way[:2])
        return ((step, after, later) for _, _, step, after, later in found)


class _Guide:
    """What each process reads and writes, and when that happens for everybody else (`moment`)."""

    def __init__(self, program: Program, model: AxiomaticModel, execution: Execution) -> None:
        self.decisions = execution.decisions
        self.variables = len(program.variables)
        code = execution.code
        self.what = {event.place: (event.variable, event.value) for event in execution.events}
        self.moment = _moments(execution, model)
        self.writes = {place for place in self.what if place[0] == -1 or isinstance(code.item_at(place), Write)}
        self.plan: list[list[Place]] = [[] for _ in program.processes]
        for event in execution.events:
            if event.place[0] >= 0 and event.variable is not None:
                self.plan[event.place[0]].append(event.place)

    def start(self) -> Progress:
        return Progress((0,) * len(self.plan), ((),) * len(self.plan), (1,) * self.variables)

    def follow(self, progress: Progress, made: Sequence[Access]) -> tuple[int, Progress] | None:
        """The moment of the first access that others notice, and what has happened then; None if the execution does
        something else."""
        moments: list[int] = []
        for access in made:
            followed = self._follow_one(progress, access)
            if followed is None:
                return None
            place, progress = followed
            if access.touches_memory:
                moments.append(self.moment[place])
        return (moments[0] if moments else -1), progress

    def _follow_one(self, progress: Progress, access: Access) -> tuple[Place, Progress] | None:
        p, variable = access.process, access.variable
        done, pending, reached = progress.done, progress.pending, progress.reached
        if access.kind == "commit":
            place = next((place for place in pending[p] if self.what[place][0] == variable), None)
            pending = set_at(pending, p, tuple(other for other in pending[p] if other != place))
        else:
            place = self._planned(p, done[p], access)
            done = set_at(done, p, done[p] + 1)
        if place is None or (access.writes_memory and not self._is_next(place, variable, reached[variable])):
            return None
        if access.kind == "pending store":
            pending = set_at(pending, p, (*pending[p], place))
        if access.writes_memory:
            reached = set_at(reached, variable, reached[variable] + 1)
        return place, Progress(done, pending, reached)

    def _is_next(self, place: Place, variable: int, reached: int) -> bool:
        return self.decisions.order[variable][reached : reached + 1] == (place,)

    def _planned(self, process: int, number: int, access: Access) -> Place | None:
        """The next access of the process, if this is it."""
        if number >= len(self.plan[process]):
            return None
        place = self.plan[process][number]
        is_store = access.kind in ("store", "pending store")
        is_it = self.what[place] == (access.variable, access.value) and (place in self.writes) == is_store
        return place if is_it else None


def _moments(execution: Execution, model: AxiomaticModel) -> dict[Place, int]:
    """An order of all events that agrees with the last of the axioms about cycles: the one about all variables."""
    seen = candidate(execution, model)
    evaluation = Evaluation(model.cat, seen)
    about_cycles = [axiom for axiom in model.cat.axioms if axiom.kind == "acyclic"]
    after: list[list[int]] = [[] for _ in execution.events]
    for axiom in about_cycles[-1:]:
        relation = evaluation.value(axiom.body)
        assert not isinstance(relation, int)
        after = _turned(relation)
    order = in_order(after, lambda event: (event,)) or range(len(execution.events))
    return {execution.events[event].place: moment for moment, event in enumerate(order)}


def _turned(rows: Rows) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in rows]
    for a, row in enumerate(rows):
        for b in bits(row):
            found[b].append(a)
    return found
