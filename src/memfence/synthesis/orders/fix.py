"""`fix` for models with memory orders: the least set of stronger orders and fences that all are content with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.engines.axiomatic.solve import LimitHit
from memfence.frontends.c.orders import NewFence, StrongerOrder, names_its_order, with_more_points, with_orders
from memfence.pipeline import load_text
from memfence.program.ir import Program
from memfence.program.orders import MemoryOrder
from memfence.questions.portable import check_models
from memfence.questions.portable_result import ByDependencies, ModelAnswer, PortableResult
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.orders.candidates import new_order, with_candidate_fences
from memfence.synthesis.orders.least import Choice, Least, LeastSearch
from memfence.synthesis.orders.oracle import OrderOracle
from memfence.synthesis.orders.places import OrderEdit, OrderPlace, edits_of, find_places
from memfence.synthesis.orders.prices import prices_of
from memfence.synthesis.orders.result import OrderChange, OrderFix
from memfence.synthesis.patch import unified
from memfence.synthesis.result import FixVerdict
from memfence.tasks.answer import Verdict

CONTENT = (Verdict.HOLDS, Verdict.HOLDS_UP_TO)


def fix_orders(program: Program, names: Sequence[str], options: FixOptions, *, unrolled: int | None = None) -> OrderFix:
    """The fewest places (or the least cost) to be strengthened so that the program works under every model.

    FIXED only if the patched text, read again, works under each of them, as far as `bound` says; IMPOSSIBLE only if the
    strongest orders everywhere leave a violating execution.
    """
    options = options.started()
    before = check_models(program, names, options, unrolled=unrolled)
    blank = OrderFix(program, tuple(names), FixVerdict.UNKNOWN, options.minimise, before.answers)
    if all(answer.verdict in CONTENT for answer in before.answers):
        return _timed(replace(blank, verdict=FixVerdict.ALREADY_HOLDS, is_minimum=True), options)
    if not any(map(_asks_for_a_fix, before.answers)):
        return _timed(blank, options)
    try:
        return _timed(_Fixing(program, names, options, unrolled, blank, before).result(), options)
    except LimitHit as hit:
        return _timed(replace(blank, stop=hit.stop), options)
    except NotUnrolled as unfit:
        return _timed(replace(blank, refused=unfit.why), options)


def _asks_for_a_fix(answer: ModelAnswer) -> bool:
    return answer.verdict is Verdict.VIOLATED or isinstance(answer.evidence, ByDependencies)


def _timed(result: OrderFix, options: FixOptions) -> OrderFix:
    return replace(result, seconds=options.limits.deadline.elapsed)


class _Fixing:
    """`rounds`: how often loops are gone round in the search; more often once the proof finds more."""

    def __init__(
        self,
        program: Program,
        names: Sequence[str],
        options: FixOptions,
        unrolled: int | None,
        blank: OrderFix,
        before: PortableResult,
    ) -> None:
        self.program = program
        self.names = names
        self.options = options
        self.unrolled = unrolled
        self.blank = blank
        self.properties = before.properties
        self.rounds = max((answer.unrolled or 1 for answer in before.answers), default=1)
        self.candidates, points = with_candidate_fences(with_more_points(program))
        self.places = tuple(place for place in find_places(self.candidates, points) if _can_be_written(program, place))
        self.edits = edits_of(self.places)

    def result(self) -> OrderFix:
        while True:
            least = self.least()
            found = replace(self.blank, places=len(self.places), asked=least.asked)
            if least.choice is None:
                return replace(found, verdict=FixVerdict.IMPOSSIBLE)
            found = self.proved(replace(found, changes=self.changes(least.choice)))
            again = max((a.unrolled or 0 for a in found.answers if _asks_for_a_fix(a)), default=0)
            if again <= self.rounds:
                return self.with_sets(found, least)
            self.rounds = again

    def least(self) -> Least:
        limits = self.options.limits
        oracle = OrderOracle(self.candidates, self.places, self.edits, self.names, self.properties, self.rounds, limits)
        prices, of_places = prices_of(self.candidates, self.places, self.edits, self.names, self.options.minimise)
        return LeastSearch(self.edits, prices, of_places, oracle.violates).run(every=self.options.all)

    def proved(self, found: OrderFix) -> OrderFix:
        """The text with the changes, read again and asked about as the one before."""
        source = self.program.source
        patched = written(self.program, found.changes)
        again = load_text(SourceText(source.path, patched), self.program.options)
        after = check_models(again, self.names, self.options, unrolled=self.unrolled)
        is_fixed = all(answer.verdict in CONTENT for answer in after.answers)
        verdict = FixVerdict.FIXED if is_fixed else FixVerdict.UNKNOWN
        return replace(
            found,
            verdict=verdict,
            answers=after.answers,
            patched=patched,
            diff=unified(source, patched),
            is_minimum=True,
        )

    def changes(self, choice: Choice) -> tuple[OrderChange, ...]:
        return changes_of(self.places, self.edits, choice)

    def with_sets(self, found: OrderFix, least: Least) -> OrderFix:
        if not self.options.all:
            return found
        return replace(found, sets=tuple(map(self.changes, least.sets)), are_all=least.are_all)


def changes_of(places: Sequence[OrderPlace], edits: Sequence[OrderEdit], choice: Choice) -> tuple[OrderChange, ...]:
    """The orders that a choice of edits gives."""
    added = {n: frozenset(edits[e].strength for e in choice if edits[e].place == n) for n in range(len(places))}
    return tuple(OrderChange(places[n], new_order(places[n], more)) for n, more in added.items() if more)


def written(program: Program, changes: Sequence[OrderChange]) -> str:
    """The text with the changes."""
    edits: list[tuple[MemoryOrder, StrongerOrder] | NewFence] = []
    for change in changes:
        if change.place.point is not None:
            edits.append(NewFence(change.place.point, change.order))
        else:
            edits.append((change.place.order, StrongerOrder(change.place.span, change.order)))
    return with_orders(program.source, edits)


def _can_be_written(program: Program, place: OrderPlace) -> bool:
    """Whether the text of the program itself says the order: neither a header nor a macro does."""
    if place.span.source is not program.source:
        return False
    return place.point is not None or names_its_order(program.source, place.span, place.order)
