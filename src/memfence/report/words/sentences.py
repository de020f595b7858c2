"""Answers in words: what a verdict covers, which limit was hit, what to try.

With `properties`, the only place that turns evidence into sentences. Everything before it is data.
"""

from __future__ import annotations

from typing import assert_never

from memfence.axiomatic.unrolling.refusal import Unfit
from memfence.deadline import Deadline
from memfence.execution.trace import Trace
from memfence.models.catalogue import model_of
from memfence.models.fairness import Fairness
from memfence.program.ir import Program
from memfence.report.views.execution_view import place_text
from memfence.report.views.shown_run import is_c, waiting_text
from memfence.report.words.blocked_processes import processes_at_the_end
from memfence.tasks.answer import Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import (
    Bound,
    ByDependencies,
    Closure,
    Complete,
    Counterexample,
    CounterexampleRun,
    Cut,
    Deadlocked,
    DelayBound,
    EveryOrder,
    Evidence,
    Exhausted,
    FewThreads,
    Fixpoint,
    Implied,
    Invariant,
    Lasso,
    Limit,
    MayWait,
    NoAttack,
    NoExecution,
    NonScState,
    NoScRun,
    OnlySc,
    OutOfReach,
    Outside,
    Overtakes,
    Parameterised,
    Races,
    Route,
    ScItself,
    SeesThePast,
    Torn,
)
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.result import CheckResult

ROUTES: dict[Route, str] = {
    Route.DIRECT: "a run was found and replayed step by step",
    Route.TWO_PROCESSES: "a run of two processes was found and replayed step by step; "
    "there may be a shorter one of more",
    Route.TSO_UNDERAPPROXIMATION: "a run in which stores commit in their order was found and replayed step by step; "
    "there may be a shorter one",
    Route.UNBOUNDED: "found with unbounded buffers; the run was replayed step by step",
    Route.BACKWARD: "found by backward search; the run was replayed step by step",
    Route.BACKWARD_ONLY: "found by backward search; the run was replayed step by step; there may be a shorter one",
    Route.DELAY_BOUNDED: "found by delay-bounded search; the run was replayed step by step; there may be a shorter one",
    Route.FROM_EXECUTION: "an execution was found and turned into a run, which was replayed step by step; "
    "there may be a shorter one",
    Route.UNDER_SC: "a run was found under SC already, and replayed step by step",
}

CLOSURES: dict[Closure, str] = {
    Closure.AUTOMATA: "buffers as automata",
    Closure.DUAL: "backward search over the dual semantics",
    Closure.SETS: "older pending stores as sets",
}

OBSTACLES: dict[Obstacle, str] = {
    Obstacle.OTHER_GOAL: "it answers other questions",
    Obstacle.NO_BUFFERS: "it is about models with store buffers",
    Obstacle.ONLY_TSO: "it is about TSO only",
    Obstacle.STORES_KEEP_ORDER: "stores commit in their order anyway",
    Obstacle.BOUND_GIVEN: "it chooses its own bounds",
    Obstacle.ANY_BOUND: "it is about buffers of any length",
    Obstacle.NO_BOUND: "it needs a bound on the buffers",
    Obstacle.LISTS_FINAL_STATES: "it does not list final states",
    Obstacle.LOOKS_AT_MEMORY: "the property looks at memory while stores may be pending",
    Obstacle.LOOKS_AT_BUFFERS: "steps that look at a buffer, and deadlocks beside a bus lock, are not modelled",
    Obstacle.ASKS_FOR_DEADLOCK: "absence of deadlock is not a question about single states",
    Obstacle.RUNS_GO_ON_AFTER_ERRORS: "runs go on after a run-time error",
    Obstacle.COMMITTED_LOCATION: "a committed location makes other processes wait",
    Obstacle.CHANNEL: "processes meet at a channel",
    Obstacle.LONG_LOCK_REGION: "a lock region with a cycle keeps the bus locked over several steps",
    Obstacle.DIRECT_STORE: "a store overtakes the pending ones",
    Obstacle.LOOKS_AT_OTHERS: "a process looks at another one, or at its own buffer",
    Obstacle.OTHER_COMMUNICATION: "processes communicate by other means than shared memory",
    Obstacle.NOT_BY_CONTROL_FLOW: "the control flow of single processes does not decide it",
    Obstacle.TWO_PROCESSES_ARE_ALL: "the program has no more than two processes",
    Obstacle.MANY_VALUES: "variables have many values",
    Obstacle.MANY_VARIABLES: "too many variables are stored to for fairness to speak about each",
    Obstacle.STORE_FENCE: "a store fence is a step that buffers without order do not have",
    Obstacle.TOO_COARSE: "the partial-coherence abstraction is too coarse here",
    Obstacle.ONLY_MORE: "the counterexample is from an over-approximation and may be spurious",
    Obstacle.LOOPS: "a loop does more than wait",
    Obstacle.STORE_BEFORE_GUARD: "a step stores before it knows whether it is possible",
    Obstacle.NOT_ABOUT_ENDS: "the question is about states before the end",
    Obstacle.FIXED_NUMBER: "the program has a fixed number of threads",
    Obstacle.ANY_NUMBER: "it is about a fixed number of threads",
    Obstacle.STEP_MAY_FAIL: "the engine decides which states are reachable, not whether a step can fail",
    Obstacle.NO_CLUSTER: "no cluster was named",
    Obstacle.OWN_LIMIT: "a number left the range that memfence had worked out for it; please report the program",
}


