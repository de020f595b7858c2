"""Minimum sets of fences: clauses, in one site of each of which every repair has a fence, each shown by a run.

Theorem 21: the run of a clause is possible in the program in which every site outside the clause has its fence, and it
is bad. Fences only remove runs, so every choice that leaves out the clause has a bad run, too. So no choice of sites
that is enough costs less than the cheapest one that meets all clauses, and that is found by a plain search.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import product
from math import prod

from memfence.certificates.checker.criteria import reached_under_sc, require_single_stores, without_buffers
from memfence.certificates.checker.question import Question
from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.checker.sc_trace import has_sc_trace
from memfence.certificates.checker.triangular import Marked, marks_after, race_of
from memfence.certificates.format.minimum import Clause, Site
from memfence.models.replay import Replayed, nth_start, replay
from memfence.models.spec import SC
from memfence.models.state import ProcessStep, State
from memfence.models.steps import set_at, successors
from memfence.program.expressions import At, BufferEmpty, Expr, Shared, walk
from memfence.program.facts.effects import op_expressions
from memfence.program.ir import Fence, Location, Lock, Program, Store, Transition
from memfence.program.orders import MemoryOrder
from memfence.records import Record

MOST_NODES = 200_000
"""Of the search for a cheaper choice. Clauses of real programs hardly overlap, and need a few hundred."""
MOST_ENDS = 100_000
"""Of places where the processes may stand at the end of a run, without some of the fences that they stand before."""


class Variant(Record):
    """The program with the fences of some sites only. `passing`: places before a fence, and where it leads to."""

    program: Program
    passing: Mapping[tuple[int, int], int]


def require_only_waiting(question: Question, criterion: str, sites: Sequence[Site]) -> None:
    """A fence makes its process wait, and nobody else sees it: what theorem 12 needs of the program.

    No step looks at where processes are, or at what is pending. A step that a site locks does the same without the
    lock, if its store is committed right behind it; a fence in the step would wait for the store.
    """
    processes = question.program.processes
    steps = [step for process in processes for step in process.transitions]
    is_committed = any(location.committed for process in processes for location in process.locations)
    if is_committed or any(isinstance(node, At | BufferEmpty) for step in steps for node in _nodes(step)):
        raise Refused(Condition.KIND, "steps look at where processes are, or at what is pending")
    lockable = [processes[p].transitions[t] for site in sites if site.kind == "locked" for p, t in site.places]
    holds_bus = any(isinstance(op, Lock) for step in steps for op in step.ops)
    if lockable and (holds_bus or criterion == "trf"):
        raise Refused(Condition.KIND, "sites lock steps")
    for step in lockable:
        stores = [op for op in step.ops if isinstance(op, Store)]
        is_seen = step.sync is not None or any(isinstance(node, Shared) for node in _nodes(step))
        is_odd = any(op.direct or op.order is not MemoryOrder.PLAIN for op in stores)
        if is_seen or is_odd or len(stores) > 1 or any(isinstance(op, Fence) for op in step.ops):
            raise Refused(Condition.KIND, "a site locks a step that does more than a plain store")


def _nodes(step: Transition) -> Iterator[Expr]:
    handed_over = () if step.sync is None else step.sync.values
    return (node for expr in (*handed_over, *(e for op in step.ops for e in op_expressions(op))) for node in walk(expr))


def variant(program: Program, sites: Sequence[Site], made: Set[int]) -> Variant:
    """`program`, which has the fences of the chosen sites, with those of the sites `made` instead."""
    fences: list[tuple[int, int]] = []
    for number, site in enumerate(sites):
        for p, t in site.places:
            process = program.processes[p]
            step, steps = process.transitions[t], process.transitions
            if site.kind == "locked":
                if step.locked != site.is_chosen:
                    raise Refused(Condition.KIND, "the chosen sites are not those that are locked")
                steps = set_at(steps, t, replace(step, locked=number in made))
            elif site.is_chosen:
                if not step.ops or step.locked or not all(isinstance(op, Fence) for op in step.ops):
                    raise Refused(Condition.KIND, "a chosen site has no fence")
                fences.append((p, t))
                steps = steps if number in made else set_at(steps, t, replace(step, ops=()))
            elif number in made:
                new = len(process.locations)
                fences.append((p, len(steps)))
                process = replace(process, locations=(*process.locations, Location("fence")))
                fence = Fence("mfence" if site.kind == "mfence" else "sfence")
                steps = (*set_at(steps, t, replace(step, target=new)), Transition(new, step.target, (fence,)))
            process = replace(process, transitions=steps)
            program = replace(program, processes=set_at(program.processes, p, process))
    all_steps = (program.processes[p].transitions[t] for p, t in fences)
    passing = {(p, step.source): step.target for (p, _), step in zip(fences, all_steps, strict=True)}
    return Variant(program, passing)


def check_clause(question: Question, criterion: str, sites: Sequence[Site], clause: Clause) -> int:
    """The run of the clause is bad with fences at all sites but its own: how many steps it has."""
    if criterion == "trf":
        question = replace(question, model=SC)  # whose runs have the races
    fenced = variant(question.program, sites, set(range(len(sites))) - clause.sites)
    try:
        first = nth_start(fenced.program, question.model.definition, clause.start)
    except IndexError:
        raise Refused(Condition.WITNESS, "there is no such initial state") from None
    run = replay(fenced.program, question.model.definition, first, clause.steps)
    if run.stop is not None:
        raise Refused(Condition.WITNESS, f"step {run.stop.position} of a clause: {run.stop.reason}")
    if not _is_bad(replace(question, program=fenced.program), criterion, run, fenced):
        raise Refused(Condition.WITNESS, "the run of a clause is not bad")
    return len(clause.steps)


def _is_bad(question: Question, criterion: str, run: Replayed, fenced: Variant) -> bool:
    has_failed = any(taken.failure is not None for taken in run.taken)
    match criterion:
        case "safety":
            return has_failed or all(_is_bad_state(question, end) for end in _ends(run.end, fenced))
        case "persistent" | "robust":
            return not has_failed and not has_sc_trace(question, run, by_values=criterion == "persistent")
        case "state-robust":
            if has_failed or not run.end.is_plain:
                return False
            ends = {without_buffers(end) for end in _ends(run.end, fenced)}
            return ends.isdisjoint(reached_under_sc(question.program))
        case "trf":
            return not has_failed and _ends_in_race(question.program, run)
        case _:
            return False


def _ends_in_race(program: Program, run: Replayed) -> bool:
    """Whether the run, one of SC that does not fail, leads to a pair that is a triangular race."""
    require_single_stores(program)
    pair: Marked = run.start, tuple(0 for _ in program.processes)
    for taken in run.taken:
        assert isinstance(taken.step, ProcessStep), "processes share memory only"
        pair = taken.state, marks_after(program, pair, taken.step)
    return race_of(program, pair) is not None


def _is_bad_state(question: Question, state: State) -> bool:
    has_step = any(True for _ in successors(question.program, question.model.definition, state))
    stuck = state.lock_owner is None and question.is_stuck(state, has_step=has_step)
    separated = any(any(own) and not any(entry for buffer in own for entry in buffer) for own in state.buffers)
    return stuck or (question.is_bad(state) and not separated) or question.refuted_final(state) is not None


def _ends(state: State, fenced: Variant) -> Iterator[State]:
    """The state, as it is without some of the fences that processes stand before: they are where these lead to."""
    places = [[at] for at in state.locations]
    for p, passed in enumerate(places):
        while (p, passed[-1]) in fenced.passing and fenced.passing[p, passed[-1]] not in passed:
            passed.append(fenced.passing[p, passed[-1]])
    if prod(map(len, places)) > MOST_ENDS:
        raise Refused(Condition.WITNESS, "processes stand before too many fences at the end of a run")
    return (replace(state, locations=locations) for locations in product(*places))


def check_bound(sites: Sequence[Site], clauses: Collection[Clause], *, by_price: bool) -> None:
    """No choice that meets all clauses costs less than the chosen one."""
    prices = [site.price if by_price else 1 for site in sites]
    chosen = sum(price for site, price in zip(sites, prices, strict=True) if site.is_chosen)
    if cheap_choice([clause.sites for clause in clauses], prices, chosen - 1) is not None:
        raise Refused(Condition.MINIMUM)


def cheap_choice(clauses: Sequence[Set[int]], prices: Sequence[int], money: int) -> Set[int] | None:
    """A choice of sites that meets all clauses and costs at most `money`; None: there is none."""
    waiting: list[tuple[Sequence[Set[int]], int, Set[int]]] = [(clauses, money, frozenset())]
    for _ in range(MOST_NODES):
        if not waiting:
            return None
        left, money, chosen = waiting.pop()
        if _least(left, prices) > money:
            continue
        if not left:
            return chosen
        for site in min((sorted(one) for one in left), key=len):
            waiting.append(([one for one in left if site not in one], money - prices[site], chosen | {site}))
            left = [one - {site} for one in left]  # from here on without this site
    raise Refused(Condition.MINIMUM, "there are too many choices to be sure")


def _least(clauses: Sequence[Set[int]], prices: Sequence[int]) -> int:
    """What the clauses cost at least: the cheapest sites of some that have no site in common."""
    met, least = set[int](), 0
    for clause in sorted(clauses, key=len):
        if not clause:
            return sum(prices) + 1  # nothing meets it
        if met.isdisjoint(clause):
            met |= clause
            least += min(prices[site] for site in clause)
    return least
