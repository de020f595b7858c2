"""Is HOLDS about anything? Stuck programs, statements that no run takes, premises that are never true.

Only what is proved becomes a warning: each rests on a complete search under the model of the question. The
searches are small ones; where they do not come to an end, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memfence.deadline import Deadline
from memfence.execution.trace import Trace
from memfence.models.spec import ModelSpec
from memfence.models.state import ProcessStep, Rendezvous
from memfence.passes.valid_ends import with_valid_ends
from memfence.program import ir
from memfence.program.expressions import FALSE, At, Binary, Expr, Unary, walk
from memfence.program.facts.labels import places_with_a_way
from memfence.program.text.expressions import print_expression
from memfence.questions.random_walk import taken_on_walks
from memfence.questions.safety import model_asked
from memfence.source import NOWHERE, Span
from memfence.strategy.portfolio import ask
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import CounterexampleRun as RunFound
from memfence.tasks.evidence import Deadlocked, ScItself
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions, what_is_asked
from memfence.tasks.result import CheckResult
from memfence.tasks.task import Safety, Task
from memfence.tasks.vacuity import (
    NeverReached,
    NeverTaken,
    NeverTrue,
    NothingToCheck,
    NoWayThere,
    OneProcess,
    Stuck,
    VacuityWarning,
)

MOST_STATES = 50_000
MOST_SECONDS, MOST_IN_ALL = 2.0, 5.0
"""Of one search, and of those for statements that no run takes: a warning is not worth more."""

Taken = set[tuple[int, int]]
"""Transitions by process and number."""
Place = tuple[str, int, int]
"""A piece of a text, by its path."""


def vacuity_of(result: CheckResult, options: CheckOptions) -> tuple[VacuityWarning, ...]:
    """What makes a HOLDS worth less than it seems; nothing for other verdicts."""
    nowhere = () if result.verdict is Verdict.VIOLATED else tuple(_no_way_there(result))
    if result.verdict is not Verdict.HOLDS or result.program.any_number:
        return nowhere  # what is never done within bounds, or by a few threads, may be done beyond them
    if isinstance(result.evidence, ScItself):
        return (NothingToCheck(),)
    if result.criterion is not Criterion.SAFETY and len(result.program.processes) == 1:
        return (OneProcess(),)
    if result.criterion is not Criterion.SAFETY or not what_is_asked(result.program, options).asks_states:
        return ()
    search = Search(result.program, model_asked(options), options.limits, result.answer.taken)
    left_out = map(NeverReached, result.program.unreached)
    never_true = search.never_true(result, {(one.stated, one.place) for one in nowhere})
    return (*search.stuck(result.properties), *search.never_taken(), *left_out, *nowhere, *never_true)


def _no_way_there(result: CheckResult) -> Iterator[NoWayThere]:
    """Places that a property names, and that no step leads to; what steps wait for makes no difference."""
    known = [places_with_a_way(process) for process in result.program.processes]
    for number, stated in enumerate(result.properties):
        if isinstance(stated, ir.Forbidden | ir.Invariant | ir.Final):
            looks = dict.fromkeys(node for node in walk(stated.expr) if isinstance(node, At))
            for at in looks:
                if known[at.process].isdisjoint(at.locations):
                    yield NoWayThere(number, print_expression(at, result.program, 0))


class Search:
    """Small searches of one program under one model."""

    def __init__(
        self, program: ir.Program, model: ModelSpec, limits: Limits, marked: frozenset[tuple[int, int]] | None = None
    ) -> None:
        self.program, self.model, self.marked = program, model, marked
        self.limits = limits.within(most_states=MOST_STATES, timeout_seconds=MOST_SECONDS, progress=None)

    @property
    def is_specialised(self) -> bool:
        """Whether tests whose outcome is known on some way leave no trace there: another way may never go on so (C)."""
        return self.program.language == "c"

    def asked(self, program: ir.Program, goal: Safety) -> Answer:
        return ask("explicit", Task(program, self.model, goal, self.limits))

    def stuck(self, properties: tuple[ir.Property, ...]) -> Iterator[VacuityWarning]:
        """Where nothing can move; not if that was the question."""
        if any(isinstance(stated, ir.NoDeadlock) for stated in properties):
            return
        found = self.asked(with_valid_ends(self.program), Safety(failures=False, deadlock=True)).evidence
        if isinstance(found, RunFound) and isinstance(found.finding, Deadlocked):
            yield Stuck(found.trace)

    def never_taken(self) -> Iterator[VacuityWarning]:
        """The statements that no run takes: those that some run comes to, and assertions.

        Where the search that gave the verdict has `marked` all others, there is nothing left to ask.
        """
        if self.marked is not None and next(self._suspects(set(self.marked)), None) is None:
            return
        taken = self.taken()
        if taken is not None:
            yield from self._suspects(taken)

    def _suspects(self, taken: Taken) -> Iterator[NeverTaken]:
        """What is to be told if no run takes more than `taken`."""
        reached = {(p, process.initial) for p, process in enumerate(self.program.processes)}
        reached |= {(p, self.program.processes[p].transitions[t].target) for p, t in taken}
        expected = _expected(self.program, taken, reached)
        evident = {_place_of(span) for span in self.program.evident}
        for place, places in _by_place(self.program):
            if place in evident or not taken.isdisjoint(places) or not expected.isdisjoint(places):
                continue
            process, number = min(places, key=lambda at: (at[0], self.step(at).source) not in reached)
            transition = self.step((process, number))
            is_reached = (process, transition.source) in reached
            is_assertion = any(isinstance(op, ir.Assert) and not op.error for op in transition.ops)
            if is_assertion or (is_reached and not self.is_specialised):
                yield NeverTaken(process, number, transition.span, is_reached, is_assertion)

    def step(self, at: tuple[int, int]) -> ir.Transition:
        return self.program.processes[at[0]].transitions[at[1]]

    def taken(self) -> Taken | None:
        """Every transition that some run takes; None where the searches did not tell.

        All others fail on purpose: a run that fails takes one more of them, and a complete search without one proves
        that the rest are never taken.
        """
        if self.program.error_locations is not None:
            return None  # runs go on after a failure
        found = taken_on_walks(self.program) if self.marked is None else set(self.marked)
        until = Deadline(MOST_IN_ALL)
        while True:
            answer = self.asked(_failing_but(self.program, found), Safety())
            if answer.verdict is Verdict.HOLDS:
                return found
            if answer.trace is None or until.passed:
                return None
            found |= set(_taken_by(answer.trace))

    def never_true(self, result: CheckResult, known: set[tuple[int, str]]) -> Iterator[VacuityWarning]:
        """Premises that no run meets; those that are `known` for another reason are left out."""
        for number, stated in enumerate(result.properties):
            if not isinstance(stated, ir.Forbidden | ir.Invariant):
                continue
            for premise in _premises(stated):
                text = print_expression(premise, self.program, 0)
                if (number, text) in known:
                    continue
                if self.asked(self.program, Safety(bad=premise, failures=False)).verdict is Verdict.HOLDS:
                    yield NeverTrue(number, text)


def _premises(stated: ir.Forbidden | ir.Invariant) -> Iterator[Expr]:
    """What has to be true for the property to say anything: `p` of `p -> q`, the places of a forbidden state."""
    match stated.expr:
        case Binary("||", Unary("!", premise), _) if isinstance(stated, ir.Invariant):
            yield premise
        case Binary("&&") if isinstance(stated, ir.Forbidden):
            yield from (part for part in _conjuncts(stated.expr) if isinstance(part, At))
        case Unary("!", Binary("&&") as both) if isinstance(stated, ir.Invariant):
            yield from (part for part in _conjuncts(both) if isinstance(part, At))
        case _:
            return


def _conjuncts(expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Binary) and expr.op == "&&":
        yield from _conjuncts(expr.left)
        yield from _conjuncts(expr.right)
    else:
        yield expr


def _taken_by(trace: Trace) -> Iterator[tuple[int, int]]:
    for one in trace.steps:
        match one.step:
            case ProcessStep(process, transition):
                yield process, transition
            case Rendezvous(sender, receiver):
                yield sender.process, sender.transition
                yield receiver.process, receiver.transition
            case _:
                pass


def _failing_but(program: ir.Program, taken: Taken) -> ir.Program:
    """`program` with a failing assertion at the end of every transition that is not `taken`, and no other one."""
    processes = []
    for p, process in enumerate(program.processes):
        steps = tuple(_failing(t, (p, n) in taken) for n, t in enumerate(process.transitions))
        processes.append(replace(process, transitions=steps))
    return replace(program, processes=tuple(processes))


def _failing(transition: ir.Transition, is_taken: bool) -> ir.Transition:
    kept = tuple(op for op in transition.ops if not isinstance(op, ir.Assert))
    missing = len(transition.ops) - len(kept)
    sync = transition.sync
    if sync is not None and missing:
        guards = sum(not isinstance(op, ir.Assert) for op in transition.ops[: sync.guard_ops])
        sync = replace(sync, guard_ops=guards)
    return replace(transition, ops=kept if is_taken else (*kept, ir.Assert(FALSE)), sync=sync)


def _by_place(program: ir.Program) -> list[tuple[Place, list[tuple[int, int]]]]:
    """The transitions that stand for one piece of the text, be it in several processes; in the order of the text."""
    places: dict[Place, list[tuple[int, int]]] = {}
    for p, process in enumerate(program.processes):
        for n, transition in enumerate(process.transitions):
            if transition.span.source is not NOWHERE.source:
                places.setdefault(_place_of(transition.span), []).append((p, n))
    return sorted(places.items())


def _place_of(span: Span) -> Place:
    return span.source.path, span.start, span.end


def _expected(program: ir.Program, taken: Taken, reached: set[tuple[int, int]]) -> Taken:
    """`if :: bad -> assert(false)`: that no run goes there is what was proved, not a reason for doubt.

    An alarm that runs come to, and that does not go off, is one whose own condition keeps it from that.
    """
    expected: Taken = set()
    for p, process in enumerate(program.processes):
        doomed = {t.source for t in process.transitions if _is_alarm(t)}
        guards = {
            (p, n) for n, t in enumerate(process.transitions)
            if (p, n) not in taken and t.target in doomed and not _changes_anything(program, process, t)
        }  # fmt: skip
        ways_in = {process.transitions[n].target for _, n in guards}
        expected |= guards
        alarms = {(p, n): t.source for n, t in enumerate(process.transitions) if _is_alarm(t)}
        expected |= {at for at, source in alarms.items() if source in ways_in or (p, source) in reached}
    return expected


def _is_alarm(transition: ir.Transition) -> bool:
    return any(isinstance(op, ir.Assert) and op.condition == FALSE for op in transition.ops)


def _changes_anything(program: ir.Program, process: ir.Process, transition: ir.Transition) -> bool:
    """In C no assignment of a register is a statement of the text: where ways meet, values are moved."""
    return any(
        isinstance(op, ir.Store | ir.Rmw)
        or (isinstance(op, ir.Assign) and program.language != "c" and not process.registers[op.register].transient)
        for op in transition.ops
    )
