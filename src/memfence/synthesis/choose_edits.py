"""One search for edits of given kinds under one memory model: exploring, learning, choosing."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from memfence.execution.trace import Trace
from memfence.frontends import EditKind
from memfence.models.spec import SPECS
from memfence.passes.orders import for_hardware
from memfence.program.ir import Program
from memfence.questions import check
from memfence.questions.criteria import PROPERTIES
from memfence.questions.safety import limits_of
from memfence.synthesis.attacks import clauses_of, explore_all_attacks
from memfence.synthesis.clauses import Clause
from memfence.synthesis.hitting_loop import Found, Search, prices_of
from memfence.synthesis.options import FixOptions, with_time_left
from memfence.synthesis.oracles import CheckOracle, ClauseOracle, Oracle, closure
from memfence.synthesis.result import FixVerdict
from memfence.synthesis.sites import FenceEdit, find_edits
from memfence.tasks.limits import Stop
from memfence.tasks.options import Criterion
from memfence.tasks.result import CheckResult, Verdict

LARGE = 200_000
"""SC states beyond which clauses are taken as they come: making one smaller takes a search for each of its edits."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What was found about the property `stated`. `chosen` pairs each edit with a clause that only it meets; `trace`:
    a run that no edit stops.
    """

    verdict: FixVerdict
    stated: str
    scope: str
    chosen: tuple[tuple[FenceEdit, Clause | None], ...] = ()
    is_minimum: bool = False
    sets: tuple[tuple[FenceEdit, ...], ...] = ()
    are_all: bool = False
    trace: Trace | None = None
    limit: str | None = None
    advice: str | None = None
    sites: int = 0
    clauses: int = 0
    checks: int = 0
    states: int = 0

    @property
    def edits(self) -> tuple[FenceEdit, ...]:
        return tuple(edit for edit, _ in self.chosen)


def attempt(program: Program, criterion: Criterion, options: FixOptions, kinds: Iterable[EditKind]) -> Attempt:
    """Look for a choice of edits of these kinds that makes `program` meet the criterion."""
    allowed = _useful(kinds, options)
    edits = find_edits(for_hardware(program, SPECS[options.model]), allowed, options.costs)
    if criterion in ("persistent", "robust") and "locked" not in allowed and options.model != "sc":
        return _from_attacks(program, criterion, options, edits)
    return _from_checks(program, criterion, options, edits)


def _useful(kinds: Iterable[EditKind], options: FixOptions) -> tuple[EditKind, ...]:
    """Without sfences where they do nothing or cost no less than mfences."""
    wanted = tuple(dict.fromkeys(kinds))
    dear = "mfence" in wanted and options.costs["sfence"] >= options.costs["mfence"]
    return tuple(kind for kind in wanted if kind != "sfence" or (options.model == "pso" and not dear))


def _from_attacks(program: Program, criterion: Criterion, options: FixOptions, edits: tuple[FenceEdit, ...]) -> Attempt:
    decided = explore_all_attacks(program, criterion, options)
    if not decided.complete:
        limits = limits_of(options)
        limit = None if decided.stop is Stop.NOTHING_LEFT else limits.describe(decided.stop)
        more = "try a longer --timeout or a larger --memory"
        advice = more if decided.stop not in (Stop.CANCELLED, Stop.NOTHING_LEFT) else None
        return Attempt(
            FixVerdict.UNKNOWN, PROPERTIES[criterion], decided.incompleteness, limit=limit, advice=advice,
            sites=len(edits), checks=1, states=decided.cost.states,
        )  # fmt: skip
    clauses = clauses_of(decided, criterion, options, edits)
    oracle = ClauseOracle(edits, clauses, decided.cost.states)
    scope = "unbounded buffers and loops: complete (every attack from every SC-reachable state is met)"
    return _search(oracle, options, shrinks=False, stated=PROPERTIES[criterion], scope=scope)


def _from_checks(program: Program, criterion: Criterion, options: FixOptions, edits: tuple[FenceEdit, ...]) -> Attempt:
    start = time.monotonic()
    under_sc: CheckResult | None = None
    if criterion == "safety":
        under_sc = check(program, replace(options, model="sc", buffer_bound=None, criterion=criterion))
        if under_sc.verdict is Verdict.VIOLATED:
            scope = "violated under sc already: the memory model is not the reason, and no fence helps"
            return _without_search(FixVerdict.IMPOSSIBLE, under_sc, scope)
        if under_sc.verdict is not Verdict.HOLDS:
            return _without_search(FixVerdict.UNKNOWN, under_sc, under_sc.scope)
    if criterion == "drf":
        return _races(program, options)
    oracle = CheckOracle(program, criterion, with_time_left(options, start), edits)
    states = 0 if under_sc is None else under_sc.stats.states
    stated = PROPERTIES[criterion] if under_sc is None else under_sc.property
    return _search(oracle, options, shrinks=states <= LARGE, stated=stated, scope="")


def _races(program: Program, options: FixOptions) -> Attempt:
    result = check(program, replace(options, criterion="drf"))
    match result.verdict:
        case Verdict.HOLDS:
            return replace(_without_search(FixVerdict.ALREADY_HOLDS, result, result.scope), is_minimum=True)
        case Verdict.VIOLATED:
            scope = "a fence does not order accesses of two processes: no fence removes a data race"
            found = _without_search(FixVerdict.IMPOSSIBLE, result, scope)
            return replace(found, advice="make the racing accesses locked, or protect them with a lock")
        case _:
            return _without_search(FixVerdict.UNKNOWN, result, result.scope)


def _without_search(verdict: FixVerdict, result: CheckResult, scope: str) -> Attempt:
    return Attempt(
        verdict, result.property, scope, trace=result.trace, limit=result.limit, advice=result.advice,
        checks=1, states=result.stats.states,
    )  # fmt: skip


def _search(oracle: Oracle, options: FixOptions, *, shrinks: bool, stated: str, scope: str) -> Attempt:
    search = Search(oracle, prices_of(oracle.edits, options.minimise), shrinks)
    if options.minimise == "first":
        found = search.first()
    else:
        found = search.every_minimal() if options.all else search.minimum()
    result = None if found.answer is None else found.answer.result
    common = Attempt(
        FixVerdict.UNKNOWN, stated, scope or ("" if result is None else result.scope),
        sites=len({edit.point for edit in oracle.edits}), clauses=len(search.clauses), checks=oracle.checks,
        states=oracle.states,
    )  # fmt: skip
    if found.choice is None:
        assert found.refuted_by is not None
        scope = "no place of the text for a fence that would stop the run below"
        return replace(common, verdict=FixVerdict.IMPOSSIBLE, scope=scope, trace=found.refuted_by.witness())
    chosen = tuple((oracle.edits[n], _only_met_by(search, found, n)) for n in sorted(found.choice))
    if not found.holds:
        limit = None if found.answer is None else found.answer.limit
        advice = "try a longer --timeout" if result is None else result.advice
        scope = common.scope or "incomplete: the search for fences did not end"
        return replace(common, chosen=chosen, scope=scope, limit=limit, advice=advice)
    return replace(
        common,
        verdict=FixVerdict.FIXED if found.choice else FixVerdict.ALREADY_HOLDS,
        chosen=chosen,
        is_minimum=found.is_minimum,
        sets=tuple(tuple(oracle.edits[n] for n in sorted(choice)) for choice in found.sets),
        are_all=found.are_all,
    )


def _only_met_by(search: Search, found: Found, edit: int) -> Clause | None:
    """A clause that the choice without this edit would miss."""
    assert found.choice is not None
    others = closure(search.oracle.edits, found.choice - {edit})
    return next(_missing(search.clauses, others), None)


def _missing(clauses: Iterable[Clause], made: frozenset[int]) -> Iterator[Clause]:
    return (clause for clause in clauses if made.isdisjoint(clause.edits))
