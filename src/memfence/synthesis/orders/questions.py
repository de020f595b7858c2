"""Questions that share a text: a program, or every client of one object. Places of the text are the same in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.frontends.c.macros import Macros
from memfence.frontends.c.orders import place_of_order
from memfence.program.ir import Program
from memfence.questions.models import check_models
from memfence.records import Record
from memfence.synthesis.orders.places import OpNumber, OrderPlace, every_place
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import ByDependencies
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import ModelAnswer, ModelsResult

WITHOUT_FAILURE = (Verdict.HOLDS, Verdict.HOLDS_UP_TO)


class Question(Record):
    """Whether `program` works under all of the models. `unrolled`: rounds of loops, None: as many as needed."""

    program: Program
    models: tuple[str, ...]
    options: CheckOptions
    unrolled: int | None = None

    def ask(self, program: Program | None = None) -> ModelsResult:
        """The answers about the program, or about another one in its place; each question has its whole time."""
        asked = self.program if program is None else program
        return check_models(asked, self.models, self.options.afresh(), unrolled=self.unrolled)


class SharedPlace(Record):
    """A place of the text, and the ops that it is in the program of each question, by number."""

    place: OrderPlace
    ops: tuple[frozenset[OpNumber], ...]

    def in_question(self, number: int) -> OrderPlace:
        """The place as that question's program has it; without ops where it has not."""
        return replace(self.place, ops=self.ops[number])


def shared_places(programs: Sequence[Program], macros: Macros | None = None) -> tuple[SharedPlace, ...]:
    """Every access and fence of the texts, in the order of the first program that has it. With `macros`, those whose
    order is written in the same place are one."""
    found: dict[object, tuple[OrderPlace, list[frozenset[OpNumber]]]] = {}
    for number, program in enumerate(programs):
        for place in every_place(program):
            at = None if macros is None else place_of_order(place.span.source, place.span, macros)
            where = at or (place.span.source.path, place.span.start, place.span.end)
            key = (where, place.kind, place.order)
            _, ops = found.setdefault(key, (place, [frozenset()] * len(programs)))
            ops[number] |= place.ops
    return tuple(SharedPlace(place, tuple(ops)) for place, ops in found.values())


def fails(answer: ModelAnswer) -> bool:
    """Whether there is an execution that nobody wants, be it one where the compiler removes dependencies."""
    return answer.verdict is Verdict.VIOLATED or isinstance(answer.evidence, ByDependencies)
