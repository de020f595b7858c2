"""Minimum sets of fences: the clauses that synthesis learnt, as many as the bound needs, and their runs.

The certificate is about the text with its fences. So runs of the text without them are told in its steps, and in
between the fences of all sites outside the clause are taken: the run does not need them, which is why it is one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from memfence.certificates.checker.minimum import Variant, cheap_choice, check_clause, require_only_waiting, variant
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Refused
from memfence.certificates.format.minimum import Clause, Site, clause_as_object, site_as_list
from memfence.certificates.format.sections import OBJECT, SECTION
from memfence.certificates.writer.chunks import Chunks, NoCertificate
from memfence.execution.trace import Trace
from memfence.models.spec import SC
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, State, Step
from memfence.models.steps import MemoryModel, starts, take
from memfence.passes.orders import for_hardware
from memfence.program.ir import Program
from memfence.program.isomorphism import twin_steps
from memfence.records import Record
from memfence.synthesis.apply_edits import points_of_new_steps, with_edits
from memfence.synthesis.clauses import Clause as Learnt
from memfence.synthesis.clauses import without_edits
from memfence.synthesis.result import FixResult, LowerBound

CERTIFIED = ("safety", "persistent", "robust", "state-robust", "trf")


def minimum_chunks(question: Question, program: Program, fixed: FixResult) -> Chunks:
    """A section that proves the fences of `program`, which `fixed` has written, to be a minimum; else NoCertificate."""
    bound = fixed.bound
    if bound is None or program.language == "dve" or program.any_number or fixed.criterion.value not in CERTIFIED:
        raise NoCertificate("there are no certificates for such a minimum")
    twins = _twins(question, program, fixed)
    sites = _sites(fixed, bound, twins)
    prices = [site.price if fixed.minimise == "cost" else 1 for site in sites]
    written = _Runs(question, fixed, sites, twins)
    try:
        require_only_waiting(question, fixed.criterion.value, sites)
        clauses = [written.clause(learnt, edits) for learnt, edits in _needed(bound, prices)]
    except Refused as refused:
        raise NoCertificate(f"a clause cannot be shown: {refused.detail or refused.condition.value}") from None
    yield SECTION, json.dumps({"kind": "minimum"}).encode()
    yield OBJECT, json.dumps({"sites": [site_as_list(site) for site in sites]}).encode()
    yield from ((OBJECT, json.dumps(clause_as_object(clause)).encode()) for clause in clauses)


def _twins(question: Question, program: Program, fixed: FixResult) -> list[dict[int, int]]:
    """For each step of the program that synthesis worked on, with its edits, that of the patched text."""
    assert fixed.bound is not None
    edited = with_edits(fixed.program, (fixed.bound.edits[number] for number in fixed.bound.chosen))
    edited = _with_names_of(edited, program)
    found = twin_steps(*(for_hardware(one, question.model) for one in (edited, program)))
    if found is None:
        raise NoCertificate("the text with the fences is not, step by step, the program that was fixed")
    return found


def _with_names_of(edited: Program, program: Program) -> Program:
    """`edited`, where what the front end keeps account of is called as in `program`: such names tell lines."""
    if len(edited.variables) != len(program.variables):
        return edited
    pairs = zip(edited.variables, program.variables, strict=True)
    kept = (replace(a, name=b.name) if a.is_bookkeeping and b.is_bookkeeping else a for a, b in pairs)
    return replace(edited, variables=tuple(kept))


def _sites(fixed: FixResult, bound: LowerBound, twins: Sequence[Mapping[int, int]]) -> list[Site]:
    chosen = [(bound.edits[number].point, bound.edits[number].kind) for number in bound.chosen]
    added = points_of_new_steps(fixed.program, chosen)
    sites = []
    for edit in bound.edits:
        is_chosen = edit.number in bound.chosen
        places = edit.effect
        if is_chosen and edit.kind != "locked":
            places = frozenset(
                (p, len(process.transitions) + n)
                for p, process in enumerate(fixed.program.processes)
                for n, point in enumerate(added[p])
                if point == edit.point
            )
        known = sorted((p, twins[p][t]) for p, t in places if t in twins[p])
        sites.append(Site(edit.kind, tuple(known), edit.cost, is_chosen))
    return sites


def _needed(bound: LowerBound, prices: Sequence[int]) -> list[tuple[Learnt, frozenset[int]]]:
    """Clauses, with all edits that meet them, none too many: no choice that is cheaper meets them all."""
    money = sum(prices[number] for number in bound.chosen) - 1
    stronger = {edit.weaker: edit.number for edit in bound.edits if edit.weaker is not None}
    learnt = [(one, frozenset(one.edits) | {stronger[n] for n in one.edits if n in stronger}) for one in bound.clauses]
    taken: list[tuple[Learnt, frozenset[int]]] = []
    while (choice := _cheap_choice(taken, prices, money)) is not None:
        missed = next((pair for pair in learnt if choice.isdisjoint(pair[1])), None)
        if missed is None:
            raise NoCertificate("the clauses that were kept do not show it")
        taken.append(missed)
    for pair in taken[:-1]:
        others = [one for one in taken if one is not pair]
        if _cheap_choice(others, prices, money) is None:
            taken = others
    return taken


def _cheap_choice(
    clauses: Sequence[tuple[Learnt, frozenset[int]]], prices: Sequence[int], money: int
) -> AbstractSet[int] | None:
    return cheap_choice([edits for _, edits in clauses], prices, money)


class _Runs(Record):
    question: Question
    fixed: FixResult
    sites: Sequence[Site]
    twins: Sequence[Mapping[int, int]]

    def clause(self, learnt: Learnt, edits: frozenset[int]) -> Clause:
        """The clause with its run, as the checker accepts it."""
        trace = learnt.witness()
        if trace is None:
            raise NoCertificate("a clause has no run")
        criterion, model = self.fixed.criterion.value, self.question.model.definition
        if criterion == "trf":  # races are those of SC, in programs that have some of the fences
            trace, model = without_edits(trace, self.fixed.program), SC.definition
        fenced = variant(self.question.program, self.sites, set(range(len(self.sites))) - edits)
        first = starts(fenced.program, model)
        start = next((n for n, one in enumerate(first) if _is_same_start(one, trace.start)), None)
        if start is None:
            raise NoCertificate("the run of a clause starts elsewhere")
        telling = _Telling(fenced, model, first[start])
        telling.tell(trace, self.twins, drains=criterion != "safety")
        clause = Clause(edits, start, tuple(telling.steps))
        check_clause(self.question, criterion, self.sites, clause)
        return clause


def _is_same_start(one: State, other: State) -> bool:
    return (one.memory, one.registers) == (other.memory, other.registers)


class _Telling:
    """A run that grows: what another one does, and the fences that come in between."""

    def __init__(self, fenced: Variant, model: MemoryModel, start: State) -> None:
        self.fenced, self.model, self.state = fenced, model, start
        self.steps: list[Step] = []
        self.has_failed = False

    def tell(self, trace: Trace, twins: Sequence[Mapping[int, int]], *, drains: bool) -> None:
        for taken in trace.steps:
            match taken.step:
                case ProcessStep(p, t):
                    self._pass_fences(p)
                    self._take_or_drop(ProcessStep(p, twins[p][t]), p)
                case Rendezvous(ProcessStep(p, m), ProcessStep(q, n)):
                    self._pass_fences(p)
                    self._pass_fences(q)
                    self._take_or_drop(Rendezvous(ProcessStep(p, twins[p][m]), ProcessStep(q, twins[q][n])), p, q)
                case Commit(p, _) as commit:
                    self._take_or_drop(commit, p)
                case DropSeparator() as drop:
                    self._take(drop)
        for p, _ in enumerate(self.state.locations):
            while drains and self._drain_one(p):
                pass
            self._pass_fences(p)
            while self._take(DropSeparator(p)):
                pass

    def _take_or_drop(self, step: Step, *processes: int) -> bool:
        """Take the step; where separators are in its way, these leave first."""
        while not self._take(step):
            if not any(self._take(DropSeparator(p)) for p in processes):
                return False
        return True

    def _take(self, step: Step) -> bool:
        after = None if self.has_failed else take(self.fenced.program, self.model, self.state, step)
        if after is None:
            return False
        self.steps.append(step)
        self.has_failed = not isinstance(after, State)
        self.state = after if isinstance(after, State) else self.state
        return True

    def _pass_fences(self, p: int) -> None:
        """Go on through fences, as far as they let the process pass."""
        process, goes_on = self.fenced.program.processes[p], True
        while goes_on and (p, self.state.locations[p]) in self.fenced.passing:
            ((number, _),) = process.leaving(self.state.locations[p])
            goes_on = self._take_or_drop(ProcessStep(p, number), p)

    def _drain_one(self, p: int) -> bool:
        first = next(iter(self.model.background(self.fenced.program, self.state, p)), None)
        return first is not None and self._take(first[0])
