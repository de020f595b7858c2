"""Safety and robustness of programs in which some templates have any number of instances.

Few threads come first: a run of the smallest number is the one to read. Then the engine for any number decides. Where
it does not, as many threads as the time allows are checked one after the other, and the answer says how many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memfence.deadline import Deadline
from memfence.models.spec import SC
from memfence.passes.robustness_query import Unsupported, robustness_query
from memfence.passes.stuck_awaits import with_stuck_awaits
from memfence.passes.unset_registers import with_first_values
from memfence.passes.valid_ends import with_valid_ends
from memfence.program.ir import Final, NoDeadlock, Program, Property
from memfence.program.parameterised import instances_of, named_instances, resized
from memfence.program.traversal import map_property, property_expressions
from memfence.questions.conflicts import refuse_other_questions
from memfence.questions.criteria import in_form
from memfence.questions.safety import goal_of, model_asked
from memfence.strategy.portfolio import ask, decide
from memfence.tasks.answer import Answer, Tried, Verdict, outside
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import CounterexampleRun, FewThreads, Limit, Parameterised, ScItself
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.options import CheckOptions, what_is_asked
from memfence.tasks.result import CheckResult, stats_of
from memfence.tasks.task import Keeps, Safety, Task

FIRST = 3
"""Threads of each template that are tried before the engine for any number."""
FIRST_STATES = 50_000
FEWER_STATES = 200_000
"""Of one number of threads below that of the run that the engine found."""
ENGINE_SECONDS = 60.0
"""For the engine, where the user sets no limit; with one it has `SHARE` of the time."""
SHARE = 0.6
SOON = 5.0
MOST_THREADS = 8
MOST_STATES = 1_000_000
"""Of one number of threads."""


def check_parameterised(program: Program, criterion: Criterion, options: CheckOptions) -> CheckResult:
    """Decide the properties of states, or robustness, for any number of instances; others are refused (InputError)."""
    options = options.started()
    refuse_other_questions(program, criterion, options)
    if criterion is Criterion.ROBUST:
        return _Robustness(in_form(replace(program, properties=())), options).answer()
    return _Question(program, options, what_is_asked(program, options).states).answer()


def prove_soon(program: Program, options: CheckOptions) -> CheckResult | None:
    """The answer for any number of instances to what the program states, if there is one within `SOON` seconds."""
    left = options.limits.deadline.left
    soon = replace(options, deadline=Deadline(SOON if left is None else min(left, SOON)))
    found = _Question(program, soon, what_is_asked(program, soon).states).conclusive()
    return None if found is None else replace(found, limits=options.limits)


class _Question:
    criterion = Criterion.SAFETY

    def __init__(self, program: Program, options: CheckOptions, properties: tuple[Property, ...]) -> None:
        self.options, self.properties = options, properties
        self.goal = goal_of(program, properties)
        self.program = with_first_values(program, self.goal.expressions)
        stated = [expr for prop in properties for expr in property_expressions(prop)]
        self.named = named_instances(program, stated)
        self.cost = Cost()
        self.tried: list[Tried] = []
        self.proved = 0
        """So many threads of each template show nothing."""
        self.is_about_all = any(isinstance(p, Final | NoDeadlock) for p in properties)
        """Whether an instance that nobody names makes a difference: then nothing follows for fewer threads."""

    def answer(self) -> CheckResult:
        decided = self.conclusive()
        if decided is not None:
            return decided
        proved = self.proved
        for threads in self.numbers(proved + 1, MOST_THREADS):
            found = self.with_threads(threads, most_states=MOST_STATES)
            if found.verdict is Verdict.VIOLATED or found.answer.is_interrupted:
                return found
            if found.answer.verdict is not Verdict.HOLDS:
                break
            proved = threads
        return self.up_to(proved)

    def conclusive(self) -> CheckResult | None:
        """What few threads show, or the engine for any number; None where neither decides the question."""
        for threads in self.numbers(1, FIRST):
            found = self.with_threads(threads, most_states=FIRST_STATES, is_small=True)
            if found.verdict is Verdict.VIOLATED or found.answer.is_interrupted:
                return found
            if found.answer.verdict is not Verdict.HOLDS:
                break
            self.proved = threads
        if self.is_about_all:
            return None
        result = self.by_engine()
        if result.answer.is_conclusive or result.answer.is_interrupted:
            return self.with_fewer(result, self.proved + 1)
        return None

    def with_fewer(self, result: CheckResult, first: int) -> CheckResult:
        """The same with fewer threads, where these show it as well and that is found soon."""
        if not isinstance(result.evidence, CounterexampleRun):
            return result
        most = max(count for _, count in result.evidence.threads)
        for threads in self.numbers(first, most - 1):
            found = self.with_threads(threads, most_states=FEWER_STATES, is_small=True)
            if found.verdict is Verdict.VIOLATED:
                return found
        return result

    def numbers(self, first: int, last: int) -> Iterator[int]:
        """Numbers of threads to try; those below what the properties name are too few to say anything."""
        lowest = max(1, *self.named.values())
        yield from (n for n in range(max(first, lowest), last + 1) if not self.options.limits.deadline.passed)

    def task(self, program: Program, properties: tuple[Property, ...]) -> Task:
        goal = goal_of(program, properties)
        if goal.deadlock:
            program = with_valid_ends(with_stuck_awaits(program, goal.expressions))
        return Task(program, model_asked(self.options), goal, self.options.limits, frozenset(self.options.reduce))

    def with_threads(self, threads: int, *, most_states: int, is_small: bool = False) -> CheckResult:
        """What is true of so many instances of each template."""
        some = resized(self.program, dict.fromkeys(self.program.any_number, threads))
        stated = tuple(map_property(p, some.expression) for p in self.properties)
        task = self.task(some.program, stated).within(most_states=most_states)
        answer = ask("explicit", task) if is_small else decide(task, self.options.engine)
        return self.result(f"{threads} threads", some.program, stated, answer)

    def by_engine(self) -> CheckResult:
        task = self.task(self.program, self.properties)
        left = task.limits.deadline.left
        answer = ask("any number", task.within(timeout_seconds=ENGINE_SECONDS if left is None else left * SHARE))
        trace = answer.trace
        if trace is None:
            return self.result(answer.engine, self.program, self.properties, answer)
        counts = {t: sum(p.template == t for p in trace.program.processes) for t in self.program.any_number}
        some = resized(self.program, counts)
        stated = tuple(map_property(p, some.expression) for p in self.properties)
        return self.result(answer.engine, some.program, stated, answer)

    def up_to(self, threads: int) -> CheckResult:
        """No number of threads shows anything, as far as was looked."""
        verdict, evidence = Verdict.UNKNOWN, Limit(Stop.STATES, self.cost.states)
        if self.options.limits.deadline.passed:
            evidence = Limit(Stop.TIMEOUT, self.cost.states)
        if threads == 0:
            return self.result("any number", self.program, self.properties, Answer(verdict, evidence, "none", Cost()))
        few = FewThreads(self.program.any_number, threads)
        answer = Answer(Verdict.HOLDS_UP_TO, few, "any number", Cost())
        return self.result("any number", self.program, self.properties, answer)

    def result(self, name: str, program: Program, properties: tuple[Property, ...], answer: Answer) -> CheckResult:
        """The answer with everything that was spent so far."""
        if isinstance(answer.evidence, CounterexampleRun):
            threads = tuple((t, len(instances_of(program, t))) for t in self.program.any_number)
            answer = replace(answer, evidence=replace(answer.evidence, threads=threads))
        self.cost += answer.cost
        self.tried.append(Tried(name, answer.verdict, answer.evidence, answer.cost))
        answer = replace(answer, cost=self.cost, tried=tuple(self.tried))
        stats = stats_of(answer.cost, answer.counts)
        model, limits = self.options.model, self.options.limits
        return CheckResult(program, model, self.criterion, properties, answer, limits, stats)


class _Robustness(_Question):
    """For any number, by a search under SC for an attack of one instance (`passes.robustness_query`)."""

    criterion = Criterion.ROBUST

    def __init__(self, program: Program, options: CheckOptions) -> None:
        super().__init__(program, options, ())

    def with_threads(self, threads: int, *, most_states: int, is_small: bool = False) -> CheckResult:
        some = resized(self.program, dict.fromkeys(self.program.any_number, threads)).program
        task = Task(some, self.options.spec, Keeps(Criterion.ROBUST), self.options.limits)
        return self.result(f"{threads} threads", some, (), decide(task.within(most_states=most_states)))

    def by_engine(self) -> CheckResult:
        if not self.options.spec.has_buffers:
            return self.result("none", self.program, (), Answer(Verdict.HOLDS, ScItself(), "none", Cost()))
        answer = self._under_sc()
        trace = answer.trace
        if trace is None:
            return self.result(answer.engine, self.program, (), answer)
        self.cost += answer.cost
        found = max(len(instances_of(trace.program, template)) for template in self.program.any_number)
        return self.with_threads(found, most_states=MOST_STATES)

    def _under_sc(self) -> Answer:
        """What the query says, of which every failure is an attack or an error of the program."""
        if self.options.spec.reorders_stores:
            return outside("any number", Obstacle.ONLY_TSO)
        try:
            query = robustness_query(self.program)
        except Unsupported:
            return outside("any number", Obstacle.OTHER_COMMUNICATION)
        task = Task(query, SC, Safety(), self.options.limits, frozenset(self.options.reduce))
        left = task.limits.deadline.left
        answer = ask("any number", task.within(timeout_seconds=ENGINE_SECONDS if left is None else left * SHARE))
        if isinstance(answer.evidence, Parameterised):
            answer = replace(answer, evidence=replace(answer.evidence, model=self.options.spec))
        return answer
