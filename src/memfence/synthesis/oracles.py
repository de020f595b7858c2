"""Does the program hold with these edits? If not, which clause did the choice miss?

Two kinds of answer: safety and its kin check the edited program; persistence and robustness know every clause from one
SC exploration (`synthesis.attacks`) and look it up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from memfence.execution.trace import Trace
from memfence.models.spec import TSO
from memfence.passes.orders import for_hardware
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Fence, Final, Forbidden, Invariant, Program, Store
from memfence.program.parameterised import homes, sized_like
from memfence.questions import check
from memfence.records import Record
from memfence.synthesis.apply_edits import with_edits
from memfence.synthesis.clauses import Clause, EditsByPlace, runs_of, stopped_by, without_edits
from memfence.synthesis.sites import FenceEdit
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Stop
from memfence.tasks.options import CheckOptions, what_is_asked
from memfence.tasks.result import CheckResult

Choice = frozenset[int]


class Answer(Record):
    """VIOLATED comes with a clause that the choice does not meet; `result` is the check behind the answer, if any.

    `stop`: the limit that was hit, where there is no answer because of it.
    """

    verdict: Verdict
    clause: Clause | None = None
    result: CheckResult | None = None
    stop: Stop = Stop.NOTHING_LEFT


class Oracle(Protocol):
    """Answers questions about choices of `edits`, counting what that costs."""

    edits: Sequence[FenceEdit]
    clauses: Sequence[Clause]
    """Known before the first question."""
    checks: int
    states: int

    def ask(self, choice: Choice) -> Answer: ...

    def ask_quickly(self, choice: Choice) -> Answer:
        """As `ask`, but UNKNOWN where an answer would take long."""


class CheckOracle:
    """Checks the edited program."""

    def __init__(
        self, program: Program, criterion: Criterion, options: CheckOptions, edits: Sequence[FenceEdit]
    ) -> None:
        self.program = program
        self.criterion = criterion
        self.options = replace(options.started(), criterion=criterion)
        self.edits = edits
        self.clauses: Sequence[Clause] = ()
        self.checks = 0
        self.states = 0
        self._places = EditsByPlace(edits)
        self._is_temporal = bool(what_is_asked(program, options).temporal)
        self._watched = watched_processes(program, options)
        self._quick_bound = 1
        self._is_interrupted = False

    def ask(self, choice: Choice) -> Answer:
        return self._answer(choice, self.options)

    def ask_quickly(self, choice: Choice) -> Answer:
        """Looks only as deep into the buffers as the runs found so far."""
        if self.criterion is not Criterion.SAFETY or self._is_temporal or self.program.any_number:
            return self.ask(choice)
        bound = self.options.buffer_bound or self._quick_bound
        return self._answer(choice, replace(self.options, engine="explicit", buffer_bound=bound))

    def _answer(self, choice: Choice, options: CheckOptions) -> Answer:
        if self._is_interrupted or options.limits.deadline.passed:
            return Answer(Verdict.UNKNOWN, stop=Stop.CANCELLED if self._is_interrupted else Stop.TIMEOUT)
        edited = with_edits(self.program, (self.edits[number] for number in choice))
        result = check(edited, options)
        self._is_interrupted = result.answer.is_interrupted  # Ctrl-C is meant for all questions that would follow
        self.checks += 1
        self.states += result.stats.states
        if result.verdict is not Verdict.VIOLATED:
            return Answer(result.verdict, None, result, result.answer.stop)
        return Answer(Verdict.VIOLATED, self._clause(result).without(closure(self.edits, choice)), result)

    def _clause(self, result: CheckResult) -> Clause:
        trace = result.trace
        is_cut = trace is not None and trace.failure is not None and self.criterion is not Criterion.SAFETY
        if trace is None or self._is_temporal or self.program.language == "dve" or is_cut:  # part of the run is missing
            return Clause(tuple(edit.number for edit in self.edits), lambda: trace)
        if self.criterion is Criterion.TRF:
            return self._race_clause(trace)
        run = without_edits(trace, sized_like(self.program, trace.program))
        deepest = max(len(buffer) for taken in run.steps for own in taken.state.buffers for buffer in own or ((),))
        self._quick_bound = max(self._quick_bound, deepest)
        stopping = stopped_by(run, self._places, watched=self._watched, homes=homes(self.program, run.program))
        return Clause(stopping, lambda: run)

    def _race_clause(self, trace: Trace) -> Clause:
        """The fences behind the last store of some process: one of these processes is about to read past it.

        The run is one of SC, in which every fence is a step like others.
        """
        last: dict[int, int] = {}
        hardware = for_hardware(trace.program, TSO)
        for process in range(len(self.program.processes)):
            crossed = list[tuple[int, int]]()
            for position, taken in enumerate(trace.steps):
                for move in runs_of(taken.step):
                    if move.process == process:
                        crossed = _since_last_store(hardware, process, move.transition, position, crossed)
            for position, transition in crossed:
                last |= dict.fromkeys(self._places.at("mfence", process, transition), position)
        edits = tuple(sorted(last, key=lambda number: (last[number], number)))
        return Clause(edits, lambda: trace)


def _since_last_store(
    program: Program, process: int, number: int, position: int, crossed: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The transitions crossed since the last store that is still unfenced, with the one taken now."""
    transition = program.processes[process].transitions[number]
    if transition.locked or any(isinstance(op, Fence) and op.kind == "mfence" for op in transition.ops):
        return []
    if any(isinstance(op, Store) and not op.direct for op in transition.ops):
        return [(position, number)]
    return [*crossed, (position, number)] if crossed else []


def watched_processes(program: Program, options: CheckOptions) -> frozenset[int]:
    """Those whose location matters to what is asked."""
    asked = what_is_asked(program, options).states
    stated = [p.expr for p in asked if isinstance(p, Forbidden | Invariant | Final)]
    return frozenset(process for process, _ in observed_by(program, stated).locations)


def closure(edits: Sequence[FenceEdit], choice: Choice) -> Choice:
    """The choice, and every weaker fence that it makes useless."""
    weaker = {edits[number].weaker for number in choice}
    return choice | {number for number in weaker if number is not None}


class ClauseOracle:
    """Knows every clause: a choice that meets them all is enough."""

    def __init__(self, edits: Sequence[FenceEdit], clauses: Sequence[Clause], states: int) -> None:
        self.edits = edits
        self.clauses = clauses
        self.checks = 1
        self.states = states

    def ask(self, choice: Choice) -> Answer:
        made = closure(self.edits, choice)
        for clause in self.clauses:
            if made.isdisjoint(clause.edits):
                return Answer(Verdict.VIOLATED, clause)
        return Answer(Verdict.HOLDS)

    def ask_quickly(self, choice: Choice) -> Answer:
        return self.ask(choice)
