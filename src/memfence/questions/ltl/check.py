"""Does every fair run satisfy a formula?

The negated formula becomes an automaton, its `GF b` conjuncts and all fairness become acceptance conditions, and the
core looks for a run of the product. Memory fairness (pending stores eventually commit) is always assumed, weak or
strong process fairness with `--fair` or `--strongly-fair`. LTL under TSO with buffers of any length is undecidable:
what is neither proved nor refuted is answered up to a bound, which the answer names.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.engines.native.emptiness import MOST_ATOMS, MOST_MARKS, marks_of
from memfence.models.fairness import Condition, Fairness, Recurring, memory_fairness, process_fairness
from memfence.models.spec import ModelSpec
from memfence.passes.ends import with_ends
from memfence.passes.unset_registers import with_first_values
from memfence.program.expressions import TRUE, Expr
from memfence.program.ir import Ends, Ltl, Program, Property, PropertyAutomaton, Temporal
from memfence.questions.ltl.automaton import Automaton, Edge
from memfence.questions.ltl.fairness import counterexample_obligation
from memfence.questions.ltl.formula import Atom, Formula, always, any_of, eventually, is_stutter_invariant
from memfence.questions.ltl.parser import Proposition, parse_formula
from memfence.questions.ltl.translate import translate
from memfence.questions.ltl.witness import check_lasso
from memfence.records import Record
from memfence.source import NOWHERE, SourceText, Span
from memfence.strategy.portfolio import LEAST_BOUND
from memfence.strategy.portfolio import decide as decide_task
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Lasso
from memfence.tasks.limits import Limits
from memfence.tasks.options import CheckOptions
from memfence.tasks.result import CheckResult, stats_of
from memfence.tasks.task import ALL_REDUCTIONS, BuchiEdge, NoAcceptedRun, Task


class Claim(Record):
    """What a counterexample is: a run that `automaton` accepts, with each of `recurring` again and again.

    `formula`: what it violates, over the same `atoms`; None for a property process. `program`: what they are about,
    where that is another one than was asked about.
    """

    stated: Temporal
    automaton: Automaton
    atoms: tuple[Expr, ...]
    recurring: tuple[Recurring, ...]
    formula: Formula | None
    span: Span
    program: Program | None = None


def claim_of_formula(stated: Ltl, program: Program, definitions: dict[str, str]) -> Claim:
    """The claim that refutes the formula."""
    text, option = stated.text, "--ltl" if stated.name == "ltl" else f"ltl {stated.name}"
    parsed = parse_formula(text, program, definitions, option)
    obligation = counterexample_obligation(parsed.formula, parsed.atoms)
    atoms = tuple(atom.expr for atom in parsed.atoms)
    span = SourceText(option, text).span(0, len(text))
    _limit_atoms(len(atoms), "predicates", span)
    recurring = obligation.conditions(parsed.atoms)
    return Claim(stated, translate(obligation.formula), atoms, recurring, parsed.formula, span)


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
    return Claim(automaton, plain, tuple(atoms), (), None, automaton.span)


def claim_of_ends(stated: Ends, program: Program) -> Claim:
    """The claim that some process never ends, though what happens by chance happens only so many times."""
    asked = with_ends(program)
    atoms = (Proposition("ended", asked.ended), Proposition("by chance", asked.by_chance))
    formula = any_of((eventually(always(Atom(0))), always(eventually(Atom(1)))))
    obligation = counterexample_obligation(formula, atoms)
    automaton = translate(obligation.formula)
    exprs = tuple(atom.expr for atom in atoms)
    return Claim(stated, automaton, exprs, obligation.conditions(atoms), formula, NOWHERE, asked.program)


def _limit_atoms(count: int, what: str, span: Span) -> None:
    if count > MOST_ATOMS:
        message = f"the property has {count} {what}; at most {MOST_ATOMS} are possible"
        raise InputError([Diagnostic(Code.TOO_LARGE, message, Label(span, "too many"))])


def check_ltl(program: Program, options: CheckOptions, properties: tuple[Temporal, ...]) -> CheckResult:
    """Check every one of the `properties`; the first that does not hold decides."""
    limits = options.started().limits
    model = bounded_model(options) if limits.cluster else model_asked(options)
    result: CheckResult | None = None
    for claim in claims_of(program, options, properties):
        fairness = options.fairness
        if isinstance(claim.stated, Ends) and fairness is Fairness.NONE:
            fairness = Fairness.WEAK
        asked, reductions = claim.program or program, frozenset(options.reduce)
        answer = decide(asked, claim, model, fairness=fairness, limits=limits, reductions=reductions)
        stats = stats_of(answer.cost, answer.counts)
        result = CheckResult(program, options.model, Criterion.SAFETY, (claim.stated,), answer, limits, stats)
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
            case Ltl():
                claims.append(claim_of_formula(stated, program, definitions))
            case PropertyAutomaton():
                claims.append(claim_of_automaton(stated))
            case Ends():
                claims.append(claim_of_ends(stated, program))
            case _:
                pass
    return tuple(claims)


def bounded_model(options: CheckOptions) -> ModelSpec:
    """TSO/var(k) for TSO, as in the paper, or TSO(k); PSO(k); SC as it is."""
    return options.spec.bounded(options.buffer_bound or LEAST_BOUND, per_variable=_is_per_variable(options))


def model_asked(options: CheckOptions) -> ModelSpec:
    """The same without a bound where none was given; it still says what bounds are about."""
    if options.buffer_bound is not None or not options.spec.has_buffers:
        return bounded_model(options)
    return replace(options.spec, per_variable=_is_per_variable(options))


def _is_per_variable(options: CheckOptions) -> bool:
    return options.bound_per == "variable" and not options.spec.reorders_stores


def fairness_of(program: Program, claim: Claim, model: ModelSpec, fairness: Fairness) -> tuple[Condition, ...]:
    """Every acceptance condition beside the automaton's: of the formula, the memory and the processes."""
    conditions: list[Condition] = [*claim.recurring, *memory_fairness(program, model.definition)]
    conditions += process_fairness(program, fairness)
    count = marks_of(claim.automaton.marks, conditions)
    if count > MOST_MARKS:
        what = f"the property and fairness make {count} acceptance conditions; at most {MOST_MARKS} are possible"
        hint = "leave out --fair, or use --model tso, which has one buffer a process"
        raise InputError([Diagnostic(Code.TOO_LARGE, what, Label(claim.span, "checked here"), hint=hint)])
    return tuple(conditions)


