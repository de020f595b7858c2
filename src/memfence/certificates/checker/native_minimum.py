"""The fast checker of minimum sets of fences, written in C++: the same conditions as in `minimum` and `sc_trace`.

It takes the steps of runs by its own rules, in a program that it fences itself. What a program must be for the theorem
to apply is looked at in Python, by the checkers that are here for reading.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import assert_never

from memfence import _core
from memfence.certificates.checker.criteria import require_shared_memory, require_single_stores
from memfence.certificates.checker.native import BUFFERS, NotForTheFastChecker
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.sc_trace import require_one_start
from memfence.certificates.format.minimum import KINDS, Clause, Site
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, Step
from memfence.program.text.canonical import canonical_text, expression_text

_CRITERIA = {"safety": 0, "persistent": 1, "robust": 2, "state-robust": 3, "trf": 4}
_NO_CRITERION = 5
_MOST = 1 << 31
_MOST_STARTS = 1 << 64
_MOST_MONEY = 1 << 62
_FAULTS = {
    1: (Condition.KIND, "the program has not the fences of the chosen sites"),
    2: (Condition.WITNESS, "there is no such initial state"),
    4: (Condition.WITNESS, "the run of a clause is not bad"),
    5: (Condition.WITNESS, "the run of a clause ends with pending stores"),
    6: (Condition.WITNESS, "the run of a clause is too long to be compared with SC"),
    7: (Condition.WITNESS, "processes stand before too many fences at the end of a run"),
}
_STEP = 3
_Listed = tuple[int, int, int, int, int]


class NativeMinimum:
    """The sites of a section, whose clauses are checked one by one."""

    def __init__(self, question: Question, criterion: str, sites: Sequence[Site], *, most_bytes: int) -> None:
        self._question, self._criterion, self._sites = question, criterion, sites
        listed = [(KINDS.index(site.kind), list(site.places), site.is_chosen) for site in sites]
        try:
            self._native = _core.MinimumChecker(
                canonical_text(question.program),
                BUFFERS[question.model.buffering],
                question.model.bound or 0,
                question.model.per_variable,
                listed,
                _CRITERIA.get(criterion, _NO_CRITERION),
                "" if question.bad is None else expression_text(question.bad),
                question.deadlock,
                [(expression_text(final.expr), final.quantifier == "forall") for final in question.finals],
                most_bytes,
            )
        except (RuntimeError, TypeError) as problem:
            raise NotForTheFastChecker(str(problem)) from None

    def check_clause(self, clause: Clause) -> int:
        """The run of the clause is bad with fences at all sites but its own: how many steps it has."""
        if self._criterion == "trf":
            require_single_stores(self._question.program)
        if self._criterion in ("persistent", "robust"):
            require_shared_memory(self._question.program, regions=True)
            require_one_start(self._question, by_values=self._criterion == "persistent")
        if clause.start >= _MOST_STARTS:
            raise NotForTheFastChecker("there are more than 2^64 initial states")
        try:
            fault, step = self._native.check(sorted(clause.sites), clause.start, [_listed(s) for s in clause.steps])
        except RuntimeError as problem:
            raise NotForTheFastChecker(str(problem)) from None
        if fault == _STEP:
            raise Refused(Condition.WITNESS, f"step {step} of a clause is not possible")
        if fault:
            raise Refused(*_FAULTS[fault])
        return len(clause.steps)

    def check_bound(self, clauses: Collection[Clause], *, by_price: bool) -> None:
        """No choice that meets all clauses costs less than the chosen one."""
        prices = [int(site.price) if by_price else 1 for site in self._sites]
        if sum(prices) >= _MOST_MONEY:
            raise NotForTheFastChecker("prices have more than 62 bits")
        chosen = sum(price for site, price in zip(self._sites, prices, strict=True) if site.is_chosen)
        match _core.check_fence_bound([sorted(clause.sites) for clause in clauses], prices, chosen - 1):
            case 1:
                raise Refused(Condition.MINIMUM)
            case 2:
                raise Refused(Condition.MINIMUM, "there are too many choices to be sure")


def _listed(step: Step) -> _Listed:
    """The step as the core reads it; numbers that it could not read are those of nobody."""
    match step:
        case ProcessStep(p, m):
            return 0, _small(p), _small(m), 0, 0
        case Rendezvous(ProcessStep(p, m), ProcessStep(q, n)):
            return 1, _small(p), _small(m), _small(q), _small(n)
        case Commit(p, buffer):
            return 2, _small(p), _small(buffer), 0, 0
        case DropSeparator(p):
            return 3, _small(p), 0, 0, 0
        case _:
            assert_never(step)


def _small(number: int) -> int:
    return int(number) if 0 <= number < _MOST else -1
