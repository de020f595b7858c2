"""Whether a run does what some run of SC does: the same steps in each process, and stores in the same order.

By a search over how far each process has come. That says which stores were made and, as their order is given, what is
in memory. Steps that access nothing can always be taken, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.certificates.checker.criteria import require_shared_memory
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.models.accesses import accesses
from memfence.models.replay import Replayed
from memfence.models.state import ProcessStep
from memfence.models.steps import set_at
from memfence.records import Record

MOST_PLACES = 1_000_000
FIRST = -1
"""The number of whoever wrote what memory holds at the start; stores have numbers from 0 on."""


class Made(Record):
    """An access of a step. `store`: of a store its number, of a load that of the store whose value it has."""

    is_load: bool
    variable: int
    value: int
    store: int


def has_sc_trace(question: Question, run: Replayed, *, by_values: bool) -> bool:
    """Whether an SC run has the same steps and the same order of all stores, its loads the same values (`by_values`:
    persistence), or the same order of stores to each variable, its loads reading from the same stores (robustness)."""
    require_shared_memory(question.program, regions=True)
    if not run.end.is_plain:
        raise Refused(Condition.WITNESS, "the run of a clause ends with pending stores")
    require_one_start(question, by_values=by_values)
    steps, order = _events(question, run)
    first = (FIRST,) * (len(run.start.memory) + 1)  # the last store to each variable, then the last of all
    before = dict(_predecessors(order, first, by_values))
    written = {made.store: made.value for made in order}

    def after(memory: tuple[int, ...], step: tuple[Made, ...]) -> tuple[int, ...] | None:
        for made in step:
            last = memory[made.variable]
            if made.is_load:
                value = run.start.memory[made.variable] if last == FIRST else written[last]
                if (value != made.value) if by_values else (last != made.store):
                    return None
                continue
            if memory[-1 if by_values else made.variable] != before[made.store]:
                return None
            memory = set_at(set_at(memory, made.variable, made.store), len(memory) - 1, made.store)
        return memory

    start = tuple(0 for _ in steps)
    waiting, seen = [(start, first)], {start}
    while waiting:
        places, memory = waiting.pop()
        going = [p for p, place in enumerate(places) if place < len(steps[p])]
        if not going:
            return True
        for p in going:
            reached, then = set_at(places, p, places[p] + 1), after(memory, steps[p][places[p]])
            if then is not None and reached not in seen:
                seen.add(reached)
                waiting.append((reached, then))
        if len(seen) > MOST_PLACES:
            raise Refused(Condition.WITNESS, "the run of a clause is too long to be compared with SC")
    return False


def require_one_start(question: Question, *, by_values: bool) -> None:
    """Values tell stores apart only where memory starts in one way: an SC run may begin with others."""
    if by_values and any(len(variable.init) > 1 for variable in question.program.variables):
        raise Refused(Condition.KIND, "memory starts with one of several values")


def _predecessors(order: list[Made], first: tuple[int, ...], by_values: bool) -> Iterator[tuple[int, int]]:
    """For each store the one before it: of all, or of those to its variable."""
    last = list(first)
    for made in order:
        at = -1 if by_values else made.variable
        yield made.store, last[at]
        last[at] = made.store


def _events(question: Question, run: Replayed) -> tuple[list[list[tuple[Made, ...]]], list[Made]]:
    """The accesses of each step of each process, and the stores in the order in which they reached memory."""
    steps: list[list[tuple[Made, ...]]] = [[] for _ in question.program.processes]
    order: list[Made] = []
    memory = [FIRST for _ in run.start.memory]
    pending: dict[tuple[int, int], list[Made]] = {}
    state, number = run.start, 0
    for taken in run.taken:
        step: list[Made] = []
        for access in accesses(question.program, question.model.definition, state, taken.step):
            own = pending.setdefault((access.process, access.variable), [])
            is_load = access.kind in ("load", "own load")
            source = memory[access.variable] if access.kind == "load" else own[-1].store if is_load else number
            made = own.pop(0) if access.kind == "commit" else Made(is_load, access.variable, access.value, source)
            if access.kind != "commit":
                step.append(made)
                number += not is_load
            if access.kind == "pending store":
                own.append(made)
            if access.writes_memory:
                memory[access.variable] = made.store
                order.append(made)
        if isinstance(taken.step, ProcessStep):
            mine = steps[taken.step.process]
            if state.lock_owner == taken.step.process:  # what it does with the bus is one step
                mine[-1] += tuple(step)
            elif step or taken.state.lock_owner == taken.step.process:
                mine.append(tuple(step))
        state = taken.state
    return steps, order
