"""Which engines answer a safety question, and in which order (DESIGN 6, `auto`).

explicit   growing buffer bounds: shortest bugs first; a bound at which no store is refused is a proof.
shortcuts  a program that is persistent or robust reaches the same states with empty buffers as under SC, so that an SC
           search answers for unbounded buffers.
symbolic   unbounded buffers as automata; a proof if it ends.
dual       backward search over the dual semantics (TSO): always ends, given time.
control    each process alone, with loads that give anything: the bad locations may be out of reach whatever is read.

Small questions are decided within a fixed number of states: explicit first, then control flow, runs in which only two
processes move, dual and symbolic search (large programs may have small proofs), SC and the shortcuts. What is left is
searched by all of them side by side, the first conclusive answer winning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Literal

from memfence.engines.native.explicit import Bounded, Explored, FinalState, Question, explore
from memfence.execution.trace import Trace
from memfence.passes.shared_memory_form import other_communication
from memfence.program.expressions import BufferEmpty, Shared, walk
from memfence.program.ir import Program
from memfence.tasks.limits import CancelToken, Cost, Deadline, Limits, Stop, new_cancel
from memfence.tasks.options import CheckOptions

FIRST_BOUNDS = (1, 2, 3, 4, 6, 8)
SMALL_SEARCH = 100_000
"""States that the first, explicit attempt of `auto` may visit in each search."""
SMALL_PAIR = 50_000
"""States of each search in which only two processes move."""
SMALL_PROOF = 10_000
"""Symbolic states, or constraints of the dual semantics, that the attempts after it may use."""
SHORT = 3.0
"""Seconds that each of these attempts may take, where sets and constraints are large."""
SMALL_SC = 1_000_000
"""States under SC that may be visited to see whether SC decides, before all engines are used at once."""
SHORTEST_RUN = 2_000_000
"""States in which a shortest run is looked for, when the dual engine has found a longer one."""

Answer = Literal["found", "proved", "bounded", "unknown"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What the engines found. `proved`: complete for the model asked for; `bounded`: nothing within `bound`.

    `unknown` with nothing left to search: the question is outside the engine.
    """

    answer: Answer
    engine: str
    scope: str
    cost: Cost
    bound: int | None = None
    explored: Explored | None = None
    trace: Trace | None = None
    finding: str | None = None
    stop: Stop = Stop.NOTHING_LEFT
    final_states: tuple[FinalState, ...] = ()
    extra: tuple[tuple[str, int], ...] = ()

    @property
    def is_conclusive(self) -> bool:
        return self.answer in ("found", "proved")


def decide(program: Program, question: Question, options: CheckOptions, limits: Limits) -> Decision:
    """Answer `question` with the engine that `options` name."""
    deadline = Deadline(limits)
    if options.model == "sc":
        return _under_sc(program, question, options, deadline)
    match options.engine:
        case "explicit":
            return grow_bounds(program, question, options, deadline)
        case "symbolic":
            return search_symbolically(program, question, options, deadline)
        case "dual":
            return search_dually(program, question, options, deadline)
        case _:
            return _auto(program, question, options, deadline)


def _under_sc(program: Program, question: Question, options: CheckOptions, deadline: Deadline) -> Decision:
    """One search; a small one, where the control flow decides already."""
    proof = by_control_flow(program, question, options, deadline) if options.engine == "auto" else None
    limits = deadline.remaining() if proof is None else deadline.remaining(most_states=SMALL_SEARCH)
    explored = explore(program, Bounded("sc"), question, limits=limits, reductions=frozenset(options.reduce))
    decision = _explicit_decision(explored, explored.cost)
    if proof is None or decision.is_conclusive or decision.stop is Stop.CANCELLED:
        return decision
    return replace(proof, cost=decision.cost)


