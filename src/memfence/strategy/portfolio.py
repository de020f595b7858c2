"""Which engines answer a task, in which order, and how much each may use: `auto`.

Small questions are decided within a fixed number of states: explicit first, then the others, each given little (large
programs may have small proofs). What is left is searched by all of them side by side, the first conclusive answer
winning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import assert_never

from memfence.engines.registry import engine_named
from memfence.models.spec import Axioms, ModelSpec
from memfence.program.facts.split_accesses import refuse_torn_stores
from memfence.records import Record
from memfence.tasks.answer import Answer, Tried, Verdict, outside
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import CounterexampleRun, Limit, Route
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.options import GRAPHS, EngineName
from memfence.tasks.task import GoodExecutions, Keeps, NoAcceptedRun, Safety, Task


class Attempt(Record):
    """An engine, and what it may use: `most_states` (0: any) of each search, `seconds` beside the user's time."""

    engine: str
    most_states: int = 0
    seconds: float | None = None


MANY = 2_000_000
"""States that a whole search may have before one of runs with few delays is asked, where its answer is welcome: with
fewer, the whole search is the faster one (an MS queue of 3 threads has 430,000: 1.9 s, and 6.6 s behind the other)."""
SMALL = Attempt("explicit", most_states=100_000)
SAFETY = (
    SMALL,
    Attempt("control flow"),
    Attempt("one process", most_states=1_000_000, seconds=5.0),
    Attempt("two processes", most_states=50_000),
    Attempt("TSO under-approximation", most_states=50_000, seconds=5.0),
    Attempt("dual", most_states=10_000, seconds=3.0),
    Attempt("partial coherence", most_states=500_000, seconds=2.0),
    Attempt("symbolic", most_states=10_000, seconds=3.0),
    Attempt("implied", most_states=1_000_000),
)
SETTLING = (
    Attempt("explicit", most_states=MANY),
    Attempt("delay-bounded", most_states=1_000_000),
    Attempt("explicit"),
    Attempt("delay-bounded"),
)
SHARE = 0.6
LARGE = 5_000
LEAST_BOUND = 1
"""Of the buffers, for temporal properties: that of Barnat, Brim and Havel. It finds most runs that there are."""
LARGER_BOUNDS = (2, 3, 4)
SAFETY_AT_LAST = ("explicit", "symbolic", "dual", "partial coherence", "implied")
"""Asked side by side, where no attempt above was enough."""
STATE_ROBUSTNESS = (
    Attempt("explicit non-SC states"),
    Attempt("implied"),
    Attempt("symbolic non-SC states", most_states=100_000, seconds=30.0),
)


FEW_RUNS = Attempt("program orders", most_states=20_000)
KEPT_ORDERS = (FEW_RUNS, Attempt("implied", most_states=1_000_000))


def decide(task: Task, engine: EngineName = "auto") -> Answer:
    """The answer of the named engine, or of the portfolio; of the cluster, where the task names one."""
    if task.limits.cluster is not None:
        return ask("cluster", task)
    match task.goal:
        case Safety() if not task.spec.has_buffers:
            return _under_sc(task, engine)
        case Safety() if engine != "auto":
            return ask(engine, task)
        case Safety():
            return _safety(task)
        case Keeps(Criterion.ROBUST) if isinstance(task.model, Axioms):
            return ask("rc11 monitor", task)
        case Keeps(Criterion.STATE_ROBUST):
            return _first_conclusive(task, STATE_ROBUSTNESS)
        case Keeps(Criterion.POVSO | Criterion.PO):
            return _kept_orders(task)
        case Keeps(criterion):
            return ask("sc races" if criterion.is_about_races else "sc attacks", task)
        case NoAcceptedRun():
            return _infinite_runs(task)
        case GoodExecutions():
            return ask(GRAPHS if engine == GRAPHS else "executions", task)
        case _:
            assert_never(task.goal)


def ask(name: str, task: Task) -> Answer:
    """What one engine says, be it only why it does not answer. InputError where the model tears a store apart."""
    if isinstance(task.model, ModelSpec):
        refuse_torn_stores(task.program, has_buffers=task.model.has_buffers)
    engine = engine_named(name)
    is_for_any = name == "any number" or not task.program.any_number
    obstacle = engine.obstacle(task) if is_for_any else Obstacle.ANY_NUMBER
    if obstacle is not None:
        return outside(name, obstacle)
    task.limits.announce(name if isinstance(task.model, ModelSpec) else f"executions under {task.model.name}")
    return engine.answer(task)


