"""`fix` for models with memory orders: the least set of stronger orders and fences that all are content with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.axiomatic.unrolling.refusal import NotUnrolled
from memfence.diagnostics import InputError
from memfence.engines.axiomatic.solve import LimitHit
from memfence.frontends.c.editable import may_be_edited
from memfence.frontends.c.macros import NO_MACROS, Macros, own_texts
from memfence.frontends.c.orders import (
    NewFence,
    StrongerOrder,
    names_its_order,
    place_of_order,
    texts_with_orders,
    with_more_points,
)
from memfence.frontends.endings import is_cpp as is_cpp_path
from memfence.program.ir import Program
from memfence.program.orders import MemoryOrder
from memfence.questions.models import check_models
from memfence.synthesis.options import FixOptions
from memfence.synthesis.orders.candidates import new_order, with_candidate_fences
from memfence.synthesis.orders.everything import StillFails, variables_to_make_atomic
from memfence.synthesis.orders.least import Choice, Least, LeastSearch
from memfence.synthesis.orders.oracle import OrderOracle
from memfence.synthesis.orders.places import OrderEdit, OrderPlace, edits_of, find_places
from memfence.synthesis.orders.prices import prices_of
from memfence.synthesis.orders.result import OrderChange, OrderFix
from memfence.synthesis.orders.robust_oracle import RobustOracle
from memfence.synthesis.patch import PatchedFile, diff_of, in_order, reread, text_of
from memfence.synthesis.result import FixVerdict
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import ByDependencies, SeesThePast
from memfence.tasks.result import ModelAnswer, ModelsResult

CONTENT = (Verdict.HOLDS, Verdict.HOLDS_UP_TO)


def fix_orders(program: Program, names: Sequence[str], options: FixOptions, *, unrolled: int | None = None) -> OrderFix:
    """The fewest places (or the least cost) to be strengthened so that the program works under every model.

    FIXED only if the patched text, read again, works under each of them, as far as `bound` says; IMPOSSIBLE only if the
    program fails with the strongest orders and fences everywhere, also where they cannot be written, and with every
    racing variable made atomic. Where robustness is asked for, neither is claimed: nor that a set is the least.
    """
    options = options.started()
    before = check_models(program, names, options, unrolled=unrolled)
    blank = OrderFix(program, tuple(names), FixVerdict.UNKNOWN, options.minimise, before.answers)
    if all(answer.verdict in CONTENT for answer in before.answers):
        return _timed(replace(blank, verdict=FixVerdict.ALREADY_HOLDS, is_minimum=True), options)
    if not any(map(_asks_for_a_fix, before.answers)):
        return _timed(blank, options)
    refused: list[OrderPlace] = []
    try:
        while True:
            try:
                fixing = _Fixing(program, names, options, unrolled, blank, before, refused)
                return _timed(fixing.result(), options)
            except _DoesNotCompile as broken:
                refused += broken.places
    except LimitHit as hit:
        return _timed(replace(blank, stop=hit.stop), options)
    except NotUnrolled as unfit:
        return _timed(replace(blank, refused=unfit.why), options)


class _DoesNotCompile(Exception):
    """The compiler refuses the text with the changes at these places, however fences are spelled."""

    def __init__(self, places: Sequence[OrderPlace]) -> None:
        super().__init__(f"{len(places)} changes do not compile")
        self.places = tuple(places)


def _asks_for_a_fix(answer: ModelAnswer) -> bool:
    return answer.verdict is Verdict.VIOLATED or isinstance(answer.evidence, ByDependencies | SeesThePast)


def _timed(result: OrderFix, options: FixOptions) -> OrderFix:
    return replace(result, seconds=options.limits.deadline.elapsed)


class _Fixing:
    """`rounds`: how often loops are unrolled in the search; more often once the proof finds more."""

    def __init__(
        self,
        program: Program,
        names: Sequence[str],
        options: FixOptions,
        unrolled: int | None,
        blank: OrderFix,
        before: ModelsResult,
        refused: Sequence[OrderPlace],
    ) -> None:
        self.program = program
        self.names = names
        self.options = options
        self.unrolled = unrolled
        self.blank = blank
        self.properties = before.properties
        self.is_about_robustness = before.criterion is Criterion.ROBUST
        self.rounds = max((answer.unrolled or 1 for answer in before.answers), default=1)
        self.refused = refused
        self.macros = Macros(own_texts(program))
        self.candidates, points = with_candidate_fences(with_more_points(program))
        self.all_places = _tied(find_places(self.candidates, points), self.macros)
        known = {(place.span, place.kind) for place in refused}
        possible = (place for place in self.all_places if (place.span, place.kind) not in known)
        self.places = tuple(place for place in possible if self.can_be_written(place))
        self.edits = edits_of(self.places)

    def result(self) -> OrderFix:
        while True:
            least = self.least()
            found = replace(self.blank, places=len(self.places), asked=least.asked)
            if least.choice is None:
                return self.not_here(found)
            found = self.proved(replace(found, changes=self.changes(least.choice)))
            again = max((a.unrolled or 0 for a in found.answers if _asks_for_a_fix(a)), default=0)
            if again <= self.rounds:
                return self.with_sets(found, least)
            self.rounds = again

    def not_here(self, found: OrderFix) -> OrderFix:
        """Where no change that can be written helps: what else would, if anything does."""
        found = replace(found, broken=tuple(dict.fromkeys(place.span for place in self.refused)))
        self.places, self.edits = self.all_places, edits_of(self.all_places)
        least = self.least() if len(self.places) > len(self.refused) else None
        if least is not None and least.choice is not None:
            changes = self.changes(least.choice)
            return replace(found, elsewhere=tuple(c for c in changes if not self.can_be_written(c.place)))
        if self.is_about_robustness:
            return found
        try:
            racing = variables_to_make_atomic(self.program, self.names, self.options, self.unrolled)
        except StillFails:
            return replace(found, verdict=FixVerdict.IMPOSSIBLE)
        return replace(found, racing=racing)

    def can_be_written(self, place: OrderPlace) -> bool:
        """Whether a text of the program's author says the order, and the edit changes no other access."""
        source = place.span.source
        if not may_be_edited(self.program, source):
            return False
        return place.point is not None or names_its_order(source, place.span, place.order, self.macros)

    def least(self) -> Least:
        oracle = self.oracle()
        prices, of_places = prices_of(self.candidates, self.places, self.edits, self.names, self.options.minimise)
        return LeastSearch(self.edits, prices, of_places, oracle.violates).run(every=self.options.all)

    def oracle(self) -> OrderOracle | RobustOracle:
        limits, asked = self.options.limits, (self.candidates, self.places, self.edits, self.names)
        if self.is_about_robustness:
            return RobustOracle(*asked, limits)
        return OrderOracle(*asked, self.properties, self.rounds, limits)

    def proved(self, found: OrderFix) -> OrderFix:
        """The text with the changes, read again and asked about as the one before; _DoesNotCompile."""
        files, again = self.written(found.changes)
        after = check_models(again, self.names, self.options, unrolled=self.unrolled)
        is_fixed = all(answer.verdict in CONTENT for answer in after.answers)
        verdict = FixVerdict.FIXED if is_fixed else FixVerdict.UNKNOWN
        return replace(
            found,
            verdict=verdict,
            answers=after.answers,
            files=files,
            patched=text_of(self.program, files),
            diff=diff_of(files),
            is_minimum=not self.is_about_robustness,
        )

    def written(self, changes: Sequence[OrderChange]) -> tuple[tuple[PatchedFile, ...], Program]:
        """The files with the changes, and the program that they are."""
        for needs_header in (True, False):
            files = written(self.program, changes, self.macros, needs_header=needs_header)
            try:
                return files, reread(self.program, files)
            except InputError:
                pass
        alone = [change.place for change in changes if len(changes) > 1 and not self.compiles(change)]
        raise _DoesNotCompile(alone or [change.place for change in changes])

    def compiles(self, change: OrderChange) -> bool:
        try:
            self.written([change])
        except _DoesNotCompile:
            return False
        return True

    def changes(self, choice: Choice) -> tuple[OrderChange, ...]:
        return changes_of(self.places, self.edits, choice)

    def with_sets(self, found: OrderFix, least: Least) -> OrderFix:
        if not self.options.all:
            return found
        return replace(found, sets=tuple(map(self.changes, least.sets)), are_all=least.are_all and found.is_minimum)


