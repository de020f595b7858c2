"""Invariants: a set of states that holds the initial ones, that no step leaves, and in which nothing is bad.

Theorem 1 of `docs/theory/certificates.md`: every reachable state is in such a set, by induction on the run. So nothing
bad is reachable. The set is finite and closed under the steps of the model *without* a bound on its buffers, so there
is no more to say about bounds. The three conditions stand in `check_invariant`, one after the other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memfence.certificates.checker.abridged import Ends, ends_of
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.certificates.format.columns import Columns
from memfence.models.state import Failure, State
from memfence.models.steps import MemoryModel, starts, successors

BYTES_OF_A_STATE = 1000
"""About what a state takes in Python, beside its values."""


def read_states(columns: Columns, blocks: Iterable[bytes], *, most_bytes: int) -> set[State]:
    """The set of states. Rows stand in strictly ascending order, so no row counts twice.

    MemoryError for more of them than fit into `most_bytes`, at `BYTES_OF_A_STATE` each.
    """
    states, last = set[State](), b""
    for block in blocks:
        for row in columns.rows(block):
            if row <= last:
                raise Refused(Condition.ORDER, state=columns.state(row))
            states.add(columns.state(row))
            last = row
        if len(states) * (BYTES_OF_A_STATE + 40 * len(columns.columns)) > most_bytes:
            raise MemoryError
    return states


def check_closed(ends: Ends, states: Collection[State], *, may_fail: bool = False) -> None:
    """The set holds the initial states, no step leads out, and none fails, unless it `may_fail`."""
    program, model = ends.program, ends.model
    for state in starts(program, model):  # Condition 1: the set holds every initial state.
        for end in ends.of(state):
            if isinstance(end, Failure):
                raise Refused(Condition.FAILURE, end.reason, state=state)
            if end not in states:
                raise Refused(Condition.INITIAL, state=end)
    for state in states:
        for step, after in successors(program, model, state):
            if may_fail and isinstance(after, Failure):
                continue
            for end in (after,) if isinstance(after, Failure) else ends.of(after, step):
                if isinstance(end, Failure):  # Condition 3b: no step fails.
                    raise Refused(Condition.FAILURE, end.reason, state=state, step=step)
                if end not in states:  # Condition 2: no step leads out.
                    raise Refused(Condition.CLOSED, state=state, step=step, after=end)


def check_invariant(question: Question, states: Collection[State], left_out: Abridgement = WHOLE) -> None:
    """Return if the set proves what is asked of single states; else Refused."""
    program, model = question.program, question.model.definition
    check_closed(ends_of(program, model, left_out, question.looks_at, deadlock=question.deadlock), states)
    check_states(question, model, states)


def check_states(question: Question, model: MemoryModel, states: Collection[State]) -> None:
    """Condition 3 but for 3b: nothing is bad in any of them."""
    for state in states:
        check_state(question, state)
        has_step = not question.deadlock or any(True for _ in successors(question.program, model, state))
        if question.is_stuck(state, has_step=has_step):  # Condition 3d.
            raise Refused(Condition.DEADLOCK, state=state)


def check_state(question: Question, state: State) -> None:
    """Conditions 3a and 3c: the state is not bad, and refutes nothing that is said about final states."""
    if question.is_bad(state):
        raise Refused(Condition.BAD, state=state)
    final = question.refuted_final(state)
    if final is not None:
        raise Refused(Condition.FINAL, final.text, state=state)
