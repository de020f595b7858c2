"""Does every fair run satisfy a formula? Under SC exactly; under TSO and PSO for bounded buffers (DESIGN 9).

The negated formula becomes an automaton, its `GF b` conjuncts and all fairness become acceptance conditions, and the
core looks for a run of the product. Memory fairness (pending stores eventually commit) is always assumed, weak process
fairness with `--fair`. LTL under unbounded TSO is undecidable: a proof here is about the bound that it names.
"""

from __future__ import annotations

from dataclasses import dataclass

from memfence.analyses.ltl.fairness import counterexample_obligation
from memfence.analyses.ltl.parser import as_expression, parse_formula
from memfence.analyses.ltl.translate import translate
from memfence.analyses.options import CheckOptions
from memfence.analyses.result import CheckResult, Verdict
from memfence.engines.buchi import BuchiEdge, Emptiness, Fairness, find_accepted_run
from memfence.engines.engine import Limits, Stop
from memfence.engines.explicit import Bounded
from memfence.program.expressions import Expr
from memfence.program.ir import Ltl, Program, PropertyAutomaton

DEFAULT_BOUND = 1


@dataclass(frozen=True, slots=True)
class Claim:
    """What a counterexample is: a run that the automaton accepts, with each of `recurring` again and again."""

    text: str
    edges: tuple[tuple[BuchiEdge, ...], ...]
    initial: int
    marks: int
    atoms: tuple[Expr, ...]
    recurring: tuple[Expr, ...]


def claim_of_formula(text: str, program: Program, definitions: dict[str, str], option: str = "--ltl") -> Claim:
    """The claim that refutes the formula."""
    parsed = parse_formula(text, program, definitions, option)
    obligation = counterexample_obligation(parsed.formula)
    automaton = translate(obligation.formula)
    edges = tuple(
        tuple(BuchiEdge(e.target, e.positive, e.negative, e.marks) for e in leaving) for leaving in automaton.edges
    )
    recurring = tuple(as_expression(condition, parsed.atoms) for condition in obligation.recurring)
    atoms = tuple(atom.expr for atom in parsed.atoms)
    return Claim(text, edges, automaton.initial, automaton.marks, atoms, recurring)


def claim_of_automaton(automaton: PropertyAutomaton) -> Claim:
    """The claim of a property process: every guard is an atom, accepting states mark the edges that leave them."""
    guards = tuple(edge.guard for edge in automaton.edges)
    edges: list[list[BuchiEdge]] = [[] for _ in automaton.states]
    for number, edge in enumerate(automaton.edges):
        marks = sum((edge.source in group) << n for n, group in enumerate(automaton.accepting))
        edges[edge.source].append(BuchiEdge(edge.target, 1 << number, 0, marks))
    frozen = tuple(tuple(leaving) for leaving in edges)
    return Claim(automaton.name, frozen, automaton.initial, len(automaton.accepting), guards, ())


def check_ltl(program: Program, options: CheckOptions, properties: tuple[object, ...]) -> CheckResult:
    """Check every temporal property; the first that is violated decides."""
    from memfence.analyses.safety import limits_of, stats_of

    limits = limits_of(options)
    memory = bounded_memory(options)
    definitions = dict(options.define)
    result: CheckResult | None = None
    for stated in properties:
        match stated:
            case Ltl(name, text, _):
                claim = claim_of_formula(text, program, definitions, "--ltl" if name == "ltl" else f"ltl {name}")
            case PropertyAutomaton():
                claim = claim_of_automaton(stated)
            case _:
                continue
        found = decide(program, claim, memory, options, limits)
        result = _result(program, options, claim, memory, found, limits, stats_of(found.cost))
        if result.verdict is not Verdict.HOLDS and result.verdict is not Verdict.HOLDS_UP_TO:
            return result
    assert result is not None
    return result


def bounded_memory(options: CheckOptions) -> Bounded:
    """TSO/var(k) for TSO, as in the paper; PSO(k); SC as it is."""
    if options.model == "sc":
        return Bounded("sc")
    return Bounded(options.model, options.buffer_bound or DEFAULT_BOUND, per_variable=options.model == "tso")


def decide(program: Program, claim: Claim, memory: Bounded, options: CheckOptions, limits: Limits) -> Emptiness:
    processes = range(len(program.processes))
    conditions = [Fairness("recurring", expr) for expr in claim.recurring]
    if memory.model != "sc":
        conditions += [Fairness("buffer drains", process=p) for p in processes]
    if options.fair:
        conditions += [Fairness("process runs", process=p) for p in processes]
    return find_accepted_run(
        program, memory, claim.edges, claim.initial, claim.marks, claim.atoms, tuple(conditions), limits=limits
    )


def _result(
    program: Program,
    options: CheckOptions,
    claim: Claim,
    memory: Bounded,
    found: Emptiness,
    limits: Limits,
    stats: object,
) -> CheckResult:
    from memfence.analyses.result import Stats

    assert isinstance(stats, Stats)
    fair = "weakly fair runs" if options.fair else "all runs"
    if found.lasso is not None:
        verdict, scope = Verdict.VIOLATED, "an infinite run was found; it was replayed, and its loop closes"
    elif not found.complete:
        verdict, scope = Verdict.UNKNOWN, f"incomplete: the search ended after {found.cost.states} states"
    elif memory.model == "sc" or found.refused == 0:
        verdict, scope = Verdict.HOLDS, f"{fair}: complete"
    else:
        verdict = Verdict.HOLDS_UP_TO
        what = "pending stores a process and variable" if memory.per_variable else "pending stores a buffer"
        scope = f"{fair} with at most {memory.bound} {what}, each eventually committed: complete within this bound"
    lasso = found.lasso
    details: tuple[str, ...] = ()
    if lasso is not None:
        if lasso.loop_start == len(lasso.trace.steps):
            details = ("then nothing can happen any more",)
        else:
            details = (f"steps {lasso.loop_start + 1} to {len(lasso.trace.steps)} repeat for ever",)
    return CheckResult(
        program=program,
        model=options.model,
        criterion="safety",
        verdict=verdict,
        property=claim.text,
        engine="buchi",
        scope=scope,
        bound=memory.bound if verdict is Verdict.HOLDS_UP_TO else None,
        trace=lasso.trace if lasso else None,
        stats=stats,
        limit=limits.describe(found.stop) if verdict is Verdict.UNKNOWN else None,
        advice="try a longer --timeout or a larger --memory" if found.stop in (Stop.TIMEOUT, Stop.MEMORY) else None,
        details=details,
        loop_start=lasso.loop_start if lasso else None,
    )