def by_control_flow(
    program: Program, question: Question, options: CheckOptions, deadline: Deadline, **changes: object
) -> Decision | None:
    """A proof, where each process for itself never comes to the locations that the question asks for."""
    from memfence.engines.unreachable import is_out_of_reach

    if not is_out_of_reach(program, question):
        return None
    scope = "unbounded buffers and loops: complete (out of reach of each process alone, whatever it reads)"
    if options.model == "sc":
        scope = "every run: complete (out of reach of each process alone, whatever it reads)"
    return Decision("proved", "control flow", scope, Cost())


def grow_bounds(
    program: Program, question: Question, options: CheckOptions, deadline: Deadline, **changes: object
) -> Decision:
    """Explicit search with the bound given, else with growing ones until something is found or nothing is refused."""
    bounds = FIRST_BOUNDS if options.buffer_bound is None else (options.buffer_bound,)
    cost = Cost()
    for bound in bounds:
        explored = explore(
            program,
            Bounded(options.model, bound),
            question,
            limits=deadline.remaining(**changes),
            reductions=frozenset(options.reduce),
        )
        cost += explored.cost
        if explored.stop is not Stop.NOTHING_LEFT or explored.refused == 0:
            break
    return _explicit_decision(explored, cost)


def _explicit_decision(explored: Explored, cost: Cost) -> Decision:
    bound = explored.memory.bound
    decision = Decision(
        "unknown",
        "explicit",
        _incomplete(cost),
        cost,
        explored=explored,
        final_states=explored.final_states,
        stop=explored.stop,
    )
    if explored.finding is not None:
        scope = "a run was found and replayed step by step"
        return replace(decision, answer="found", scope=scope, trace=explored.trace(), finding=explored.finding)
    if explored.stop is not Stop.NOTHING_LEFT:
        return decision
    if explored.refused:
        scope = f"only runs with at most {bound} pending stores a buffer: not a proof"
        return replace(decision, answer="bounded", scope=scope, bound=bound)
    if explored.memory.model == "sc":
        return replace(decision, answer="proved", scope="every run: complete")
    most = f"no run has more than {bound} pending store{'s' if bound > 1 else ''} a buffer"
    return replace(decision, answer="proved", scope=f"unbounded buffers and loops: complete ({most})")


def _incomplete(cost: Cost) -> str:
    return f"incomplete: the search ended after {cost.states} states"


def _outside(engine: str, reason: str) -> Decision:
    """No answer, and no limit that would change this: `stop` says that nothing is left to do."""
    return Decision("unknown", engine, f"the question is outside the {engine} engine: {reason}", Cost())


def search_symbolically(
    program: Program, question: Question, options: CheckOptions, deadline: Deadline, **changes: object
) -> Decision:
    """Unbounded buffers as automata; a finding is made concrete."""
    from memfence.engines.bounded_witness import find_concrete
    from memfence.engines.native.symbolic import explore_symbolic

    assert options.model != "sc"
    if question.final_values:
        return _outside("symbolic", "it does not list final states")
    reductions = frozenset(options.reduce)
    found = explore_symbolic(
        program, options.model, question, limits=deadline.remaining(**changes), reductions=reductions
    )
    statistics = found.statistics
    extra = (
        ("symbolic_states", statistics.stored),
        ("automata", statistics.automata),
        ("largest_automaton", statistics.largest_automaton),
        ("accelerations", statistics.accelerations),
    )
    if found.found:
        until_found = deadline.remaining(**{**changes, "most_states": 0, "timeout_seconds": None})
        trace = find_concrete(program, options.model, question, limits=until_found, reductions=reductions)
        if trace is None:
            scope = "an error is reachable, but a limit was hit before a run to it was found"
            return Decision("unknown", "symbolic", scope, found.cost, stop=Stop.TIMEOUT, extra=extra)
        scope = "found with unbounded buffers; the run was replayed step by step"
        return Decision("found", "symbolic", scope, found.cost, trace=trace, finding=found.finding, extra=extra)
    if found.complete:
        scope = "unbounded buffers and loops: complete (buffers as automata)"
        return Decision("proved", "symbolic", scope, found.cost, extra=extra)
    if found.stop is Stop.NOTHING_LEFT:  # and yet not decided
        outside = _outside("symbolic", "steps that look at a buffer, and deadlocks beside a bus lock, are not modelled")
        return replace(outside, cost=found.cost, extra=extra)
    return Decision("unknown", "symbolic", _incomplete(found.cost), found.cost, stop=found.stop, extra=extra)