UNFIT: dict[Unfit, str] = {
    Unfit.LATE_USES: "nothing fails, but C11 does not say that each use of memory comes before its free: ask rc11",
    Unfit.CHANNEL: "processes meet at a channel",
    Unfit.BUS_LOCK: "the bus is locked over several steps",
    Unfit.DIRECT_STORE: "a store goes past the store buffer",
    Unfit.LOOKS_AT_OTHERS: "a process looks at the state of another",
    Unfit.COMMITTED_LOCATION: "there are committed locations",
    Unfit.RUNS_GO_ON_AFTER_ERRORS: "runs go on after errors",
    Unfit.ANY_NUMBER: "there is any number of threads",
    Unfit.STORE_BEFORE_GUARD: "one step stores, then reads what it waits for",
    Unfit.LOCKED_STEP: (
        "one step accesses several shared variables: a condition variable, a recursive or read-write lock, an update "
        "of memory that is freed elsewhere, or what is stored when a thread is created or joined"
    ),
    Unfit.SPLIT_ACCESS: "an atomic access is of 16 bytes, or to memory of which other threads store parts",
    Unfit.OTHER_LANGUAGE: "programs in this language mean nothing under this model",
    Unfit.NO_GRAPHS: "the graphs engine takes one access at a time, of at most 64 bits: use --engine auto",
    Unfit.WAITS_BESIDE_PLAIN: "a step waits for a variable that others write without atomics",
    Unfit.PROPERTY_OF_STATES: "a property of states or of infinite runs is asked for",
}


def scope_text(result: CheckResult) -> str:
    """What the verdict of a check covers."""
    return evidence_text(result.evidence, result.program)


def evidence_text(evidence: Evidence, program: Program) -> str:
    """What is known because of `evidence`."""
    match evidence:
        case CounterexampleRun(_, _, route, threads=threads):
            number = " and ".join(counted(n, f"thread of `{t}`", f"threads of `{t}`") for t, n in threads)
            return f"with {number}: {ROUTES[route]}" if threads else ROUTES[route]
        case Lasso():
            return "an infinite run was found and replayed; its loop closes and it violates the property"
        case Counterexample():
            return "an execution was found that the model allows, and carried out again"
        case ByDependencies():
            return "an execution was found, but only where a compiler removes dependencies"
        case Complete():
            return "no execution fails"
        case Cut(rounds):
            return f"no execution fails with loops unrolled {counted(rounds, 'time')}; --unroll looks further"
        case MayWait():
            return "nothing fails, but a thread may wait for ever where it has a choice"
        case OutOfReach(unfit):
            return UNFIT[unfit]
        case Exhausted():
            return _exhausted(evidence)
        case Fixpoint(closure, Fairness() as fair):
            how = CLOSURES[closure]
            return f"{_runs(fair)}, each store eventually committed, unbounded buffers: complete ({how})"
        case Fixpoint(closure):
            return f"unbounded buffers and loops: complete ({CLOSURES[closure]})"
        case Parameterised():
            return _any_number(evidence)
        case Invariant(model):
            runs = "unbounded buffers and loops" if model.has_buffers else "every run"
            return f"{runs}: complete (thread-modular: unreachable for each process alone, whatever it reads)"
        case NoAttack(by_text=True):
            return "unbounded buffers and loops: complete (the text of each process allows no attack)"
        case NoAttack(None):
            return "unbounded buffers and loops: complete (decided from every SC-reachable state)"
        case NoAttack(steps):
            alone = f"each process is, beside an abstraction of the others that is exact for their first {steps} steps"
            return f"unbounded buffers and loops: complete ({alone})"
        case Implied(by, under_sc):
            name = "persistent" if by is Criterion.PERSISTENT else "trace-robust"
            why = f"the program is {name}, and SC-safe" if under_sc else f"implied: the program is {name}"
            return f"unbounded buffers and loops: complete ({why})"
        case NoExecution(_, events):
            return f"unbounded buffers: complete (the axioms allow no such execution of {counted(events, 'event')})"
        case EveryOrder(orders):
            return f"unbounded buffers: complete (SC has a run for each of {counted(orders, 'way')} to go)"
        case OnlySc(model, safe):
            known = model_of(model)
            also = "every atomic load acquires, " if known and known.robust == "where loads acquire" else ""
            runs = ", and no run under SC fails" if safe else ""
            return f"robust: {also}nothing races, and every execution is one of SC{runs}: complete"
        case SeesThePast(process, span, is_race):
            who = f"{program.processes[process].name} ({place_text(span)})"
            what = "races" if is_race else "may see a past that SC does not"
            return f"undecided: an access of {who} {what}, as far as a search of SC states can tell"
        case ScItself():
            return "every run: SC compared with itself"
        case Bound():
            return _bounded(evidence)
        case DelayBound():
            return _delay_bound(evidence)
        case FewThreads(templates, threads):
            return f"only up to {counted(threads, 'thread')} of {_names(templates)}: not a proof for more"
        case Limit():
            return _limited(evidence)
        case Torn(processes):
            names = ", ".join(sorted(program.processes[p].name for p in processes))
            return f"undecided: a step of {names} with several stores may be seen half-way"
        case Outside(engine, obstacle):
            return f"the question is outside the {engine} engine: {OBSTACLES[obstacle]}"
        case _:
            assert_never(evidence)


