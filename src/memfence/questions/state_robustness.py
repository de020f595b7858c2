"""State-robustness: every state with empty buffers that the relaxed model reaches is reached under SC (DESIGN 7).

Growing buffer bounds, as for safety: the first bound at which no store was refused is a proof for unbounded buffers.
Where no bound is, persistence and trace-robustness, which imply it, are tried, then buffers of any length as automata.
"""

from __future__ import annotations

from dataclasses import dataclass

from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.engines.native.explicit import Bounded
from memfence.engines.native.state_robustness import (
    ScStates,
    Strays,
    explore_sc_states,
    explore_strays,
    explore_unbounded,
)
from memfence.execution.trace import Trace
from memfence.passes.shared_memory_form import other_communication
from memfence.program.ir import Program
from memfence.questions.safety import limits_of, stats_of
from memfence.strategy.portfolio import FIRST_BOUNDS
from memfence.tasks.limits import Cost, Deadline, Limits, Stop
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult, Verdict

LONGER_BOUNDS = (12, 16, 24, 32)
SYMBOLIC_STATES = 100_000
SYMBOLIC_SECONDS = 30.0
"""What the symbolic engine, which need not end, may use."""

PROPERTY = "state-robustness: every state with empty buffers is reachable under SC"


@dataclass(frozen=True, slots=True)
class _Answer:
    verdict: Verdict
    scope: str
    cost: Cost
    engine: str = "explicit"
    bound: int | None = None
    stop: Stop = Stop.NOTHING_LEFT
    trace: Trace | None = None


def check_state_robustness(program: Program, options: CheckOptions) -> CheckResult:
    """Decide state-robustness under TSO or PSO; under SC there is nothing to decide."""
    limits = limits_of(options)
    answer = _decide(program, options, limits)
    return CheckResult(
        program=program,
        model=options.model,
        criterion="state-robust",
        verdict=answer.verdict,
        property=PROPERTY,
        engine=answer.engine,
        scope=answer.scope,
        bound=answer.bound,
        trace=answer.trace,
        stats=stats_of(answer.cost),
        limit=limits.describe(answer.stop) if answer.stop is not Stop.NOTHING_LEFT else None,
        advice=_advice(answer),
        details=() if answer.trace is None else (_what_is_new(answer.trace),),
    )


def _decide(program: Program, options: CheckOptions, limits: Limits) -> _Answer:
    if options.model == "sc":
        return _Answer(Verdict.HOLDS, "every run: SC compared with itself", Cost())
    deadline = Deadline(limits)
    sc = explore_sc_states(program, options.model, deadline.remaining())
    cost = sc.cost
    if sc.stop is not Stop.NOTHING_LEFT:
        return _Answer(Verdict.UNKNOWN, _incomplete(cost), cost, stop=sc.stop)
    strays: Strays | None = None
    for bound in FIRST_BOUNDS if options.buffer_bound is None else (options.buffer_bound,):
        strays = explore_strays(sc, Bounded(options.model, bound), deadline.remaining())
        cost += strays.cost
        if strays.found:
            scope = "a run was found and replayed step by step"
            return _Answer(Verdict.VIOLATED, scope, cost, trace=strays.trace())
        if strays.complete:
            most = f"(no run has more than {bound} pending stores a buffer)"
            return _Answer(Verdict.HOLDS, f"unbounded buffers and loops: complete {most}", cost)
        if strays.stop is not Stop.NOTHING_LEFT:
            break
    assert strays is not None
    is_over = options.buffer_bound is not None or strays.stop is Stop.CANCELLED
    implied = None if is_over else _implied(program, options, deadline, cost)
    if implied is not None:
        return implied
    if strays.stop is not Stop.NOTHING_LEFT:
        return _Answer(Verdict.UNKNOWN, _incomplete(cost), cost, stop=strays.stop)
    unbounded = None if is_over else _with_any_buffers(sc, options, deadline, cost)
    if unbounded is not None:
        return unbounded
    bound = strays.memory.bound
    scope = f"only runs with at most {bound} pending stores a buffer: not a proof"
    return _Answer(Verdict.HOLDS_UP_TO, scope, cost, bound=bound)


def _implied(program: Program, options: CheckOptions, deadline: Deadline, cost: Cost) -> _Answer | None:
    """HOLDS, where a stronger criterion does."""
    if other_communication(program) is not None:
        return None
    kinds: dict[AttackKind, str] = {"persistence": "persistent", "tso": "trace-robust"}
    for kind, name in kinds.items() if options.model == "tso" else (("pso", "trace-robust"),):
        decided = explore_attacks(program, kind, limits=deadline.remaining())
        cost += decided.cost
        if decided.complete and not decided.attacks:
            scope = f"unbounded buffers and loops: complete (implied: the program is {name})"
            return _Answer(Verdict.HOLDS, scope, cost, engine="sc attacks")
    return None


def _with_any_buffers(sc: ScStates, options: CheckOptions, deadline: Deadline, cost: Cost) -> _Answer | None:
    """The answer for buffers of any length, where the symbolic engine comes to an end."""
    limits = deadline.remaining(most_states=SYMBOLIC_STATES, timeout_seconds=SYMBOLIC_SECONDS)
    found = explore_unbounded(sc, limits)
    if found is None or not found.complete:
        return None
    cost += found.cost
    if found.all_under_sc:
        scope = "unbounded buffers and loops: complete (buffers as automata)"
        return _Answer(Verdict.HOLDS, scope, cost, engine="symbolic")
    for bound in LONGER_BOUNDS:  # such a state exists: some bound is large enough
        strays = explore_strays(sc, Bounded(options.model, bound), deadline.remaining())
        cost += strays.cost
        if strays.found:
            scope = "found with unbounded buffers; the run was replayed step by step"
            return _Answer(Verdict.VIOLATED, scope, cost, trace=strays.trace())
        if strays.stop is not Stop.NOTHING_LEFT:
            break
    scope = "a state that SC does not reach is reachable, but a limit was hit before a run to it was found"
    return _Answer(Verdict.UNKNOWN, scope, cost, stop=strays.stop)


def _incomplete(cost: Cost) -> str:
    return f"incomplete: the search ended after {cost.states} states"


def _advice(answer: _Answer) -> str | None:
    if answer.verdict is Verdict.UNKNOWN:
        return {
            Stop.TIMEOUT: "try a longer --timeout, --threads 0, or a smaller instance",
            Stop.MEMORY: "try a larger --memory, or a smaller instance",
        }.get(answer.stop)
    if answer.verdict is Verdict.HOLDS_UP_TO:
        return "try a larger --buffer-bound"
    return None


def _what_is_new(trace: Trace) -> str:
    if trace.failure is not None:
        return f"no SC run fails like this: {trace.failure.reason}"
    program, end = trace.program, trace.end
    places = [
        f"`{process.name}` at `{process.locations[at].name}`"
        for process, at in zip(program.processes, end.locations, strict=True)
    ]
    memory = [f"{v.name} = {value}" for v, value in zip(program.variables, end.memory, strict=True)]
    return f"no SC run ends like this: {', '.join(places)}; {', '.join(memory)}"