def search_dually(
    program: Program, question: Question, options: CheckOptions, deadline: Deadline, **changes: object
) -> Decision:
    """Backward search over the dual semantics: TSO only, properties of locations and registers only."""
    from memfence.engines.bounded_witness import find_concrete
    from memfence.engines.native.dual import explore_dual, unsupported

    obstacle = unsupported(program, question) if options.model == "tso" else "it is about TSO only"
    if obstacle is not None:
        return _outside("dual", obstacle)
    reductions = frozenset(options.reduce)
    found = explore_dual(program, question, limits=deadline.remaining(**changes), reductions=reductions)
    if found.found:
        shortest = deadline.remaining(**{**changes, "most_states": SHORTEST_RUN, "timeout_seconds": None})
        trace = find_concrete(program, "tso", question, limits=shortest, reductions=reductions)
        scope = "found by backward search; the run was replayed step by step"
        if trace is None:
            trace = found.trace()
            scope += "; there may be a shorter one"
        return Decision("found", "dual", scope, found.cost, trace=trace, finding=found.finding)
    if found.complete:
        scope = "unbounded buffers and loops: complete (backward search over the dual semantics)"
        return Decision("proved", "dual", scope, found.cost)
    return Decision("unknown", "dual", _incomplete(found.cost), found.cost, stop=found.stop)


def _auto(program: Program, question: Question, options: CheckOptions, deadline: Deadline) -> Decision:
    first = grow_bounds(program, question, options, deadline, most_states=SMALL_SEARCH)
    is_over = first.stop is Stop.CANCELLED or (options.buffer_bound is not None and first.stop is Stop.NOTHING_LEFT)
    if first.is_conclusive or deadline.passed or is_over:
        return first
    best = first
    for attempt in (by_control_flow, _few_processes, _small_proof, _small_shortcut, _side_by_side):
        decision = attempt(program, question, options, deadline)
        if decision is None:
            continue
        if decision.is_conclusive or decision.stop is Stop.CANCELLED:
            return replace(decision, cost=decision.cost + first.cost)
        if best.answer != "bounded" or (decision.answer == "bounded" and (decision.bound or 0) > (best.bound or 0)):
            best = decision
        if deadline.passed:
            return best
    return best


def _few_processes(program: Program, question: Question, options: CheckOptions, deadline: Deadline) -> Decision | None:
    """Runs of two processes, the others at rest."""
    from memfence.strategy.two_processes import explore_pairs, in_whole

    assert options.model != "sc"
    if options.buffer_bound is not None:
        return None
    reductions = frozenset(options.reduce)
    found, cost = explore_pairs(
        program, options.model, question, deadline=deadline, most_states=SMALL_PAIR, reductions=reductions
    )
    if found is None:
        return None
    if found.finding is None:
        return Decision("unknown", "explicit", _incomplete(cost), cost, stop=found.stop)
    scope = "a run of two processes was found and replayed step by step; there may be a shorter one of more"
    return Decision("found", "explicit", scope, cost, trace=in_whole(program, found), finding=found.finding)


def _small_proof(program: Program, question: Question, options: CheckOptions, deadline: Deadline) -> Decision | None:
    """The dual and the symbolic engine, given little."""
    for search in (search_dually, search_symbolically):
        decision = search(program, question, options, deadline, most_states=SMALL_PROOF, timeout_seconds=SHORT)
        if decision.is_conclusive or decision.stop is Stop.CANCELLED:
            return decision
    return None


def _small_shortcut(program: Program, question: Question, options: CheckOptions, deadline: Deadline) -> Decision | None:
    decision = prove_by_shortcut(program, question, options, deadline, most_states=SMALL_SC)
    return decision if decision.is_conclusive or decision.stop is Stop.CANCELLED else None