def _under_sc(task: Task, engine: EngineName) -> Answer:
    """One search; a small one, where the control flow decides already."""
    proof = ask("control flow", task) if engine == "auto" else None
    if proof is None or not proof.is_conclusive:
        return _settled(task) if task.settles and engine == "auto" else ask("explicit", task)
    answer = ask("explicit", task.within(most_states=SMALL.most_states))
    if answer.is_conclusive or answer.is_interrupted:
        return answer
    return proof.costing(answer.cost)


def _settled(task: Task) -> Answer:
    """All runs, if that is possible in time; else those with few delays, as far as the rest of the time allows."""
    cost = Cost()
    bounded: Answer | None = None
    for attempt in SETTLING[2:] if _is_large(task) else SETTLING:
        answer = ask(attempt.engine, task.within(most_states=attempt.most_states, timeout_seconds=_share(task)))
        cost += answer.cost
        if answer.is_conclusive or answer.is_interrupted:
            return answer.costing(cost)
        if answer.verdict is Verdict.HOLDS_UP_TO:
            bounded = answer
    return (bounded or _out_of_time(answer)).costing(cost)


def _is_large(task: Task) -> bool:
    """Whether preparing a search takes so long that small attempts do not pay."""
    return sum(len(process.transitions) for process in task.program.processes) > LARGE


def _share(task: Task) -> float | None:
    """Of the time that is left, the part that one attempt may take."""
    left = task.limits.deadline.left
    return None if left is None else left * SHARE


def _safety(task: Task) -> Answer:
    first = _attempted(task, SMALL)
    tried = [_tried(SMALL.engine, first)]
    is_bounded = task.spec.is_bounded and first.stop is Stop.NOTHING_LEFT
    if first.is_conclusive or first.is_interrupted or is_bounded or task.is_over:
        return replace(first, tried=tuple(tried))
    for attempt in SAFETY[1:]:
        answer = _attempted(task, attempt)
        tried.append(_tried(attempt.engine, answer))
        if answer.is_conclusive or answer.is_interrupted:
            return replace(answer, cost=answer.cost + first.cost, tried=tuple(tried))
        if task.is_over:
            return replace(_out_of_time(first), tried=tuple(tried))
    if task.settles and not _is_large(task):
        whole = _attempted(task, Attempt("explicit", most_states=MANY, seconds=_share(task)))
        tried.append(_tried("explicit", whole))
        if whole.is_conclusive or whole.is_interrupted or task.is_over:
            return replace(whole, cost=whole.cost + first.cost, tried=tuple(tried))
    few = _delay_bound(task, tried)
    if few is not None and few.is_conclusive:
        return replace(few, cost=few.cost + first.cost, tried=tuple(tried))
    from memfence.strategy.side_by_side import ask_side_by_side  # threads: small questions need none

    last = ask_side_by_side([(name, _without_bound(name, task)) for name in SAFETY_AT_LAST], partial(_trusted, task))
    tried.append(_tried(last.engine, last))
    if last.is_conclusive:
        return replace(last, cost=last.cost + first.cost, tried=tuple(tried))
    last = last if few is None else _better(few, last)
    return replace(_better(first, last), tried=tuple(tried))


def _kept_orders(task: Task) -> Answer:
    """Few runs, a stronger criterion, a state that SC does not reach; at last every run."""
    answer = _first_conclusive(task, KEPT_ORDERS)
    if answer.is_conclusive or answer.is_interrupted or task.is_over:
        return answer
    if task.goal == Keeps(Criterion.POVSO):  # it implies state-robustness
        states = replace(task, goal=Keeps(Criterion.STATE_ROBUST)).within(most_states=1_000_000)
        other = ask("explicit non-SC states", states)
        if other.verdict is Verdict.VIOLATED or other.is_interrupted:
            return other
    return ask(FEW_RUNS.engine, task)


