"""Does any execution go wrong? Loops are unrolled once, twice, four times and so on, until no execution is cut off.

VIOLATED uses the dependencies between instructions that the text has. HOLDS must be true without them, too, where a
compiler may remove them: in C, not in assembly. Where a compiler has a choice, it must be true of each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memfence.axiomatic.code import Code, Write
from memfence.axiomatic.code import Cut as CutOff
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.axiomatic.waiting import undecided_wait
from memfence.deadline import TimeUp
from memfence.engines.axiomatic.searches import Search
from memfence.engines.axiomatic.violations import Violation, as_seen_by, goal_of, keeps_dependencies, told
from memfence.models.catalogue import knows
from memfence.program.ir import NoDeadlock, Program
from memfence.source import NOWHERE
from memfence.tasks.answer import Verdict
from memfence.tasks.evidence import ByDependencies, Complete, Counterexample, Cut, Evidence, Limit, MayWait, OutOfReach
from memfence.tasks.limits import Stop
from memfence.tasks.task import GoodExecutions, Task

MOST_ROUNDS = 4
"""Without a limit on time, loops are unrolled no further than so often."""

Found = tuple[Verdict, Evidence]


def decide(task: Task, goal: GoodExecutions, searches: Sequence[Search]) -> Found:
    """The verdict about all executions of the task's program under its model.

    Of `searches`, the first that comes to an end decides about one unrolling.
    """
    if not knows(task.model.name, task.program.language):
        return Verdict.UNKNOWN, OutOfReach(Unfit.OTHER_LANGUAGE, NOWHERE)
    if any(goal_of(prop) is None for prop in goal.properties):
        return Verdict.UNKNOWN, OutOfReach(Unfit.PROPERTY_OF_STATES, NOWHERE)
    asking = _Asking(task, goal, searches)
    try:
        program = as_seen_by(task.model.name, task.program, goal.properties)
        return asking.deeper(program) if goal.unrolled is None else asking.unrolled(program, goal.unrolled)
    except NotUnrolled as refused:
        return Verdict.UNKNOWN, OutOfReach(refused.why, refused.span)
    except TimeUp:
        return Verdict.UNKNOWN, Limit(Stop.TIMEOUT, 0)


class _Asking:
    """One model, which may have variants. `decided`: the search that came to an end last."""

    def __init__(self, task: Task, goal: GoodExecutions, searches: Sequence[Search]) -> None:
        self.program = task.program
        self.properties = goal.properties
        self.limits = task.limits
        self.models = models_named(task.model.name, language=task.program.language)
        self.searches = searches
        self.decided = searches[-1]

    def deeper(self, program: Program) -> Found:
        rounds = 1
        best = self.unrolled(program, rounds)
        while isinstance(best[1], Cut) and (rounds < MOST_ROUNDS or self.limits.deadline.seconds):
            rounds *= 2
            try:
                found = self.unrolled(program, rounds)
            except TimeUp:
                break
            if isinstance(found[1], Limit):
                break
            best = found
        return best

    def unrolled(self, program: Program, rounds: int) -> Found:
        code = unroll(program, rounds)
        found = self._violated(code, rounds, dependencies=True)
        if isinstance(found, Limit):
            return Verdict.UNKNOWN, found
        if isinstance(found, Counterexample):
            return Verdict.VIOLATED, found
        kept = keeps_dependencies(self.program, self.models)
        without = False if kept else self._violated(code, rounds, dependencies=False)
        if isinstance(without, Limit):
            return Verdict.UNKNOWN, without
        if isinstance(without, Counterexample):
            return Verdict.UNKNOWN, ByDependencies(without)
        event = undecided_wait(code) if any(isinstance(p, NoDeadlock) for p in self.properties) else None
        if event is not None and self._may_wait(code, kept):
            return Verdict.UNKNOWN, MayWait(event, rounds)
        if (found or without) and _cuts_loops(code):
            return Verdict.HOLDS_UP_TO, Cut(rounds)
        is_bounded = found or without or (self.program.is_cut_off and not self.program.marked_cuts)
        return Verdict.HOLDS_UP_TO if is_bounded else Verdict.HOLDS, Complete(rounds)

    def _may_wait(self, code: Code, dependencies: bool) -> bool:
        """Whether threads that could have gone another way may wait for ever, or nobody knows."""
        return any(
            self.decided.may_wait(code, model, self.limits, dependencies=dependencies)
            for model, *_ in _by_looks(code, self.models)
        )

    def _violated(self, code: Code, rounds: int, *, dependencies: bool) -> Counterexample | Limit | bool:
        """The violation under the first variant that shows one, with all that do; else whether something is cut off."""
        cut = False
        shown: Counterexample | None = None
        for model, *alike in _by_looks(code, self.models):
            found = self._first_violation(code, model, dependencies=dependencies)
            if isinstance(found, Stop):
                return shown or Limit(found, 0, unrolled=rounds)
            if isinstance(found, bool):
                cut |= found
                continue
            if shown is None:
                shown = told(found, model, rounds, dependencies=dependencies)
            shown = replace(shown, variants=(*shown.variants, *(one.variant for one in (model, *alike))))
        if shown is not None and len(shown.variants) == len(self.models):
            return replace(shown, variants=())
        return cut if shown is None else shown

    def _first_violation(self, code: Code, model: AxiomaticModel, *, dependencies: bool) -> Violation | Stop | bool:
        found: Violation | Stop | NotUnrolled | bool = False
        for search in self.searches:
            self.decided = search
            try:
                found = search.first_violation(code, model, self.properties, self.limits, dependencies=dependencies)
            except NotUnrolled as refused:
                found = refused
            if not isinstance(found, Stop | NotUnrolled) or found is Stop.CANCELLED:
                break
        if isinstance(found, NotUnrolled):
            raise found
        return found


def _cuts_loops(code: Code) -> bool:
    """Whether going round once more could change anything."""
    return any(isinstance(item, CutOff) and not item.of_program for t in code.threads for item in t.items)


def _by_looks(code: Code, models: Sequence[AxiomaticModel]) -> list[list[AxiomaticModel]]:
    """The variants, those together that see the code alike."""
    events = [(thread, item) for thread in code.threads for _, item in thread.events]
    pairs = any(isinstance(item, Write) and item.reads_by is not None for _, item in events)
    groups: dict[object, list[AxiomaticModel]] = {}
    for model in models:
        looks = (tuple(model.tags(thread, item) for thread, item in events), pairs and model.rmw_by_pair)
        groups.setdefault(looks, []).append(model)
    return list(groups.values())
