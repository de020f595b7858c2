"""Which writes must be atomic for an LTL property to hold under the bounded model (Barnat, Brim and Havel, section IV).

`first` is the paper's loop: check, take the hazard interval with the most inconsistent accesses, make its write atomic,
check again; then every write that is not needed is dropped. `count` and `cost` are exact: the clauses of all
counterexamples so far are solved (python-sat), the solution is checked, and teaches a clause if it is not enough. What
is enough at last is a minimum, and the clauses prove it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.models.spec import SC, ModelSpec
from memfence.passes.atomic_writes import AtomicWrite, WaitsFor, with_atomic_writes, writes_of
from memfence.program.facts.loop_depth import loop_levels
from memfence.program.ir import Program, Property
from memfence.questions.ltl.check import Claim, bounded_model, claims_of, decide, fairness_of
from memfence.records import Record
from memfence.synthesis.cheapest_model import cheapest_model
from memfence.synthesis.evidence import (
    ChecksSoFar,
    EveryListFails,
    FailsUnderSc,
    FixEvidence,
    NoPartInRun,
    NothingDelayed,
    SearchDidNotEnd,
)
from memfence.synthesis.hazards import Clause, Hazard, clause_of, hazards, with_early_commits
from memfence.synthesis.options import COST_OF_A_LOOP, MOST_LEVELS, FixOptions
from memfence.synthesis.result import Fix, FixStats, FixVerdict
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Lasso
from memfence.tasks.limits import Limits, Stop, peak_megabytes
from memfence.tasks.options import what_is_asked

if TYPE_CHECKING:
    from pysat.examples.rc2 import RC2


class ChosenWrite(Record):
    """A write to be made atomic, and a counterexample that appears if only this one is not."""

    write: AtomicWrite
    cost: int
    run: Lasso | None


class AtomicFix(Fix, kw_only=True, repr=False):
    """The answer of `memfence fix` for temporal properties.

    `chosen`: the writes to be made atomic besides those in `given` (for UNKNOWN: a candidate). `writes`: how many
    there are to choose from. `found_first`: with `minimise` "first", what the paper's loop gave before unneeded ones
    were dropped. `lasso`: for IMPOSSIBLE, a counterexample that no atomic write prevents.
    """

    properties: tuple[Property, ...]
    chosen: tuple[ChosenWrite, ...]
    given: tuple[AtomicWrite, ...]
    found_first: int | None
    waits_for: WaitsFor
    writes: int
    lasso: Lasso | None = None

    @property
    def atomic(self) -> tuple[AtomicWrite, ...]:
        """Every atomic write of the result: what belongs into `atomic.txt`."""
        return tuple(sorted({*self.given, *(one.write for one in self.chosen)}))


def fix_ltl(
    program: Program,
    options: FixOptions,
    *,
    given: Iterable[AtomicWrite] = (),
    waits_for: WaitsFor = "own",
) -> AtomicFix:
    """The atomic writes that make every temporal property of `program`, or the one in `options`, hold.

    `given` are atomic already. FIXED only where the check of the result was complete within its bound; IMPOSSIBLE only
    with a run that no atomic write prevents, such as one under SC.
    """
    return _Search(program, options.started(), tuple(given), waits_for).run()


class _Gave(Exception):
    """A limit was hit."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop)
        self.stop = stop


class _Counterexample(Record):
    claim: Claim
    lasso: Lasso


