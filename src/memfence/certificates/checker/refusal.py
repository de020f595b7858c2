"""Why a certificate proves nothing: the first condition that it violates, with the state and the step that show it."""

from __future__ import annotations

from enum import Enum

from memfence.models.state import State, Step
from memfence.records import Record


class Condition(Enum):
    """The conditions, in the words of `docs/theory/certificates.md`."""

    PROGRAM = "the certificate is about another program"
    INITIAL = "an initial state is missing"
    CLOSED = "a step leads out of the set"
    FAILURE = "a step fails"
    BAD = "a state is bad"
    FINAL = "a final state refutes what is said about final states"
    DEADLOCK = "a state is a deadlock"
    WITNESS = "no run shows what is said to be possible"
    ORDER = "the states are not in order, each once"
    STRAY = "SC does not reach a state with empty buffers"
    RACE = "two processes are about to access the same variable"
    ATTACK = "a read overtakes a store of its process while another process can change what it reads"
    CYCLE = "a step overtakes a store of its process, and others come back to that store before it is made"
    RANK = "a step does not lead down"
    MINIMUM = "fewer or cheaper fences meet all clauses"
    KIND = "the sections do not prove what is claimed"


class Refused(Exception):
    """The certificate is one, but it violates `condition`."""

    def __init__(
        self, condition: Condition, detail: str = "", *, state: State | None = None, step: Step | None = None,
        after: State | None = None,
    ) -> None:  # fmt: skip
        super().__init__(condition.value)
        self.condition = condition
        self.detail = detail
        self.state = state
        self.step = step
        self.after = after


class NotProved(Exception):
    """The proved checker is not there, or cannot check this certificate; the text says which and why."""


class Checked(Record):
    """What was found good: how many states, and which checker looked."""

    states: int
    checker: str