def prove_by_shortcut(
    program: Program, question: Question, options: CheckOptions, deadline: Deadline, **changes: object
) -> Decision:
    """SC decides, if the program is persistent or robust and the question is about states with empty buffers."""
    from memfence.engines.native.attacks import AttackKind, explore_attacks
    from memfence.execution.buffered_run import with_store_buffers

    nothing = Decision("unknown", "sc", "SC does not decide the question", Cost(), stop=Stop.STATES)
    beside_memory = other_communication(program) is not None
    if question.final_values or beside_memory or not speaks_of_plain_states(question):
        return nothing
    under_sc = explore(
        program, Bounded("sc"), question, limits=deadline.remaining(**changes), reductions=frozenset(options.reduce)
    )
    if under_sc.finding is not None:  # not the memory model's fault, and a run of the relaxed model as well
        run = with_store_buffers(under_sc.trace(), options.model)
        scope = "a run was found under SC already, and replayed step by step"
        return Decision("found", "sc", scope, under_sc.cost, trace=run, finding=under_sc.finding)
    if not under_sc.complete:
        return replace(nothing, stop=under_sc.stop, cost=under_sc.cost)
    kinds: tuple[AttackKind, ...] = ("persistence", "tso") if options.model == "tso" else ("pso",)
    names = {"persistence": "persistent", "tso": "trace-robust", "pso": "trace-robust"}
    for kind in kinds:
        decided = explore_attacks(program, kind, limits=deadline.remaining(**changes))
        if decided.complete and not decided.attacks:
            scope = f"unbounded buffers and loops: complete (the program is {names[kind]}, and SC-safe)"
            cost = under_sc.cost + decided.cost
            return Decision("proved", f"sc + {kind}", scope, cost)
        if decided.stop is Stop.CANCELLED:
            return replace(nothing, stop=decided.stop, cost=under_sc.cost + decided.cost)
    return nothing


def speaks_of_plain_states(question: Question) -> bool:
    """Whether the answer is the same for all states as for those with empty buffers.

    Draining the buffers changes memory only: locations and registers stay, and so do failures, deadlocks, final states.
    """
    if question.bad is None:
        return True
    return not any(isinstance(node, Shared | BufferEmpty) for node in walk(question.bad))


def _side_by_side(program: Program, question: Question, options: CheckOptions, deadline: Deadline) -> Decision:
    """All engines, a thread and an equal part of the memory each; the first conclusive answer ends the others."""
    searches: tuple[Callable[..., Decision], ...] = (
        grow_bounds,
        search_symbolically,
        search_dually,
        prove_by_shortcut,
    )
    cancels = [new_cancel() for _ in searches]
    progress = (deadline.limits.progress, *(None for _ in searches[1:]))
    part = deadline.limits.part(len(searches))
    with ThreadPoolExecutor(len(searches)) as pool:
        futures: list[Future[Decision]] = [
            pool.submit(
                search, program, question, options, deadline, cancel=cancel, progress=report, memory_megabytes=part
            )
            for search, cancel, report in zip(searches, cancels, progress, strict=True)
        ]
        try:
            decisions = list(_as_decided(futures, cancels))
        except KeyboardInterrupt:
            for cancel in cancels:
                cancel.cancel()
            raise
    conclusive = [d for d in decisions if d.is_conclusive]
    bounded = [d for d in decisions if d.answer == "bounded"]
    return (conclusive or bounded or [futures[0].result()])[0]


def _as_decided(futures: list[Future[Decision]], cancels: list[CancelToken]) -> Iterator[Decision]:
    waiting = set(futures)
    while waiting:
        done, waiting = wait(waiting, timeout=0.2, return_when=FIRST_COMPLETED)
        for future in done:
            decision = future.result()
            yield decision
            if decision.is_conclusive:
                for cancel in cancels:
                    cancel.cancel()