def _infinite_runs(task: Task) -> Answer:
    """Within a bound, if there is one. Without: a smallest one, a proof for all, then larger ones."""
    if task.spec.is_bounded or not task.spec.has_buffers:
        return ask("buchi", task)
    first = ask("buchi", _bounded(task, LEAST_BOUND))
    tried = [_tried("buchi", first)]
    if first.verdict is not Verdict.HOLDS_UP_TO or task.is_over:
        return first
    proof = ask("fair buffers", task.within(most_states=1_000_000, timeout_seconds=_share(task)))
    tried.append(_tried("fair buffers", proof))
    cost = first.cost + proof.cost
    best = proof if proof.is_conclusive or proof.is_interrupted else first
    for bound in LARGER_BOUNDS:
        if best is proof or task.is_over:
            break
        answer = ask("buchi", _bounded(task, bound).within(most_states=100_000, timeout_seconds=_share(task)))
        tried.append(_tried("buchi", answer))
        cost += answer.cost
        if answer.is_conclusive or answer.is_interrupted:
            return replace(answer, cost=cost, tried=tuple(tried))
        if answer.verdict is not Verdict.HOLDS_UP_TO:
            break
        best = answer
    return replace(best, cost=cost, tried=tuple(tried))


def _bounded(task: Task, bound: int) -> Task:
    return replace(task, model=task.spec.bounded(bound, per_variable=task.spec.per_variable))


def _delay_bound(task: Task, tried: list[Tried]) -> Answer | None:
    """What delay-bounded search says, where an answer up to a bound is accepted."""
    if not task.settles or engine_named("delay-bounded").obstacle(task) is not None:
        return None
    answer = _attempted(task, Attempt("delay-bounded", most_states=1_000_000, seconds=_share(task)))
    tried.append(_tried("delay-bounded", answer))
    return answer


def _out_of_time(answer: Answer) -> Answer:
    """The limit that users know is their own, not the part of it that the first attempt had."""
    if answer.verdict is not Verdict.UNKNOWN:
        return answer
    return replace(answer, evidence=Limit(Stop.TIMEOUT, answer.cost.states))


def _attempted(task: Task, attempt: Attempt) -> Answer:
    asked = _without_bound(attempt.engine, task)
    limited = asked.within(most_states=attempt.most_states, timeout_seconds=attempt.seconds)
    return _trusted(task, ask(attempt.engine, limited))


def _without_bound(name: str, task: Task) -> Task:
    """The same question for any buffers, where the engine knows no others: a proof is one for the bound as well."""
    unbounded = replace(task, model=task.spec.unbounded)
    return unbounded if engine_named(name).obstacle(task) is Obstacle.ANY_BOUND else task


def _trusted(task: Task, answer: Answer) -> Answer:
    """A run that was found with any buffers may need larger ones than the task allows: it is no answer."""
    run = answer.evidence
    is_any = isinstance(run, CounterexampleRun) and run.route not in (Route.DIRECT, Route.UNDER_SC, Route.DELAY_BOUNDED)
    return outside(answer.engine, Obstacle.ANY_BOUND) if is_any and task.spec.is_bounded else answer


def _better(first: Answer, last: Answer) -> Answer:
    """Of two answers that decide nothing, the one that says more."""
    if first.verdict is not Verdict.HOLDS_UP_TO:
        return last
    is_further = last.verdict is Verdict.HOLDS_UP_TO and (last.bound or 0) > (first.bound or 0)
    return last if is_further else first


def _first_conclusive(task: Task, attempts: Iterable[Attempt]) -> Answer:
    """Each attempt in turn; without a conclusive one, what the first one said."""
    answers: list[Answer] = []
    tried: list[Tried] = []
    for attempt in attempts:
        answer = ask(attempt.engine, task.within(most_states=attempt.most_states, timeout_seconds=attempt.seconds))
        answers.append(answer)
        tried.append(_tried(attempt.engine, answer))
        if answer.is_conclusive or answer.is_interrupted or task.is_over:
            break
    chosen = answers[-1] if answers[-1].is_conclusive or answers[-1].is_interrupted else answers[0]
    return replace(chosen, tried=tuple(tried))


def _tried(name: str, answer: Answer) -> Tried:
    return Tried(name, answer.verdict, answer.evidence, answer.cost)
