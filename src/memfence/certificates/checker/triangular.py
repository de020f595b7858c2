"""Freedom of triangular races: states of SC, each with the newest unfenced store of every process.

Theorem 10: that is all the definition asks about ([criteria](docs/theory/criteria.md)). A process is about to read a
variable with an unfenced store to another one behind it, newer than its own stores to that variable, exactly if its
newest unfenced store is to another variable; a plain step that stores reads with its own store unfenced.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from memfence.certificates.checker.criteria import require_single_stores
from memfence.certificates.checker.events import SC, TSO, events_of, is_locked_event
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.automata import SymbolicRows
from memfence.certificates.format.columns import planes
from memfence.models.accesses import accesses
from memfence.models.state import Failure, ProcessStep, State
from memfence.models.steps import set_at, starts, successors
from memfence.program.ir import Fence, Program, Transition

Marked = tuple[State, tuple[int, ...]]
"""A state of SC, and for each process 0, or 1 + the variable of its newest store since its last fence."""


def read_marked(program: Program, blocks: Iterable[bytes], *, most: int) -> set[Marked]:
    """The pairs. Rows stand in strictly ascending order; MemoryError for more than `most` of them."""
    rows, found, last = SymbolicRows(program), set[Marked](), b""
    for block in blocks:
        for row, pair in zip(planes(block, rows.width), rows.states(block), strict=True):
            if row <= last:
                raise Refused(Condition.ORDER, state=pair[0])
            found.add(pair)
            last = row
        if len(found) > most:
            raise MemoryError
    return found


def first_marked(program: Program) -> Iterator[Marked]:
    return ((state, tuple(0 for _ in program.processes)) for state in starts(program, SC))


def check_triangular(program: Program, marked: Collection[Marked]) -> None:
    """Theorem 10: the set holds the first pairs, no step leads out, and no pair is a triangular race."""
    require_single_stores(program)
    for pair in first_marked(program):
        if pair not in marked:
            raise Refused(Condition.INITIAL, state=pair[0])
    for pair in marked:
        for step, after in steps_of(program, pair):
            if not isinstance(after, Failure) and after not in marked:
                raise Refused(Condition.CLOSED, state=pair[0], step=step, after=after[0])
    for pair in marked:
        if (variable := race_of(program, pair)) is not None:
            raise Refused(Condition.RACE, program.variables[variable].name, state=pair[0])


def steps_of(program: Program, pair: Marked) -> Iterator[tuple[ProcessStep, Marked | Failure]]:
    """Every step of SC, with the marks after it."""
    for step, after in successors(program, SC, pair[0]):
        assert isinstance(step, ProcessStep), "processes share memory only"
        yield step, after if isinstance(after, Failure) else (after, marks_after(program, pair, step))


def marks_after(program: Program, pair: Marked, step: ProcessStep) -> tuple[int, ...]:
    """The newest unfenced stores behind a possible step of SC."""
    state, marks = pair
    transition = program.processes[step.process].transitions[step.transition]
    stored = [access.variable + 1 for access in accesses(program, SC, state, step) if access.writes_memory]
    is_fenced = fences(transition) or state.lock_owner == step.process
    return set_at(marks, step.process, 0 if is_fenced else stored[-1] if stored else marks[step.process])


def fences(transition: Transition) -> bool:
    """Whether nothing of the process is pending after the step: it is locked, or it has an mfence and no store."""
    return is_locked_event(transition) or any(_drains(op) for op in transition.ops if isinstance(op, Fence))


def _drains(fence: Fence) -> bool:
    return fence.kind == "mfence" or (fence.kind == "thread_fence" and TSO.reading_of_fence(fence.order) == "mfence")


def race_of(program: Program, pair: Marked) -> int | None:
    """The variable that a process is about to read in this way while another one is about to write it."""
    state, marks = pair
    exposed, written = set[tuple[int, int]](), set[tuple[int, int]]()
    for event in (event for p, _ in enumerate(program.processes) for event in events_of(program, state, p)):
        p, stores = event.first.process, bool(event.written)
        written |= {(p, variable) for variable in event.written}
        if event.locked:
            continue
        last = 0 if fences(program.processes[p].transitions[event.first.transition]) else marks[p]
        for access in event.made:
            if access.writes_memory:
                last, stores = access.variable + 1, False  # what follows has the store behind it
            elif stores or last not in (0, access.variable + 1):
                exposed.add((p, access.variable))
    met = (v for reader, v in sorted(exposed) if any(v == other and reader != writer for writer, other in written))
    return next(met, None)
