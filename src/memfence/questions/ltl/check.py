"""Does every fair run satisfy a formula? Under SC exactly; under TSO and PSO for bounded buffers (DESIGN 9).

The negated formula becomes an automaton, its `GF b` conjuncts and all fairness become acceptance conditions, and the
core looks for a run of the product. Memory fairness (pending stores eventually commit) is always assumed, weak process
fairness with `--fair`. LTL under unbounded TSO is undecidable: a proof here is about the bound that it names.
"""

from __future__ import annotations

from dataclasses import dataclass

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.emptiness import (
    MOST_ATOMS,
    MOST_MARKS,
    BuchiEdge,
    Emptiness,
    Lasso,
    find_accepted_run,
    reference_model,
)
from memfence.engines.native.explicit import Bounded
from memfence.models.fairness import Condition, Recurring, memory_fairness, process_fairness
from memfence.passes.unset_registers import with_first_values
from memfence.program.expressions import TRUE, Expr
from memfence.program.ir import Ltl, Program, Property, PropertyAutomaton
from memfence.questions.ltl.automaton import Automaton, Edge
from memfence.questions.ltl.fairness import counterexample_obligation
from memfence.questions.ltl.formula import Formula
from memfence.questions.ltl.parser import parse_formula
from memfence.questions.ltl.translate import translate
from memfence.questions.ltl.witness import check_lasso
from memfence.source import SourceText, Span
from memfence.tasks.limits import Cost, Limits, Stop, peak_megabytes
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult, Stats, Verdict

DEFAULT_BOUND = 1


@dataclass(frozen=True, slots=True)
class Claim:
    """What a counterexample is: a run that `automaton` accepts, with each of `recurring` again and again.

    `formula`: what it violates, over the same `atoms`; None for a property process.
    """

    text: str
    automaton: Automaton
    atoms: tuple[Expr, ...]
    recurring: tuple[Recurring, ...]
    formula: Formula | None
    span: Span


def claim_of_formula(text: str, program: Program, definitions: dict[str, str], option: str = "--ltl") -> Claim:
    """The claim that refutes the formula."""
    parsed = parse_formula(text, program, definitions, option)
    obligation = counterexample_obligation(parsed.formula, parsed.atoms)
    atoms = tuple(atom.expr for atom in parsed.atoms)
    span = SourceText(option, text).span(0, len(text))
    _limit_atoms(len(atoms), "predicates", span)
    recurring = obligation.conditions(parsed.atoms)
    return Claim(text, translate(obligation.formula), atoms, recurring, parsed.formula, span)


def claim_of_automaton(automaton: PropertyAutomaton) -> Claim:
    """The claim of a property process: guards are atoms, accepting states mark the edges that leave them."""
    atoms: dict[Expr, int] = {}
    edges: list[list[Edge]] = [[] for _ in automaton.states]
    for edge in automaton.edges:
        marks = sum((edge.source in group) << n for n, group in enumerate(automaton.accepting))
        guard = 0 if edge.guard == TRUE else 1 << atoms.setdefault(edge.guard, len(atoms))
        edges[edge.source].append(Edge(edge.target, guard, 0, marks))
    _limit_atoms(len(atoms), "different guards", automaton.span)
    plain = Automaton(automaton.initial, tuple(tuple(leaving) for leaving in edges), len(automaton.accepting))
    return Claim(automaton.name, plain, tuple(atoms), (), None, automaton.span)


def _limit_atoms(count: int, what: str, span: Span) -> None:
    if count > MOST_ATOMS:
        message = f"the property has {count} {what}; at most {MOST_ATOMS} are possible"
        raise InputError([Diagnostic(Code.TOO_LARGE, message, Label(span, "too many"))])


def check_ltl(program: Program, options: CheckOptions, properties: tuple[Ltl | PropertyAutomaton, ...]) -> CheckResult:
    """Check every one of the `properties`; the first that does not hold decides."""
    from memfence.questions.safety import limits_of

    limits = limits_of(options)
    memory = bounded_memory(options)
    result: CheckResult | None = None
    for claim in claims_of(program, options, properties):
        found = decide(program, claim, memory, fair=options.fair, limits=limits)
        result = _result(program, options, claim, memory, found, limits)
        if result.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN):
            return result
    assert result is not None, "there is something to check"
    return result