class _Search:
    def __init__(self, program: Program, options: FixOptions, given: tuple[AtomicWrite, ...], waits: WaitsFor) -> None:
        self.program = program
        self.options = options
        self.given = given
        self.waits = waits
        self.model = bounded_model(options)
        self.limits: Limits = options.limits
        self.claims = claims_of(program, options, what_is_asked(program, options).temporal)
        self.base = with_atomic_writes(program, given, waits_for=waits)
        self.writes = writes_of(self.base)
        self.clauses: list[Clause] = []
        self.checks = self.states = 0
        self.evidence: FixEvidence = SearchDidNotEnd()
        self.found_first: int | None = None

    def run(self) -> AtomicFix:
        chosen: frozenset[AtomicWrite] | None = frozenset()
        blocking: Lasso | None = None
        try:
            sequential = self.counterexample(self.program, SC)
            if sequential is not None:
                self.evidence = FailsUnderSc()
                return self.result(FixVerdict.IMPOSSIBLE, frozenset(), lasso=sequential.lasso)
            chosen, blocking = self.greedy() if self.options.minimise == "first" else self.minimum()
            if chosen is None:
                return self.result(FixVerdict.IMPOSSIBLE, frozenset(), lasso=blocking)
            reasons = {write: self.without(chosen, write) for write in sorted(chosen)}
            self.violation(chosen)  # again, for the evidence of the answer
        except _Gave as gave:
            self.evidence = ChecksSoFar(self.checks, self.states)
            return self.result(FixVerdict.UNKNOWN, chosen or frozenset(), stop=gave.stop)
        return self.result(FixVerdict.FIXED if chosen else FixVerdict.ALREADY_HOLDS, chosen, reasons)

    # Checks

    def counterexample(self, program: Program, model: ModelSpec) -> _Counterexample | None:
        """A fair run that violates one of the claims."""
        for claim in self.claims:
            answer = self.decided(program, claim, model)
            if isinstance(answer.evidence, Lasso):
                return _Counterexample(claim, answer.evidence)
        return None

    def decided(self, program: Program, claim: Claim, model: ModelSpec) -> Answer:
        answer = decide(program, claim, model, fairness=self.options.fairness, limits=self.limits)
        self.checks += 1
        self.states += answer.cost.states
        if answer.verdict is Verdict.UNKNOWN:
            raise _Gave(answer.stop)
        self.evidence = answer.evidence
        return answer

    def violation(self, chosen: Iterable[AtomicWrite]) -> _Counterexample | None:
        atomic = with_atomic_writes(self.base, chosen, waits_for=self.waits)
        return self.counterexample(atomic, self.model)

    def without(self, chosen: frozenset[AtomicWrite], write: AtomicWrite) -> Lasso | None:
        found = self.violation(chosen - {write})
        return None if found is None else self.shortened(found).lasso

    def shortened(self, found: _Counterexample) -> _Counterexample:
        """Writes committed as early as the counterexample allows."""
        program = found.lasso.trace.program
        conditions = fairness_of(program, found.claim, self.model, self.options.fairness)
        return _Counterexample(found.claim, with_early_commits(found.lasso, found.claim, conditions))

    # The paper's loop

    def greedy(self) -> tuple[frozenset[AtomicWrite] | None, Lasso | None]:
        chosen: frozenset[AtomicWrite] = frozenset()
        while (found := self.violation(chosen)) is not None:
            candidates = [h for h in hazards(found.lasso) if h.write in self.writes and h.write not in chosen]
            if not candidates:
                self.evidence = NothingDelayed()
                return None, found.lasso
            chosen |= {_most_disturbed(candidates).write}
        self.found_first = len(chosen)
        while (unneeded := self.unneeded(chosen)) is not None:  # again: what was needed beside it may not be any more
            chosen -= {unneeded}
        return chosen, None

    def unneeded(self, chosen: frozenset[AtomicWrite]) -> AtomicWrite | None:
        """A write of the list that is enough without it."""
        return next((w for w in sorted(chosen, reverse=True) if self.violation(chosen - {w}) is None), None)

    # Minimum hitting sets

    def minimum(self) -> tuple[frozenset[AtomicWrite] | None, Lasso | None]:
        last: Lasso | None = None
        solver = self.solver()
        try:
            while True:
                model = cheapest_model(solver)
                if model is None:
                    self.evidence = EveryListFails()
                    return None, last
                chosen = frozenset(self.writes[literal - 1] for literal in model if literal > 0)
                found = self.violation(chosen)
                if found is None:
                    return chosen, None
                found = self.shortened(found)
                clause = clause_of(
                    self.base, chosen, found.lasso, found.claim, fairness=self.options.fairness, waits_for=self.waits
                )
                self.clauses.append(clause)
                literals = self.literals(clause)
                if not literals:
                    self.evidence = NoPartInRun()
                    return None, found.lasso
                solver.add_clause(literals)
                last = found.lasso
        finally:
            solver.delete()

    def solver(self) -> RC2:
        from pysat.examples.rc2 import RC2
        from pysat.formula import WCNF

        formula = WCNF()
        for number, write in enumerate(self.writes):
            weight = self.cost(write) if self.options.minimise == "cost" else 1
            formula.append([-(number + 1)], weight=weight)
        return RC2(formula)

    def literals(self, clause: Clause) -> list[int]:
        number = {write: n + 1 for n, write in enumerate(self.writes)}
        return sorted(number[w] for w in clause.atomic) + sorted(-number[w] for w in clause.plain)

    def cost(self, write: AtomicWrite) -> int:
        level = loop_levels(self.program.processes[write.process])[write.transition]
        looping: int = COST_OF_A_LOOP ** min(level, MOST_LEVELS)
        return self.options.costs["locked"] * looping

    def result(
        self,
        verdict: FixVerdict,
        chosen: frozenset[AtomicWrite],
        reasons: dict[AtomicWrite, Lasso | None] | None = None,
        *,
        lasso: Lasso | None = None,
        stop: Stop = Stop.NOTHING_LEFT,
    ) -> AtomicFix:
        stats = FixStats(
            len(self.writes), len(self.clauses), self.checks, self.states,
            self.limits.deadline.elapsed, peak_megabytes(),
        )  # fmt: skip
        return AtomicFix(
            program=self.program,
            model=self.options.model,
            criterion=Criterion.SAFETY,
            properties=tuple(claim.stated for claim in self.claims),
            verdict=verdict,
            minimise=self.options.minimise,
            chosen=tuple(ChosenWrite(w, self.cost(w), (reasons or {}).get(w)) for w in sorted(chosen)),
            given=self.given,
            found_first=self.found_first,
            is_minimum=verdict is FixVerdict.FIXED and self.options.minimise != "first",
            waits_for=self.waits,
            evidence=self.evidence,
            limits=self.limits,
            writes=len(self.writes),
            stats=stats,
            lasso=lasso,
            stop=stop,
        )


def _most_disturbed(candidates: list[Hazard]) -> Hazard:
    """The interval with the most inconsistent accesses; of several, the first to be issued."""
    return min(candidates, key=lambda h: (-len(h.inconsistent), h.issued, h.write))


def refuse_other_languages(program: Program) -> None:
    """Atomic writes are known by the transitions of a DVE text."""
    if program.language != "dve":
        what = f"atomic writes for temporal properties are found in DVE models only, not in {program.language}"
        at = Label(program.source.span(0, 1))
        hint = "fences for a safety property: use --forbid, --invariant or assertions"
        raise InputError([Diagnostic(Code.UNSUPPORTED, what, at, hint=hint)])