def changes_of(places: Sequence[OrderPlace], edits: Sequence[OrderEdit], choice: Choice) -> tuple[OrderChange, ...]:
    """The orders that a choice of edits gives."""
    added = {n: frozenset(edits[e].strength for e in choice if edits[e].place == n) for n in range(len(places))}
    return tuple(OrderChange(places[n], new_order(places[n], more)) for n, more in added.items() if more)


def written(
    program: Program, changes: Sequence[OrderChange], macros: Macros = NO_MACROS, *, needs_header: bool = True
) -> tuple[PatchedFile, ...]:
    """The files with the changes."""
    edits: list[tuple[MemoryOrder, StrongerOrder] | NewFence] = []
    for change in changes:
        if change.place.point is not None:
            edits.append(NewFence(change.place.point, change.order))
        else:
            edits.append((change.place.order, StrongerOrder(change.place.span, change.order)))
    is_cpp = is_cpp_path(program.source.path)
    changed = dict(texts_with_orders(edits, macros, is_cpp, needs_header=needs_header))
    return tuple(PatchedFile(source, changed[source]) for source in in_order(program, changed))


def _tied(places: Sequence[OrderPlace], macros: Macros) -> tuple[OrderPlace, ...]:
    """The places; those whose order is written in the same macro are one."""
    found: dict[object, OrderPlace] = {}
    for place in places:
        at = None if place.point is not None else place_of_order(place.span.source, place.span, macros)
        key = (at, place.kind, place.order) if at is not None else place
        known = found.get(key)
        found[key] = place if known is None else replace(known, ops=known.ops | place.ops)
    return tuple(found.values())
