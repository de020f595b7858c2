"""One search for edits of given kinds under one memory model: exploring, learning, choosing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from memfence.engines.attacks import why_incomplete
from memfence.execution.trace import Trace
from memfence.frontends.frontend import EditKind
from memfence.models.spec import SC
from memfence.passes.orders import for_hardware
from memfence.program.ir import Program
from memfence.questions import check
from memfence.records import Record
from memfence.synthesis.attacks import clauses_of, explore_all_attacks
from memfence.synthesis.clauses import Clause
from memfence.synthesis.evidence import DataRace, EveryAttackMet, FailsUnderSc, FixEvidence, NoPlace, SearchDidNotEnd
from memfence.synthesis.hitting_loop import Found, Search, prices_of
from memfence.synthesis.options import FixOptions
from memfence.synthesis.oracles import Answer, CheckOracle, Choice, ClauseOracle, Oracle, closure
from memfence.synthesis.result import FixVerdict, LowerBound
from memfence.synthesis.sites import FenceEdit, find_edits
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Stop
from memfence.tasks.result import CheckResult

LARGE = 200_000
"""SC states beyond which clauses are taken as they come: making one smaller takes a search for each of its edits."""


class Attempt(Record):
    """What was found. `chosen` pairs each edit with a clause that only it meets; `trace`: a run that no edit stops.

    `checked`: the check that names the property, for safety. `stop`: the limit that was hit. `bound`: why a minimum is
    one.
    """

    verdict: FixVerdict
    evidence: FixEvidence
    chosen: tuple[tuple[FenceEdit, Clause | None], ...] = ()
    is_minimum: bool = False
    sets: tuple[tuple[FenceEdit, ...], ...] = ()
    are_all: bool = False
    trace: Trace | None = None
    stop: Stop = Stop.NOTHING_LEFT
    checked: CheckResult | None = None
    sites: int = 0
    clauses: int = 0
    checks: int = 0
    states: int = 0
    bound: LowerBound | None = None

    @property
    def edits(self) -> tuple[FenceEdit, ...]:
        return tuple(edit for edit, _ in self.chosen)

    @property
    def fails_under_sc(self) -> bool:
        return isinstance(self.evidence, FailsUnderSc)


def attempt(program: Program, criterion: Criterion, options: FixOptions, kinds: Iterable[EditKind]) -> Attempt:
    """Look for a choice of edits of these kinds that makes `program` meet the criterion."""
    allowed = _useful(kinds, options)
    edits = find_edits(for_hardware(program, options.spec), allowed, options.costs)
    is_attacked = criterion in (Criterion.PERSISTENT, Criterion.ROBUST) and options.spec.has_buffers
    if is_attacked and "locked" not in allowed and not program.any_number:
        return _from_attacks(program, criterion, options, edits)
    return _from_checks(program, criterion, options, edits)


def _useful(kinds: Iterable[EditKind], options: FixOptions) -> tuple[EditKind, ...]:
    """Without sfences where they do nothing or cost no less than mfences."""
    wanted = tuple(dict.fromkeys(kinds))
    dear = "mfence" in wanted and options.costs["sfence"] >= options.costs["mfence"]
    return tuple(kind for kind in wanted if kind != "sfence" or (options.spec.reorders_stores and not dear))


def _from_attacks(program: Program, criterion: Criterion, options: FixOptions, edits: tuple[FenceEdit, ...]) -> Attempt:
    found = explore_all_attacks(program, criterion, options)
    if not found.complete:
        return Attempt(
            FixVerdict.UNKNOWN, why_incomplete(found.last), stop=found.last.stop, sites=len(edits), checks=1,
            states=found.states,
        )  # fmt: skip
    oracle = ClauseOracle(edits, clauses_of(found, edits), found.states)
    return _search(oracle, options, shrinks=False, evidence=EveryAttackMet())


def _from_checks(program: Program, criterion: Criterion, options: FixOptions, edits: tuple[FenceEdit, ...]) -> Attempt:
    under_sc: CheckResult | None = None
    if criterion is Criterion.SAFETY:
        under_sc = check(program, replace(options, model=SC.name, buffer_bound=None, criterion=criterion))
        if under_sc.verdict is Verdict.VIOLATED:
            return _without_search(FixVerdict.IMPOSSIBLE, under_sc, FailsUnderSc())
        if under_sc.verdict is not Verdict.HOLDS:
            return _without_search(FixVerdict.UNKNOWN, under_sc, under_sc.evidence)
    if criterion is Criterion.DRF:
        return _races(program, options)
    oracle = CheckOracle(program, criterion, options, edits)
    states = 0 if under_sc is None else under_sc.stats.states
    return replace(_search(oracle, options, shrinks=states <= LARGE, evidence=None), checked=under_sc)


def _races(program: Program, options: FixOptions) -> Attempt:
    result = check(program, replace(options, criterion=Criterion.DRF))
    match result.verdict:
        case Verdict.HOLDS:
            return replace(_without_search(FixVerdict.ALREADY_HOLDS, result, result.evidence), is_minimum=True)
        case Verdict.VIOLATED:
            return _without_search(FixVerdict.IMPOSSIBLE, result, DataRace())
        case _:
            return _without_search(FixVerdict.UNKNOWN, result, result.evidence)


def _without_search(verdict: FixVerdict, result: CheckResult, evidence: FixEvidence) -> Attempt:
    return Attempt(
        verdict, evidence, trace=result.trace, stop=result.answer.stop, checked=result, checks=1,
        states=result.stats.states,
    )  # fmt: skip


def _search(oracle: Oracle, options: FixOptions, *, shrinks: bool, evidence: FixEvidence | None) -> Attempt:
    search = Search(oracle, prices_of(oracle.edits, options.minimise), shrinks)
    found = _found(search, options)
    last = None if found.answer is None or found.answer.result is None else found.answer.result.evidence
    common = Attempt(
        FixVerdict.UNKNOWN, evidence or last or SearchDidNotEnd(),
        sites=len({edit.point for edit in oracle.edits}), clauses=len(search.clauses), checks=oracle.checks,
        states=oracle.states,
    )  # fmt: skip
    if found.choice is None:
        assert found.refuted_by is not None
        return replace(common, verdict=FixVerdict.IMPOSSIBLE, evidence=NoPlace(), trace=found.refuted_by.witness())
    chosen = tuple((oracle.edits[n], _only_met_by(search, found, n)) for n in sorted(found.choice))
    if not found.holds:
        return replace(common, chosen=chosen, stop=Stop.NOTHING_LEFT if found.answer is None else found.answer.stop)
    return replace(
        common,
        verdict=FixVerdict.FIXED if found.choice else FixVerdict.ALREADY_HOLDS,
        chosen=chosen,
        is_minimum=found.is_minimum,
        sets=tuple(tuple(oracle.edits[n] for n in sorted(choice)) for choice in found.sets),
        are_all=found.are_all,
        bound=_bound(search, found.choice) if found.is_minimum else None,
    )


def _bound(search: Search, choice: Choice) -> LowerBound:
    return LowerBound(tuple(search.oracle.edits), tuple(sorted(choice)), tuple(search.clauses))


def _found(search: Search, options: FixOptions) -> Found:
    """What the search gives; where Ctrl-C comes between its questions, nothing but that."""
    try:
        if options.minimise == "first":
            return search.first()
        return search.every_minimal() if options.all else search.minimum()
    except KeyboardInterrupt:
        return Found(frozenset(), answer=Answer(Verdict.UNKNOWN, stop=Stop.CANCELLED))


def _only_met_by(search: Search, found: Found, edit: int) -> Clause | None:
    """A clause that the choice without this edit would miss."""
    assert found.choice is not None
    others = closure(search.oracle.edits, found.choice - {edit})
    return next(_missing(search.clauses, others), None)


def _missing(clauses: Iterable[Clause], made: frozenset[int]) -> Iterator[Clause]:
    return (clause for clause in clauses if made.isdisjoint(clause.edits))
