"""Does the program work under models that have no states? Bounded in the rounds of loops, complete in everything else.

VIOLATED uses the dependencies between instructions that the text has. HOLDS must be true without them, too, where a
compiler may remove them: in C, not in assembly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memfence.axiomatic.candidates import candidate
from memfence.axiomatic.code import Code, Write
from memfence.axiomatic.execution import Execution
from memfence.axiomatic.library import models_named
from memfence.axiomatic.model import AxiomaticModel
from memfence.axiomatic.synchronised import synchronised
from memfence.axiomatic.unroll import unroll
from memfence.axiomatic.unrolling.refusal import NotUnrolled, Unfit
from memfence.axiomatic.waiting import undecided_wait
from memfence.deadline import TimeUp
from memfence.engines.axiomatic.goals import Ends, Fails, Goal, Raises, ReachesCut, WaitsForEver
from memfence.engines.axiomatic.solve import Activated, Executions, Found, LimitHit, Nothing, OutOfTime
from memfence.models.cat.interpreter import Evaluation, judge
from memfence.models.cat.polarity import reached
from memfence.models.cat.relations import pairs_of
from memfence.models.cat.syntax import Base
from memfence.models.catalogue import ASSEMBLIES, knows, states_of
from memfence.models.spec import SPECS
from memfence.program.expressions import At, negate, walk
from memfence.program.ir import Final, NoDeadlock, Program, Property
from memfence.questions import check
from memfence.questions.portable_result import (
    ByDependencies,
    ByRuns,
    Complete,
    Counterexample,
    Cut,
    Forbidding,
    MayWait,
    ModelAnswer,
    OutOfReach,
    PortableResult,
    Stopped,
    Stronger,
)
from memfence.records import Record
from memfence.source import NOWHERE
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.options import CheckOptions, criterion_to_check, properties_to_check

MOST_ROUNDS = 4
"""Without a limit on time, loops are unrolled no further than so often."""
RACE = "data-race"


def check_models(
    program: Program, names: Sequence[str], options: CheckOptions, *, unrolled: int | None = None
) -> PortableResult:
    """One answer for each model. `unrolled`: how often loops are gone round; None: as often as needed, or time allows.

    The loops are gone round once, twice, four times and so on until no execution is cut off.
    """
    options = options.started()
    asked = tuple(p for p in properties_to_check(program, options) if _goal(p) is not None)
    others = tuple(p for p in properties_to_check(program, options) if _goal(p) is None)
    answers = tuple(_Asking(program, name, asked, others, options).answer(unrolled) for name in names)
    states_nothing = criterion_to_check(program, options) is not Criterion.SAFETY
    return PortableResult(program, answers, asked, others, options.limits.deadline.elapsed, states_nothing)


def _goal(prop: Property) -> Goal | None:
    """What an execution that violates the property reaches; None for properties of states and of infinite runs."""
    if isinstance(prop, NoDeadlock):
        return WaitsForEver()
    if not isinstance(prop, Final) or any(isinstance(node, At) for node in walk(prop.expr)):
        return None
    return Ends(negate(prop.expr) if prop.quantifier == "forall" else prop.expr)


def goals_of(properties: Sequence[Property], model: Activated) -> list[tuple[Goal, Property | None]]:
    """What no execution should reach: failing checks, the contrary of each property, races where the model has them.
    Whether threads wait for ever comes last: what else goes wrong tells more."""
    goals: list[tuple[Goal, Property | None]] = [(Fails(), None)]
    goals += [(goal, prop) for prop in properties if (goal := _goal(prop)) is not None]
    goals += [(Raises(RACE), None)] if RACE in model.flags else []
    return sorted(goals, key=lambda pair: isinstance(pair[0], WaitsForEver))


def as_seen_by(name: str, program: Program, properties: Sequence[Property]) -> Program:
    """The program in terms that the model called `name` knows; NotUnrolled where there are none.

    It states the properties that are asked: a register that nobody asks about has no value at the end.
    """
    stating = replace(program, properties=tuple(properties))
    return stating if states_of(name) else synchronised(stating)


def keeps_dependencies(program: Program, models: Sequence[AxiomaticModel]) -> bool:
    """Whether the dependencies of the text can be relied upon, or do not matter."""
    return program.language in ASSEMBLIES or not any(map(_uses_dependencies, models))


class Violation(Record):
    """An execution that reaches a goal that none should."""

    execution: Execution
    violated: Property | None
    is_race: bool


def first_violation(
    code: Code,
    model: AxiomaticModel,
    properties: Sequence[Property],
    limits: Limits,
    *,
    dependencies: bool = True,
) -> Violation | Stop | bool:
    """An execution that violates something; else whether some execution is cut off, or the limit that was hit."""
    try:
        executions = Executions(code, limits=limits)
        active = executions.add(model, dependencies=dependencies)
    except LimitHit as hit:
        return hit.stop
    for goal, prop in goals_of(properties, active):
        match executions.find(active, goal):
            case Found(execution):
                return Violation(execution, prop, isinstance(goal, Raises))
            case OutOfTime(stop):
                return stop
            case Nothing():
                pass
    cut = executions.find(active, ReachesCut())
    return cut.stop if isinstance(cut, OutOfTime) else isinstance(cut, Found)


class _Asking:
    """One model, which may have variants."""

    def __init__(
        self,
        program: Program,
        name: str,
        properties: Sequence[Property],
        others: Sequence[Property],
        options: CheckOptions,
    ) -> None:
        self.program = program
        self.name = name
        self.properties = properties
        self.others = others
        self.options = options
        self.models = models_named(name, language=program.language)

    def answer(self, unrolled: int | None) -> ModelAnswer:
        if not knows(self.name, self.program.language):
            return ModelAnswer(self.name, Verdict.UNKNOWN, OutOfReach(Unfit.OTHER_LANGUAGE, NOWHERE))
        if states_of(self.name):
            by_runs = self._by_runs()
            if by_runs is not None:
                return self._waiting(by_runs) or by_runs
        if self.others:
            return ModelAnswer(self.name, Verdict.UNKNOWN, OutOfReach(Unfit.PROPERTY_OF_STATES, NOWHERE))
        try:
            program = as_seen_by(self.name, self.program, self.properties)
            return self._grown(program) if unrolled is None else self._unrolled(program, unrolled)
        except NotUnrolled as refused:
            return ModelAnswer(self.name, Verdict.UNKNOWN, OutOfReach(refused.why, refused.span))
        except TimeUp:
            return ModelAnswer(self.name, Verdict.UNKNOWN, Stopped(Stop.TIMEOUT))

    def _by_runs(self) -> ModelAnswer | None:
        """By the engines for models with states, which need no bound; None where they do not know."""
        spec = SPECS[states_of(self.name)]
        result = check(self.program, replace(self.options, model=spec.name, criterion=Criterion.SAFETY))
        if result.verdict is Verdict.UNKNOWN:
            return None
        return ModelAnswer(self.name, result.verdict, ByRuns(result))

    def _waiting(self, by_runs: ModelAnswer) -> ModelAnswer | None:
        """Threads that go round for ever while they wait: no deadlock to engines with states, since there are steps."""
        if by_runs.verdict is Verdict.VIOLATED or not any(isinstance(p, NoDeadlock) for p in self.properties):
            return None
        (model,) = self.models
        try:
            code = unroll(as_seen_by(self.name, self.program, self.properties), 1)
            found = first_violation(code, model, self.properties, self.options.limits)
        except (NotUnrolled, TimeUp):
            return None
        if not isinstance(found, Violation) or not isinstance(found.violated, NoDeadlock):
            return None
        return ModelAnswer(self.name, Verdict.VIOLATED, _evidence(found, model, True), 1)

    def _grown(self, program: Program) -> ModelAnswer:
        rounds = 1
        best = self._unrolled(program, rounds)
        while isinstance(best.evidence, Cut) and (rounds < MOST_ROUNDS or self.options.limits.deadline.seconds):
            rounds *= 2
            try:
                found = self._unrolled(program, rounds)
            except TimeUp:
                break
            if isinstance(found.evidence, Stopped):
                break
            best = found
        return best

    def _unrolled(self, program: Program, rounds: int) -> ModelAnswer:
        code = unroll(program, rounds)
        found = self._violated(code, rounds, dependencies=True)
        if isinstance(found, ModelAnswer):
            return found
        kept = keeps_dependencies(self.program, self.models)
        without = False if kept else self._violated(code, rounds, dependencies=False)
        if isinstance(without, ModelAnswer):
            if not isinstance(without.evidence, Counterexample):
                return without
            return replace(without, verdict=Verdict.UNKNOWN, evidence=ByDependencies(without.evidence))
        event = undecided_wait(code) if any(isinstance(p, NoDeadlock) for p in self.properties) else None
        if event is not None and self._may_wait(code, kept):
            return ModelAnswer(self.name, Verdict.UNKNOWN, MayWait(event), rounds)
        if found or without or (self.program.is_cut_off and not self.program.marked_cuts):
            return ModelAnswer(self.name, Verdict.HOLDS_UP_TO, Cut(), rounds)
        return ModelAnswer(self.name, Verdict.HOLDS, Complete(), rounds)

    def _may_wait(self, code: Code, dependencies: bool) -> bool:
        """Whether threads that could have gone another way may wait for ever, or nobody knows."""
        for model, *_ in _by_looks(code, self.models):
            try:
                executions = Executions(code, limits=self.options.limits)
                active = executions.add(model, dependencies=dependencies)
            except LimitHit:
                return True
            if not isinstance(executions.find(active, WaitsForEver(undecided=True)), Nothing):
                return True
        return False

    def _violated(self, code: Code, rounds: int, *, dependencies: bool) -> ModelAnswer | bool:
        """The violation under the first variant that shows one, with all that do; else whether something is cut off."""
        cut = False
        shown: ModelAnswer | None = None
        for model, *alike in _by_looks(code, self.models):
            found = first_violation(code, model, self.properties, self.options.limits, dependencies=dependencies)
            if isinstance(found, Stop):
                return shown or ModelAnswer(self.name, Verdict.UNKNOWN, Stopped(found), rounds)
            if isinstance(found, bool):
                cut |= found
                continue
            if shown is None:
                shown = ModelAnswer(self.name, Verdict.VIOLATED, _evidence(found, model, dependencies), rounds)
            shown = replace(shown, variants=(*shown.variants, *(one.variant for one in (model, *alike))))
        if shown is not None and len(shown.variants) == len(self.models):
            return replace(shown, variants=())
        return cut if shown is None else shown


def _uses_dependencies(model: AxiomaticModel) -> bool:
    used = (found.node for axiom in model.cat.axioms for found in reached(model.cat, axiom))
    return any(isinstance(node, Base) and node.name in ("addr", "data", "ctrl") for node in used)


def _by_looks(code: Code, models: Sequence[AxiomaticModel]) -> list[list[AxiomaticModel]]:
    """The variants, those together that see the code alike."""
    events = [(thread, item) for thread in code.threads for _, item in thread.events]
    pairs = any(isinstance(item, Write) and item.reads_by is not None for _, item in events)
    groups: dict[object, list[AxiomaticModel]] = {}
    for model in models:
        looks = (tuple(model.tags(thread, item) for thread, item in events), pairs and model.rmw_by_pair)
        groups.setdefault(looks, []).append(model)
    return list(groups.values())


def _evidence(found: Violation, model: AxiomaticModel, dependencies: bool) -> Counterexample:
    pair = _first_race(found.execution, model, dependencies=dependencies)
    forbidding = tuple(_forbidding(found.execution))
    if found.is_race:
        return Counterexample(found.execution, model, found.violated, pair, forbidding)
    return Counterexample(found.execution, model, found.violated, None, forbidding, after_race=pair)


def _first_race(execution: Execution, model: AxiomaticModel, *, dependencies: bool) -> tuple[int, int] | None:
    """Two events that race: one that reads from the other, if there are such; what comes after it follows from that."""
    seen = Evaluation(model.cat, candidate(execution, model, dependencies=dependencies))
    flags = (axiom for axiom in model.cat.axioms if axiom.is_flag and axiom.name == RACE)
    values = [seen.value(axiom.body) for axiom in flags]
    races = [pair for value in values if not isinstance(value, int) for pair in pairs_of(value)]
    sources = execution.decisions.read_from
    places = [event.place for event in execution.events]
    return min(races, key=lambda pair: sources.get(places[pair[1]]) != places[pair[0]], default=None)


def _forbidding(execution: Execution) -> Iterator[Forbidding]:
    """The axioms of stronger models that the execution contradicts, the strongest model last."""
    names: tuple[Stronger, ...] = ("x86", "sc")
    for name in names:
        model = models_named(name)[0]
        for finding in judge(model.cat, candidate(execution, model)).failed[:1]:
            yield Forbidding(name, finding)
