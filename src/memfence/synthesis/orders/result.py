"""What order synthesis answers: the places that change, and what each model says of the text then."""

from __future__ import annotations

from memfence.axiomatic.unrolling.refusal import Unfit
from memfence.program.ir import Program
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.source import Span
from memfence.synthesis.options import Minimise
from memfence.synthesis.orders.places import OrderPlace
from memfence.synthesis.patch import PatchedFile
from memfence.synthesis.result import FixVerdict
from memfence.tasks.answer import Verdict
from memfence.tasks.limits import Stop
from memfence.tasks.result import ModelAnswer
from memfence.tasks.shown import Shown


class OrderChange(Record):
    """What a place becomes."""

    place: OrderPlace
    order: MemoryOrder


class RacingVariable(Record):
    """A plain variable whose accesses race, and two of them: it has to become atomic."""

    name: str
    accesses: tuple[Span, ...]


class OrderFix(Shown, Record, repr=False):
    """`answers`: of the text with the changes, or of the text as it is where nothing was found.

    `changes`: in the order of the text. `is_minimum`: nothing cheaper is enough. `sets`: all minimal sets, if they were
    asked for; `are_all`: and there are no others. `places`: how many there were to choose from; `asked`: how many
    choices were tried. `stop`: the limit that ended the search; `refused`: why there was none. `files`: those that the
    changes change; `patched`: the text of the program's first one. `elsewhere`: changes that would do, but that cannot
    be written. `racing`: variables that have to become atomic first. `broken`: where the compiler refused a change.
    """

    program: Program
    models: tuple[str, ...]
    verdict: FixVerdict
    minimise: Minimise
    answers: tuple[ModelAnswer, ...]
    changes: tuple[OrderChange, ...] = ()
    is_minimum: bool = False
    sets: tuple[tuple[OrderChange, ...], ...] | None = None
    are_all: bool = False
    files: tuple[PatchedFile, ...] = ()
    patched: str | None = None
    elsewhere: tuple[OrderChange, ...] = ()
    racing: tuple[RacingVariable, ...] = ()
    broken: tuple[Span, ...] = ()
    diff: str = ""
    places: int = 0
    asked: int = 0
    seconds: float = 0.0
    stop: Stop | None = None
    refused: Unfit | None = None

    @property
    def bound(self) -> int | None:
        """How often loops were gone round where that is a limit of what was proved."""
        rounds = [a.unrolled for a in self.answers if a.verdict is Verdict.HOLDS_UP_TO and a.unrolled is not None]
        return max(rounds, default=None)
