"""`relax`: the cheapest orders of the accesses and fences that are there, for which the program works.

Every place that may be written starts relaxed, and a fence as none; what must be added is found by the clauses of
`least`, as `fix` finds it. So the minimum is over all orders of the places that are there: it adds no fence. The order
of a compare-exchange that fails follows that of one that succeeds, and never becomes stronger than it is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal

from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.engines.axiomatic.solve import LimitHit
from memfence.frontends.c.editable import may_be_edited
from memfence.frontends.c.macros import Macros, own_texts
from memfence.frontends.c.weaker_orders import OtherOrder, can_be_written, texts_with, weaker_of
from memfence.program.facts.loop_depth import loop_levels
from memfence.program.ir import Op, Program, Rmw
from memfence.program.orders import MemoryOrder
from memfence.records import Record
from memfence.synthesis.options import Minimise
from memfence.synthesis.orders.candidates import new_order
from memfence.synthesis.orders.least import Choice, Least, LeastSearch
from memfence.synthesis.orders.needed import weaker_orders
from memfence.synthesis.orders.oracle import OrderOracle
from memfence.synthesis.orders.places import OrderPlace, edits_of, with_order
from memfence.synthesis.orders.price_of_text import price_of_text
from memfence.synthesis.orders.prices import loop_factor, order_costs, prices_with
from memfence.synthesis.orders.questions import Question, SharedPlace, fails, shared_places
from memfence.synthesis.orders.strengths import strengths_of
from memfence.synthesis.patch import PatchedFile, diff_of, in_order, reread, text_of
from memfence.tasks.limits import Stop
from memfence.tasks.result import ModelAnswer, ModelsResult
from memfence.tasks.shown import Shown

RELAXED = MemoryOrder.RELAXED
RelaxVerdict = Literal["relaxed", "minimal", "fixed", "violated", "unknown"]
"""relaxed: cheaper orders are enough. fixed: the program fails, and these orders are enough. minimal: those of the text
are the cheapest. violated: the strongest are not enough. unknown: a limit was hit, or what is written could not be
proved."""


class Forbidding(Record):
    """Why the order of a place cannot be `weaker`: the answers of the models that fail then; none where none is known
    to."""

    weaker: MemoryOrder
    answers: tuple[ModelAnswer, ...]


class RelaxedPlace(Record):
    """An access or fence of the text, and the order that it has in the cheapest program. `kept`: why it was not to be
    changed: the user said so, or the text does not say the order. `forbidden`: what each further weakening does."""

    place: OrderPlace
    order: MemoryOrder
    kept: str = ""
    forbidden: tuple[Forbidding, ...] = ()

    @property
    def judgement(self) -> str:
        """`too strong`, `too weak`, `needed`, or `other` where it needs something else than it has."""
        kind = self.place.kind
        mine, enough = strengths_of(kind, self.place.order), strengths_of(kind, self.order)
        if self.kept:
            return "kept"
        if mine == enough:
            return "needed" if mine else "relaxed"
        return "too strong" if enough < mine else "too weak" if mine < enough else "other"


class RelaxResult(Shown, Record, repr=False):
    """`before` and `after`: the answers to every question, as the text is and as it becomes. `is_minimum`: nothing
    cheaper is enough, of all orders of the places that are not kept. `asked`: how many choices were tried.
    `prices`: under each model, of the text as it is and as it becomes. `follows`: where a compare-exchange fails, it
    had to become as strong as where it succeeds.
    """

    questions: tuple[Question, ...]
    verdict: RelaxVerdict
    before: tuple[ModelsResult, ...]
    after: tuple[ModelsResult, ...] = ()
    places: tuple[RelaxedPlace, ...] = ()
    is_minimum: bool = False
    prices: tuple[tuple[int, int], ...] = ()
    follows: bool = False
    files: tuple[PatchedFile, ...] = ()
    patched: str | None = None
    diff: str = ""
    asked: int = 0
    seconds: float = 0.0
    stop: Stop | None = None
    refused: Unfit | None = None

    @property
    def program(self) -> Program:
        return self.questions[0].program

    @property
    def is_written(self) -> bool:
        """Whether there is a text to write, which is proved."""
        return self.verdict in ("relaxed", "fixed")

    @property
    def models(self) -> tuple[str, ...]:
        return self.questions[0].models

    @property
    def is_bounded(self) -> bool:
        """Whether what is proved is proved for so many rounds of loops only."""
        answers = (answer for result in self.after for answer in result.answers)
        return any(answer.verdict == "holds_up_to" for answer in answers)


def relax(questions: Sequence[Question], *, keep: Collection[int] = (), minimise: Minimise = "cost") -> RelaxResult:
    """The cheapest orders for which every question is answered as it should be.

    The questions share their text: the first program's files are patched. `keep`: lines of its first file whose orders
    stay. What is written is proved: read again and asked about. `verdict` is `relaxed` only then.
    """
    questions = tuple(questions)
    before = tuple(question.ask() for question in questions)
    blank = RelaxResult(questions, "unknown", before)
    seconds = sum(result.seconds for result in before)
    try:
        found = _Relaxing(questions, before, keep, minimise, blank).result()
    except LimitHit as hit:
        return replace(blank, stop=hit.stop, seconds=seconds)
    except NotUnrolled as unfit:
        return replace(blank, refused=unfit.why, seconds=seconds)
    return replace(found, seconds=seconds + sum(result.seconds for result in found.after))


class _Relaxing:
    """One search; `rounds`: of loops, for each question."""

    def __init__(
        self,
        questions: Sequence[Question],
        before: tuple[ModelsResult, ...],
        keep: Collection[int],
        minimise: Minimise,
        blank: RelaxResult,
    ) -> None:
        self.questions, self.before, self.minimise, self.blank = questions, before, minimise, blank
        self.program = questions[0].program
        self.was_wrong = any(fails(answer) for result in before for answer in result.answers)
        self.macros = Macros(own_texts(self.program))
        self.shared = shared_places([one.program for one in questions], self.macros)
        self.kept = {n: why for n, one in enumerate(self.shared) if (why := self.why_kept(one.place, keep))}
        self.free = tuple(one for n, one in enumerate(self.shared) if n not in self.kept)
        self.weak = tuple(SharedPlace(replace(one.place, order=RELAXED), one.ops) for one in self.free)
        self.edits = edits_of(tuple(one.place for one in self.weak))
        self.rounds = [max((a.unrolled or 1 for a in result.answers), default=1) for result in before]

    def why_kept(self, place: OrderPlace, keep: Collection[int]) -> str:
        source = place.span.source
        if source is self.program.source and place.span.line in keep:
            return "asked for"
        if not may_be_edited(self.program, source):
            return "this file is not to be edited"
        if not can_be_written(place.span, place.order, self.macros):
            return "the text there does not say the order"
        return ""

    def result(self) -> RelaxResult:
        while True:
            least = self.least()
            if least.choice is None:
                verdict: RelaxVerdict = "violated" if self.was_wrong else "unknown"
                return replace(self.blank, verdict=verdict, asked=least.asked, places=self.places(None))
            found = self.proved(least)
            deeper = [max((a.unrolled or 0 for a in result.answers if fails(a)), default=0) for result in found.after]
            if all(more <= rounds for more, rounds in zip(deeper, self.rounds, strict=True)):
                return found
            self.rounds = [max(pair) for pair in zip(deeper, self.rounds, strict=True)]

    def least(self) -> Least:
        oracles = [self.oracle(number) for number in range(len(self.questions))]

        def violates(choice: Choice) -> bool:
            for number, oracle in enumerate(oracles):
                if oracle.violates(choice):
                    oracles.insert(0, oracles.pop(number))
                    return True
            return False

        prices, of_places = self.prices()
        return LeastSearch(self.edits, prices, of_places, violates).run()

    def oracle(self, number: int) -> OrderOracle:
        question = self.questions[number]
        places = tuple(one.in_question(number) for one in self.weak)
        program = with_orders(question.program, [(place, RELAXED) for place in places])
        properties, limits = self.before[number].properties, question.options.afresh().limits
        return OrderOracle(program, places, self.edits, question.models, properties, self.rounds[number], limits)

    def prices(self) -> tuple[list[int], list[int]]:
        levels = [[loop_levels(process) for process in one.program.processes] for one in self.questions]
        factors = [max(map(loop_factor, levels, one.ops)) for one in self.weak]
        costs = [order_costs(name) for name in dict.fromkeys(name for one in self.questions for name in one.models)]
        return prices_with(costs, factors, [one.place for one in self.weak], self.edits, self.minimise)

    def orders(self, choice: Choice) -> list[MemoryOrder]:
        return [
            new_order(one.place, frozenset(self.edits[e].strength for e in choice if self.edits[e].place == n))
            for n, one in enumerate(self.weak)
        ]

    def places(self, choice: Choice | None) -> tuple[RelaxedPlace, ...]:
        orders = iter([one.place.order for one in self.free] if choice is None else self.orders(choice))
        return tuple(
            RelaxedPlace(one.place, one.place.order if n in self.kept else next(orders), self.kept.get(n, ""))
            for n, one in enumerate(self.shared)
        )

    def proved(self, least: Least) -> RelaxResult:
        """The text with the orders, read again and asked about."""
        assert least.choice is not None
        places = self.places(least.choice)
        changed = [one for one in places if one.order is not one.place.order]
        if not changed:
            verdict: RelaxVerdict = "minimal" if not self.was_wrong and self.is_known(self.before) else "unknown"
            return replace(
                self.blank, verdict=verdict, after=self.before, places=places, is_minimum=True, asked=least.asked,
                prices=self.prices_of(self.program, self.program),
            )  # fmt: skip
        files, programs = self.written(changed, follows=False)
        after, follows = tuple(map(Question.ask, self.questions, programs)), False
        if any(fails(answer) for result in after for answer in result.answers):
            files, programs = self.written(changed, follows=True)  # where failing needs more than it had
            after, follows = tuple(map(Question.ask, self.questions, programs)), True
        failing = any(fails(answer) for result in after for answer in result.answers)
        works: RelaxVerdict = "fixed" if self.was_wrong else "relaxed"
        verdict = works if not failing and self.is_known(after) else "unknown"
        return replace(
            self.blank, verdict=verdict, after=after, places=places, is_minimum=True, asked=least.asked, files=files,
            patched=text_of(self.program, files), diff=diff_of(files), follows=follows,
            prices=self.prices_of(self.program, programs[0]),
        )  # fmt: skip

    def prices_of(self, before: Program, after: Program) -> tuple[tuple[int, int], ...]:
        """Under each model of the first question."""
        costs = [(name, order_costs(name)) for name in self.questions[0].models]
        return tuple((price_of_text(before, *one), price_of_text(after, *one)) for one in costs)

    def is_known(self, results: Sequence[ModelsResult]) -> bool:
        return not any(answer.verdict == "unknown" for result in results for answer in result.answers)

    def written(
        self, changed: Sequence[RelaxedPlace], *, follows: bool
    ) -> tuple[tuple[PatchedFile, ...], list[Program]]:
        """The files with the orders, and every question's program with them."""
        changes = [
            OtherOrder(
                one.place.span, one.place.order, one.order, one.place.kind == "fence",
                one.order.of_read if follows else None,
            )
            for one in changed
        ]  # fmt: skip
        texts = dict(texts_with(changes, self.macros))
        files = tuple(PatchedFile(source, texts[source]) for source in in_order(self.program, texts))
        by_path = {file.source.path: file for file in files}

        def of(program: Program) -> list[PatchedFile]:
            if program is self.program:
                return list(files)
            own = by_path.get(program.source.path)
            others = [one for path, one in by_path.items() if path != program.source.path]
            return [*([PatchedFile(program.source, own.text)] if own is not None else []), *others]

        return files, [reread(one.program, of(one.program)) for one in self.questions]