def _any_number(evidence: Parameterised) -> str:
    runs = "unbounded buffers and loops" if evidence.model.has_buffers else "every run"
    return f"any number of threads of {_names(evidence.templates)}, {runs}: complete (backward search over threads)"


def _names(templates: tuple[str, ...]) -> str:
    return " and ".join(f"`{template}`" for template in templates)


def _exhausted(evidence: Exhausted) -> str:
    if evidence.fair is not None:
        runs = _runs(evidence.fair)
        if not evidence.model.has_buffers:
            return f"{runs}: complete"
        return f"{runs}, each store eventually committed, unbounded buffers: complete"
    if not evidence.model.has_buffers or evidence.pending is None:
        return "every run: complete"
    most = f"no run has more than {counted(evidence.pending, 'pending store')} per buffer"
    return f"unbounded buffers and loops: complete ({most})"


def _bounded(evidence: Bound) -> str:
    bound = evidence.model.bound or 0
    stores = counted(bound, "pending store")
    if evidence.fair is None:
        return f"only runs with at most {bound} pending stores per buffer: not a proof"
    where = "per process and variable" if evidence.model.per_variable else "per buffer"
    runs = _runs(evidence.fair)
    return f"{runs} with at most {stores} {where}, each eventually committed: complete within this bound"


def _delay_bound(evidence: DelayBound) -> str:
    """Delays are interruptions of a thread that could go on, and inputs that are not the first to be tried."""
    what = "only runs in which no thread is interrupted that could go on"
    if evidence.delays:
        what = f"only runs with at most {counted(evidence.delays, 'interruption')} of threads that could go on"
    if evidence.steps is not None:
        what += f", of at most {counted(evidence.steps, 'step')}"
    if evidence.pending is not None:
        what += f", with at most {counted(evidence.pending, 'pending store')} per buffer"
    return f"{what}: not a proof"


def _runs(fair: Fairness) -> str:
    return {Fairness.NONE: "all runs", Fairness.WEAK: "weakly fair runs", Fairness.STRONG: "strongly fair runs"}[fair]


def _limited(evidence: Limit) -> str:
    if evidence.found:
        return "an error is reachable, but a limit was hit before a run to it was found"
    states = "SC states" if evidence.under_sc else "states"
    return f"incomplete: the search ended after {evidence.states} {states}"


def counted(count: int, what: str, several: str | None = None) -> str:
    """`1 state`, `2 states`."""
    return f"{count:,} {what if count == 1 else several or f'{what}s'}"


INTERRUPTED = "interrupted"
LOST = "machines of the cluster were lost"


def limit_fact(limit: str) -> str:
    """The limit as a fact on a line of its own."""
    return (
        f"{limit} before the search ended"
        if limit in (INTERRUPTED, LOST)
        else f"{limit} was hit before the search ended"
    )


def stop_text(stop: Stop, limits: Limits) -> str | None:
    """The limit that was hit, as users know it; None where none was."""
    match stop:
        case Stop.TIMEOUT:
            return timeout_text(limits.deadline)
        case Stop.MEMORY:
            return f"memory {limits.memory_bytes // 1_000_000} MB"
        case Stop.CANCELLED:
            return INTERRUPTED
        case Stop.STATES:
            return "the states set aside"
        case Stop.LOST:
            return LOST
        case Stop.NOTHING_LEFT | Stop.FOUND:
            return None


def timeout_text(deadline: Deadline) -> str:
    """The time limit as the user set it."""
    return "the time set aside" if deadline.seconds is None else f"timeout {deadline.seconds:g} s"


