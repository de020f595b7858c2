"""How many mutants a test notices: those with which some question fails that does not fail as the program is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from memfence.program.ir import Program
from memfence.records import Record
from memfence.synthesis.mutation.alike import are_alike
from memfence.synthesis.mutation.mutants import Mutant, mutants
from memfence.synthesis.orders.questions import Question, fails
from memfence.tasks.answer import Verdict
from memfence.tasks.result import ModelAnswer, ModelsResult
from memfence.tasks.shown import Shown

Fate = Literal["noticed", "alike", "unnoticed", "unknown"]
FROM_BAD = (Verdict.VIOLATED, Verdict.UNKNOWN, Verdict.HOLDS_UP_TO, Verdict.HOLDS)


class JudgedMutant(Record):
    """What became of a mutant. `noticed`: `answer` is one that fails with it. `alike`: every model takes it for the
    same program. `unnoticed`: nothing fails with it; `alike_under` are the models to which it is the same. `unknown`:
    nothing was seen to fail, but a limit was hit."""

    mutant: Mutant
    fate: Fate
    answer: ModelAnswer | None = None
    alike_under: tuple[str, ...] = ()


class Mutation(Shown, Record, repr=False):
    """`before`: the answers to every question as the program is. Without mutants where it fails as it is."""

    questions: tuple[Question, ...]
    before: tuple[ModelsResult, ...]
    judged: tuple[JudgedMutant, ...]
    at_least: int | None
    seconds: float

    @property
    def program(self) -> Program:
        return self.questions[0].program

    @property
    def models(self) -> tuple[str, ...]:
        return self.questions[0].models

    @property
    def verdict(self) -> Verdict:
        """That of the program as it is: the worst of all questions."""
        found = {result.verdict for result in self.before}
        return next(verdict for verdict in FROM_BAD if verdict in found)

    def count(self, fate: Fate) -> int:
        return sum(one.fate == fate for one in self.judged)

    @property
    def noticed(self) -> int:
        return self.count("noticed")

    @property
    def percent(self) -> int:
        """Of the mutants that some model can tell from the program, rounded down; 100 where there are none."""
        different = len(self.judged) - self.count("alike")
        return 100 if not different else 100 * self.noticed // different

    @property
    def is_enough(self) -> bool:
        return self.at_least is None or self.percent >= self.at_least


def mutate(questions: Sequence[Question], *, at_least: int | None = None) -> Mutation:
    """Ask every question about every mutant. The questions share their text; each answer has its whole time."""
    questions = tuple(questions)
    before = tuple(question.ask() for question in questions)
    is_wrong = any(fails(answer) for result in before for answer in result.answers)
    found = () if is_wrong else mutants([question.program for question in questions])
    judged = tuple(_judged(one, questions) for one in found)
    return Mutation(questions, before, judged, at_least, max((r.seconds for r in before), default=0.0))


def _judged(mutant: Mutant, questions: Sequence[Question]) -> JudgedMutant:
    is_known, alike = True, dict[str, bool]()
    for number, question in enumerate(questions):
        changed = mutant.of_program(question.program, number)
        if changed is None:
            continue
        for model in question.models:
            is_same = mutant.kind != "split" and are_alike(question.program, changed, model)
            alike[model] = alike.get(model, True) and is_same
            if is_same:
                continue
            [answer] = replace(question, models=(model,)).ask(changed).answers
            if fails(answer):
                return JudgedMutant(mutant, "noticed", answer)
            is_known = is_known and answer.verdict is not Verdict.UNKNOWN
    same = tuple(model for model, is_alike in alike.items() if is_alike)
    if len(same) == len(alike):
        return JudgedMutant(mutant, "alike", alike_under=same)
    return JudgedMutant(mutant, "unnoticed" if is_known else "unknown", alike_under=same)
