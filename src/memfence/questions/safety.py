"""Safety: no bad state, no failing assertion, no run-time error, and what is said about final states.

What to ask is put together here, which engines answer is `strategy`'s business, and the answer becomes a verdict here.
"""

from __future__ import annotations

from memfence.engines.native.explicit import Question
from memfence.execution.trace import Trace
from memfence.models.steps import evaluate_in
from memfence.passes.unset_registers import with_first_values
from memfence.passes.valid_ends import with_valid_ends
from memfence.program.expressions import Expr, disjunction, negate
from memfence.program.ir import Final, Forbidden, Invariant, Ltl, NoDeadlock, Program, Property, PropertyAutomaton
from memfence.strategy.portfolio import Decision, decide
from memfence.tasks.limits import Cost, Limits, Stop, all_processors, peak_megabytes
from memfence.tasks.options import CheckOptions, properties_to_check
from memfence.tasks.result import CheckResult, Stats, Verdict


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
    """Decide every property of `program`, or those that `options` give instead, and all its assertions.

    Where some are temporal, the others come first; a formula given in `options` is asked alone.
    """
    properties = properties_to_check(program, options)
    temporal = tuple(p for p in properties if isinstance(p, Ltl | PropertyAutomaton))
    if not temporal:
        return _check_states(program, options, properties)
    from memfence.questions.ltl.check import check_ltl

    others = tuple(p for p in properties if not isinstance(p, Ltl | PropertyAutomaton))
    if others or (program.has_assertions and options.ltl is None):
        first = _check_states(program, options, others)
        if first.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN):
            return first
    return check_ltl(program, options, temporal)


def _check_states(program: Program, options: CheckOptions, properties: tuple[Property, ...]) -> CheckResult:
    question = question_of(properties)
    program = with_first_values(program, question.expressions)
    if question.deadlock:
        program = with_valid_ends(program)
    limits = limits_of(options)
    return _result(program, options, properties, decide(program, question, options, limits), limits)


def _result(
    program: Program, options: CheckOptions, properties: tuple[Property, ...], decision: Decision, limits: Limits
) -> CheckResult:
    final = next((p for p in properties if isinstance(p, Final)), None)
    trace = decision.trace
    if trace is None and final is not None:
        trace = _final_witness(final, decision)
    if trace is not None:
        verdict = Verdict.VIOLATED
    elif decision.answer == "unknown":
        verdict = Verdict.UNKNOWN
    elif decision.answer == "bounded":
        verdict = Verdict.HOLDS_UP_TO
    elif final is not None and final.quantifier == "exists" and not any(s.values[0] for s in decision.final_states):
        verdict = Verdict.VIOLATED  # nothing to show: no final state satisfies the condition
    else:
        verdict = Verdict.HOLDS
    is_outside = decision.stop is Stop.NOTHING_LEFT
    return CheckResult(
        program=program,
        model=options.model,
        criterion="safety",
        verdict=verdict,
        property=_property_text(program, properties, decision, trace),
        engine=decision.engine,
        scope=decision.scope,
        bound=decision.bound if verdict is Verdict.HOLDS_UP_TO else None,
        trace=trace,
        stats=stats_of(decision.cost, decision.extra),
        limit=limits.describe(decision.stop) if verdict is Verdict.UNKNOWN and not is_outside else None,
        advice=_advice(verdict, decision.stop),
        final_states=None if final is None else tuple((s.values[1:], s.count) for s in decision.final_states),
    )


def _final_witness(final: Final, decision: Decision) -> Trace | None:
    """A run to a final state that refutes the condition."""
    wanted = {"exists": None, "not exists": True, "forall": False}[final.quantifier]
    if decision.explored is None:
        return None
    for state in decision.final_states:
        if wanted is not None and bool(state.values[0]) == wanted:
            return decision.explored.trace_to(state.index)
    return None


def stats_of(cost: Cost, more: tuple[tuple[str, int], ...] = ()) -> Stats:
    extra = (("depth", cost.depth), ("state_bits", cost.state_bits), *more)
    return Stats(cost.states, cost.transitions, cost.seconds, peak_megabytes(), extra)


def _property_text(program: Program, properties: tuple[Property, ...], decision: Decision, trace: Trace | None) -> str:
    """What was checked; for a violation, the property that the run violates."""
    if trace is not None and decision.finding == "failure":
        failure = trace.failure
        return "assertions" if failure is not None and failure.is_assertion else "no run-time error"
    if trace is not None and decision.finding == "deadlock":
        return NoDeadlock().text
    if trace is not None and decision.finding == "bad state":
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
        case PropertyAutomaton():
            return stated.name
        case _:
            return stated.text


def _advice(verdict: Verdict, stop: Stop) -> str | None:
    if verdict is Verdict.UNKNOWN:
        return {
            Stop.TIMEOUT: "try a longer --timeout, --threads 0, or a smaller instance",
            Stop.MEMORY: "try a larger --memory, or a smaller instance",
            Stop.NOTHING_LEFT: "try --engine auto, which knows which engine answers what",
        }.get(stop)
    if verdict is Verdict.HOLDS_UP_TO:
        return "try a larger --buffer-bound, or --engine auto for a proof with unbounded buffers"
    return None
