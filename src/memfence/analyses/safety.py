"""Safety: no bad state, no failing assertion, no run-time error, and what is said about final states.

Under TSO and PSO the explicit engine runs with growing buffer bounds: the shortest runs to an error come first, and the
first bound at which no store was ever refused is a proof for unbounded buffers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from memfence.analyses.options import CheckOptions, properties_to_check
from memfence.analyses.result import CheckResult, Stats, Verdict
from memfence.engines.engine import Cost, Limits, Stop, all_processors, peak_megabytes
from memfence.engines.explicit import Bounded, Explored, Question, explore
from memfence.engines.trace import Trace
from memfence.models.steps import evaluate_in
from memfence.program.expressions import Expr, disjunction, negate
from memfence.program.ir import Final, Forbidden, Invariant, Ltl, NoDeadlock, Program, Property, PropertyAutomaton

GROWING_BOUNDS = (1, 2, 3, 4, 6, 8)
"""Buffer bounds tried in turn when none is given."""


@dataclass(frozen=True, slots=True)
class Searches:
    """What a series of searches found: the last of them, and what all together cost."""

    last: Explored
    cost: Cost

    @property
    def bound(self) -> int:
        return self.last.memory.bound


def limits_of(options: CheckOptions) -> Limits:
    """The limits that the user set."""
    return Limits(
        timeout_seconds=options.timeout_seconds,
        memory_megabytes=options.memory_megabytes,
        threads=options.threads or all_processors(),
        progress=options.progress,
    )


def question_of(properties: tuple[Property, ...]) -> Question:
    """One question for all state properties at once."""
    bad: list[Expr] = []
    values: tuple[Expr, ...] = ()
    for stated in properties:
        match stated:
            case Forbidden(expr, _):
                bad.append(expr)
            case Invariant(expr, _):
                bad.append(negate(expr))
            case Final(_, expr, _, observed):
                values = (expr, *(value for _, value in observed))
            case _:
                pass
    return Question(
        bad=disjunction(*bad) if bad else None,
        deadlock=any(isinstance(p, NoDeadlock) for p in properties),
        final_values=values,
    )


def check_safety(program: Program, options: CheckOptions) -> CheckResult:
    """Decide every property of `program`, or those that `options` give instead, and all its assertions."""
    properties = properties_to_check(program, options)
    if any(isinstance(p, Ltl | PropertyAutomaton) for p in properties):
        from memfence.analyses.ltl.check import check_ltl

        return check_ltl(program, options, properties)
    question = question_of(properties)
    limits = limits_of(options)
    searches = search_with_growing_bound(program, question, options, limits)
    return _result(program, options, properties, searches, limits)


def search_with_growing_bound(program: Program, question: Question, options: CheckOptions, limits: Limits) -> Searches:
    """Search with the bound given, else with growing ones until something is found or nothing is refused."""
    if options.model == "sc":
        bounds: tuple[int, ...] = (0,)
    else:
        bounds = GROWING_BOUNDS if options.buffer_bound is None else (options.buffer_bound,)
    cost = Cost()
    remaining = limits
    for bound in bounds:
        explored = explore(
            program,
            Bounded(options.model, bound),
            question,
            limits=remaining,
            reductions=frozenset(options.reduce),
        )
        cost += explored.cost
        if explored.stop is not Stop.NOTHING_LEFT or explored.refused == 0:
            break
        if limits.timeout_seconds is not None:
            remaining = replace(limits, timeout_seconds=max(0.01, limits.timeout_seconds - cost.seconds))
    return Searches(explored, cost)


def _result(
    program: Program, options: CheckOptions, properties: tuple[Property, ...], searches: Searches, limits: Limits
) -> CheckResult:
    last = searches.last
    final = next((p for p in properties if isinstance(p, Final)), None)
    trace = last.trace() if last.finding else None
    if trace is None and final is not None:
        trace = _final_witness(final, last)
    if trace is not None:
        verdict = Verdict.VIOLATED
    elif last.stop is not Stop.NOTHING_LEFT:
        verdict = Verdict.UNKNOWN
    elif not last.complete:
        verdict = Verdict.HOLDS_UP_TO
    elif final is not None and final.quantifier == "exists" and not any(s.values[0] for s in last.final_states):
        verdict = Verdict.VIOLATED  # nothing to show: no final state satisfies the condition
    else:
        verdict = Verdict.HOLDS
    limit = limits.describe(last.stop) if verdict is Verdict.UNKNOWN else None
    return CheckResult(
        program=program,
        model=options.model,
        criterion="safety",
        verdict=verdict,
        property=_property_text(program, properties, last, trace),
        engine="explicit",
        scope=_scope(options.model, searches, verdict),
        bound=searches.bound if verdict is Verdict.HOLDS_UP_TO else None,
        trace=trace,
        stats=stats_of(searches.cost),
        limit=limit,
        advice=_advice(verdict, last.stop),
        final_states=None if final is None else tuple((s.values[1:], s.count) for s in last.final_states),
    )


def _final_witness(final: Final, last: Explored) -> Trace | None:
    """A run to a final state that refutes the condition."""
    wanted = {"exists": None, "not exists": True, "forall": False}[final.quantifier]
    for state in last.final_states:
        if wanted is not None and bool(state.values[0]) == wanted:
            return last.trace_to(state.index)
    return None


def stats_of(cost: Cost) -> Stats:
    extra = (("depth", cost.depth), ("state_bits", cost.state_bits))
    return Stats(cost.states, cost.transitions, cost.seconds, peak_megabytes(), extra)


def _property_text(program: Program, properties: tuple[Property, ...], last: Explored, trace: Trace | None) -> str:
    """What was checked; for a violation, the property that the run violates."""
    if trace is not None and last.finding == "failure":
        failure = trace.failure
        return "assertions" if failure is not None and failure.is_assertion else "no run-time error"
    if trace is not None and last.finding == "deadlock":
        return NoDeadlock().text
    if trace is not None and last.finding == "bad state":
        for stated in properties:
            if isinstance(stated, Forbidden | Invariant):
                truth = evaluate_in(program, trace.end, 0, stated.expr) != 0
                if truth == isinstance(stated, Forbidden):
                    return property_text(stated)
    texts = [property_text(p) for p in properties if not isinstance(p, Invariant) or p.text]
    if program.has_assertions:
        texts.append("assertions")
    return "; ".join(texts) if texts else "no run-time error"


def property_text(stated: Property) -> str:
    """The property as its author wrote it, with what it means in front."""
    match stated:
        case Forbidden(_, text):
            return f"never {text}"
        case Invariant(_, text):
            return f"always {text}"
        case _:
            return stated.text if not hasattr(stated, "states") else stated.name


def _scope(model: str, searches: Searches, verdict: Verdict) -> str:
    last = searches.last
    if verdict is Verdict.VIOLATED:
        return "a run was found and replayed step by step" if last.finding else "every final state was seen"
    if verdict is Verdict.UNKNOWN:
        return f"incomplete: the search ended after {searches.cost.states} states"
    if model == "sc":
        return "every run: complete"
    if verdict is Verdict.HOLDS_UP_TO:
        return f"only runs with at most {searches.bound} pending stores a buffer: not a proof"
    return f"unbounded buffers and loops: complete (no run ever has more than {searches.bound} pending stores a buffer)"


def _advice(verdict: Verdict, stop: Stop) -> str | None:
    if verdict is Verdict.UNKNOWN:
        return {
            Stop.TIMEOUT: "try a longer --timeout, --threads 0, or a smaller instance",
            Stop.MEMORY: "try a larger --memory, or a smaller instance",
        }.get(stop)
    if verdict is Verdict.HOLDS_UP_TO:
        return "try a larger --buffer-bound, or --engine auto for a proof with unbounded buffers"
    return None