def claims_of(program: Program, options: CheckOptions, properties: tuple[Property, ...]) -> tuple[Claim, ...]:
    """What refutes each of the temporal `properties`."""
    definitions = dict(options.define)
    claims: list[Claim] = []
    for stated in properties:
        match stated:
            case Ltl(name, text, _):
                option = "--ltl" if name == "ltl" else f"ltl {name}"
                claims.append(claim_of_formula(text, program, definitions, option))
            case PropertyAutomaton():
                claims.append(claim_of_automaton(stated))
            case _:
                pass
    return tuple(claims)


def bounded_memory(options: CheckOptions) -> Bounded:
    """TSO/var(k) for TSO, as in the paper, or TSO(k); PSO(k); SC as it is."""
    if options.model == "sc":
        return Bounded("sc")
    per_variable = options.model == "tso" and options.bound_per == "variable"
    return Bounded(options.model, options.buffer_bound or DEFAULT_BOUND, per_variable)


def fairness_of(program: Program, claim: Claim, memory: Bounded, fair: bool) -> tuple[Condition, ...]:
    """Every acceptance condition beside the automaton's: of the formula, the memory and, with `fair`, the processes."""
    conditions: list[Condition] = [*claim.recurring, *memory_fairness(program, reference_model(memory))]
    if fair:
        conditions += process_fairness(program)
    count = claim.automaton.marks + len(conditions)
    if count > MOST_MARKS:
        what = f"the property and fairness make {count} acceptance conditions; at most {MOST_MARKS} are possible"
        hint = "leave out --fair, or use --model tso, which has one buffer a process"
        raise InputError([Diagnostic(Code.TOO_LARGE, what, Label(claim.span, "checked here"), hint=hint)])
    return tuple(conditions)


def decide(program: Program, claim: Claim, memory: Bounded, *, fair: bool = False, limits: Limits) -> Emptiness:
    """Look for a fair counterexample; one that is found has been checked from its first state to its loop."""
    program = with_first_values(program, claim.atoms)
    conditions = fairness_of(program, claim, memory, fair)
    edges = tuple(
        tuple(BuchiEdge(e.target, e.positive, e.negative, e.marks) for e in leaving)
        for leaving in claim.automaton.edges
    )
    found = find_accepted_run(
        program, memory, edges, claim.automaton.initial, claim.automaton.marks, claim.atoms, conditions, limits=limits
    )
    if found.lasso is not None:
        check_lasso(found.lasso, claim.atoms, conditions, formula=claim.formula, automaton=claim.automaton)
    return found


def _repeats(lasso: Lasso) -> str:
    """Which steps of the lasso are its loop."""
    if lasso.loop_start == len(lasso.trace.steps):
        return "then nothing can happen any more"
    return f"steps {lasso.loop_start + 1} to {len(lasso.trace.steps)} repeat for ever"


def _result(
    program: Program, options: CheckOptions, claim: Claim, memory: Bounded, found: Emptiness, limits: Limits
) -> CheckResult:
    verdict, scope = _verdict(options, memory, found)
    lasso = found.lasso
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
        stats=_stats(found.cost),
        limit=limits.describe(found.stop) if verdict is Verdict.UNKNOWN else None,
        advice="try a longer --timeout or a larger --memory" if found.stop in (Stop.TIMEOUT, Stop.MEMORY) else None,
        details=() if lasso is None else (_repeats(lasso),),
        loop_start=lasso.loop_start if lasso else None,
    )


def _verdict(options: CheckOptions, memory: Bounded, found: Emptiness) -> tuple[Verdict, str]:
    scope = scope_of(memory, found, fair=options.fair)
    if found.lasso is not None:
        return Verdict.VIOLATED, scope
    if not found.complete:
        return Verdict.UNKNOWN, scope
    return (Verdict.HOLDS_UP_TO if found.refused else Verdict.HOLDS), scope


def scope_of(memory: Bounded, found: Emptiness, *, fair: bool) -> str:
    """What the answer covers."""
    runs = "weakly fair runs" if fair else "all runs"
    if found.lasso is not None:
        return "an infinite run was found and replayed; its loop closes and it violates the property"
    if not found.complete:
        return f"incomplete: the search ended after {found.cost.states} states"
    if memory.model == "sc":
        return f"{runs}: complete"
    if not found.refused:
        return f"{runs}, each store eventually committed, unbounded buffers: complete"
    stores = "pending store" if memory.bound == 1 else "pending stores"
    where = "a process and variable" if memory.per_variable else "a buffer"
    return f"{runs} with at most {memory.bound} {stores} {where}, each eventually committed: complete within this bound"


def _stats(cost: Cost) -> Stats:
    return Stats(cost.states, cost.transitions, cost.seconds, peak_megabytes(), (("state_bits", cost.state_bits),))