def decide(
    program: Program,
    claim: Claim,
    model: ModelSpec,
    *,
    fairness: Fairness = Fairness.NONE,
    limits: Limits,
    reductions: frozenset[str] = frozenset(ALL_REDUCTIONS),
) -> Answer:
    """Look for a fair counterexample; one that is found has been checked from its first state to its loop."""
    task = task_of(program, claim, model, fairness=fairness, limits=limits, reductions=reductions)
    answer = decide_task(task)
    if isinstance(answer.evidence, Lasso):
        conditions = task.goal.conditions if isinstance(task.goal, NoAcceptedRun) else ()
        check_lasso(answer.evidence, claim.atoms, conditions, formula=claim.formula, automaton=claim.automaton)
    return answer


def task_of(
    program: Program,
    claim: Claim,
    model: ModelSpec,
    *,
    fairness: Fairness,
    limits: Limits,
    reductions: frozenset[str] = frozenset(ALL_REDUCTIONS),
) -> Task:
    """The question whether there is a fair counterexample."""
    program = with_first_values(program, claim.atoms)
    conditions = fairness_of(program, claim, model, fairness)
    automaton = claim.automaton
    edges = tuple(
        tuple(BuchiEdge(e.target, e.positive, e.negative, e.marks) for e in leaving) for leaving in automaton.edges
    )
    stutters = claim.formula is not None and is_stutter_invariant(claim.formula)
    goal = NoAcceptedRun(edges, automaton.initial, automaton.marks, claim.atoms, conditions, stutters)
    return Task(program, model, goal, limits, reductions)