def limit_text(result: CheckResult) -> str | None:
    """The limit that kept a check from deciding."""
    return stop_text(result.answer.stop, result.limits) if result.verdict is Verdict.UNKNOWN else None


def advice_text(result: CheckResult) -> str | None:
    """What to try where a check did not decide."""
    if result.verdict is Verdict.HOLDS_UP_TO and result.answer.verdict is Verdict.HOLDS:
        return "try larger bounds: the notes name them"
    if result.verdict is Verdict.HOLDS_UP_TO:
        return _bound_advice(result)
    if result.verdict is not Verdict.UNKNOWN:
        return None
    if isinstance(result.evidence, Outside):
        return "try --engine auto, which knows which engine answers what"
    if result.criterion in (Criterion.POVSO, Criterion.PO) and result.answer.stop is Stop.STATES:
        return "with loops, runs have no end; --criterion persistent or robust would imply it, if the program meets one"
    return stop_advice(result.answer.stop)


def _bound_advice(result: CheckResult) -> str | None:
    if isinstance(result.evidence, FewThreads):
        return "try a longer --timeout"
    if isinstance(result.evidence, DelayBound):
        return "try a longer --timeout, or a smaller instance"
    if result.criterion is Criterion.STATE_ROBUST:
        return "try a larger --buffer-bound"
    if isinstance(result.evidence, Bound) and result.evidence.fair is not None:
        return _longer_buffers(result)
    return "try a larger --buffer-bound, or --engine auto for a proof with unbounded buffers"


def _longer_buffers(result: CheckResult) -> str | None:
    """Of a temporal property: why there is no proof for buffers of any length; None where a bound was asked for."""
    why = next((one.evidence for one in result.answer.tried if one.engine == "fair buffers"), None)
    if isinstance(why, Outside):
        return f"try a larger --buffer-bound; no proof for any length: {OBSTACLES[why.obstacle]}"
    return None if why is None else "try a longer --timeout for a proof with buffers of any length"


def stop_advice(stop: Stop) -> str | None:
    return {
        Stop.TIMEOUT: "try a longer --timeout, or a smaller instance",
        Stop.MEMORY: "try a larger --memory, or a smaller instance",
        Stop.LOST: "look at the cluster with `ray status`, and try again",
    }.get(stop)


def detail_lines(result: CheckResult) -> tuple[str, ...]:
    """What a run shows that is not in its table."""
    match result.evidence:
        case Lasso() as lasso:
            return (_repeats(lasso),)
        case CounterexampleRun(_, Overtakes() as shown):
            return (_overtakes(result.program, shown),)
        case CounterexampleRun(_, Races() as shown):
            return (_races(result.program, shown),)
        case CounterexampleRun(trace, NonScState()):
            return (_non_sc_state(trace),)
        case CounterexampleRun(trace, NoScRun()):
            return ("no SC run makes the same accesses with the same values, those of each process in this order",)
        case CounterexampleRun(trace, Deadlocked()) if is_c(trace.program):
            return (waiting_text(trace),)
        case CounterexampleRun(trace, Deadlocked()):
            return tuple(f"`{one.name}` {one.waits}" for one in processes_at_the_end(trace))
        case _:
            return ()


def _repeats(lasso: Lasso) -> str:
    """Which steps of the lasso are its loop."""
    if lasso.loop_start == len(lasso.trace.steps):
        return "then nothing can happen any more"
    return f"steps {lasso.loop_start + 1} to {len(lasso.trace.steps)} repeat for ever"


def _overtakes(program: Program, shown: Overtakes) -> str:
    delayed, variable = (program.variables[v].name for v in (shown.delayed, shown.variable))
    access = "store to" if shown.is_store else "read of"
    when = f"its {access} {variable} in the same step" if shown.is_one_step else f"its later {access} {variable}"
    return f"`{program.processes[shown.attacker].name}` delays its store to {delayed}; {when} takes effect first"


def _races(program: Program, shown: Races) -> str:
    first, second = (program.processes[p].name for p in (shown.process, shown.other))
    variable = program.variables[shown.variable].name
    if shown.unfenced is None:
        return f"`{first}` is about to write {variable} while `{second}` is about to access it"
    store = program.variables[shown.unfenced].name
    return (
        f"`{first}` is about to read {variable} with its store to {store} not yet fenced, "
        f"while `{second}` is about to write {variable}"
    )


def _non_sc_state(trace: Trace) -> str:
    if trace.failure is not None:
        return f"no SC run fails like this: {trace.failure.reason}"
    program, end = trace.program, trace.end
    places = [
        f"`{process.name}` at `{process.locations[at].name}`"
        for process, at in zip(program.processes, end.locations, strict=True)
    ]
    memory = [f"{v.name} = {value}" for v, value in zip(program.variables, end.memory, strict=True)]
    return f"no SC run ends like this: {', '.join(places)}; {', '.join(memory)}"