def with_orders(
    program: Program, changes: Sequence[tuple[OrderPlace, MemoryOrder]], *, follows: bool = False
) -> Program:
    """`program` with these orders at the places. A compare-exchange that fails keeps its order as far as that is not
    stronger than what the new one leaves, or `follows`."""
    orders = {op: order for place, order in changes for op in place.ops}
    processes = []
    for p, process in enumerate(program.processes):
        steps = (
            replace(step, ops=tuple(_with(op, orders.get((p, t, o)), follows=follows) for o, op in enumerate(step.ops)))
            for t, step in enumerate(process.transitions)
        )
        processes.append(replace(process, transitions=tuple(steps)))
    return replace(program, processes=tuple(processes))


def _with(op: Op, order: MemoryOrder | None, *, follows: bool) -> Op:
    if order is None:
        return op
    if isinstance(op, Rmw):
        failure = order.of_read if follows else weaker_of(op.failure_order, order.of_read)
        return replace(op, order=order, failure_order=failure)
    return with_order(op, order)


def with_reasons(found: RelaxResult) -> RelaxResult:
    """With what forbids each further weakening of an order: every question asked again with it, in turn."""
    if found.verdict not in ("relaxed", "minimal", "fixed"):
        return found
    places = tuple(replace(one, forbidden=tuple(_forbidding(found, one))) for one in found.places)
    return replace(found, places=places)


def _forbidding(found: RelaxResult, one: RelaxedPlace) -> list[Forbidding]:
    if one.kept:
        return []
    shared = shared_places([question.program for question in found.questions], Macros(own_texts(found.program)))
    here = next(
        place for place in shared if (place.place.span, place.place.kind, place.place.order)
        == (one.place.span, one.place.kind, one.place.order)
    )  # fmt: skip
    others = [
        (place, result.order)
        for place, result in zip(shared, found.places, strict=True)
        if place is not here and result.order is not result.place.order
    ]
    reasons = []
    for weaker in weaker_orders(replace(one.place, order=one.order)):
        failing: tuple[ModelAnswer, ...] = ()
        for number, question in enumerate(found.questions):
            orders = [(place.in_question(number), order) for place, order in [*others, (here, weaker)]]
            answers = question.ask(with_orders(question.program, orders, follows=found.follows)).answers
            failing = tuple(answer for answer in answers if fails(answer))
            if failing:
                break
        reasons.append(Forbidding(weaker, failing))
    return reasons
