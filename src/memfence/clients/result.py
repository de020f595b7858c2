"""What the clients of an object have shown."""

from __future__ import annotations

from enum import StrEnum

from memfence.clients.order import Order, Outcome
from memfence.clients.specification import Client, Specification
from memfence.records import Record
from memfence.tasks.answer import Verdict
from memfence.tasks.result import ModelAnswer, ModelsResult
from memfence.tasks.shown import Shown


class Consistency(StrEnum):
    """What the outcomes of a client are compared with."""

    SERIALISABLE = "serialisable"
    """Some order of the calls that respects that of each thread gives the outcome."""
    LINEARIZABLE = "linearizable"
    """And one that respects time: a call that was seen to return before another one began comes first."""
    QUIESCENT = "quiescent"
    """Some order of the calls gives the outcome, whichever thread makes them."""


class ClientResult(Record):
    """One client under all models. `orders`: its calls one after the other, and what they give. `program`: its text.

    `answers` is None where the time was up before. `may_be_stuck`: calls one after the other may end where none can
    return, and then it is no deadlock that all threads wait. `is_too_large`: it has more orders than are compared.
    """

    client: Client
    orders: tuple[Order, ...]
    program: str
    answers: ModelsResult | None
    seconds: float
    may_be_stuck: bool = False
    is_too_large: bool = False

    @property
    def verdict(self) -> Verdict:
        return Verdict.UNKNOWN if self.answers is None else self.answers.verdict

    @property
    def outcomes(self) -> tuple[Outcome, ...]:
        """What the calls may give, each once."""
        return tuple(dict.fromkeys(order.outcome for order in self.orders if order.outcome is not None))

    @property
    def failing(self) -> ModelAnswer | None:
        """The first model under which it fails."""
        answers = () if self.answers is None else self.answers.answers
        return next((answer for answer in answers if answer.verdict is Verdict.VIOLATED), None)


class ObjectResult(Shown, Record, repr=False):
    """The clients of one object that were looked at, smallest first. `clients`: how many there are of its shapes.

    `stuck`: clients that were left out, since no order of their calls comes to an end.
    """

    specification: Specification
    models: tuple[str, ...]
    consistency: Consistency
    clients: int
    tried: tuple[ClientResult, ...]
    stuck: int
    seconds: float

    @property
    def failing(self) -> ClientResult | None:
        """The smallest client that fails."""
        return next((one for one in self.tried if one.verdict is Verdict.VIOLATED), None)

    @property
    def left_out(self) -> int:
        """Clients that were not asked about."""
        return self.clients - self.stuck - len(self.tried)

    @property
    def verdict(self) -> Verdict:
        """HOLDS: every client of the shapes holds under every model."""
        verdicts = {one.verdict for one in self.tried}
        for worst in (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS_UP_TO):
            if worst in verdicts:
                return worst
        if not self.tried:
            return Verdict.UNKNOWN
        return Verdict.HOLDS_UP_TO if self.left_out else Verdict.HOLDS


class ObjectsResult(Shown, Record, repr=False):
    """Every object that a file describes."""

    objects: tuple[ObjectResult, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst of them."""
        order = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS_UP_TO, Verdict.HOLDS)
        found = {one.verdict for one in self.objects}
        return next(verdict for verdict in order if verdict in found)
