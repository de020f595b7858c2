"""SC answers for unbounded buffers, where the program is persistent or robust.

Such a program reaches the same states with empty buffers as under SC: it is state-robust, and an SC search answers
every question about such states.
"""

from __future__ import annotations

from collections.abc import Iterator

from memfence.engines.attacks import attack_kind
from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.engines.native.explicit import Explored, explore
from memfence.execution.buffered_run import with_store_buffers
from memfence.models.spec import SC
from memfence.passes.lock_regions import has_lock_regions
from memfence.passes.shared_memory_form import other_communication
from memfence.program.expressions import Binary, BufferEmpty, Expr, Shared, walk
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import CounterexampleRun, Implied, Limit, Route
from memfence.tasks.implications import attackable
from memfence.tasks.limits import Cost, Stop
from memfence.tasks.obstacle import Obstacle, unless_unbounded
from memfence.tasks.task import Keeps, Safety, Task

_SC = "sc"
"""What such an answer is called: the search was one of SC."""
_LABELS = {
    AttackKind.PERSISTENCE: "sc + persistence",
    AttackKind.ROBUSTNESS_TSO: "sc + tso",
    AttackKind.ROBUSTNESS_PSO: "sc + pso",
}


class ImpliedEngine:
    """Safety and what is weaker, where a criterion that SC exploration decides implies the answer."""

    name = "implied"

    def obstacle(self, task: Task) -> Obstacle | None:
        if (obstacle := unless_unbounded(task.spec)) is not None:
            return obstacle
        if other_communication(task.program) is not None or has_lock_regions(task.program):
            return Obstacle.OTHER_COMMUNICATION
        match task.goal:
            case Safety(final_values=values) if values:
                return Obstacle.LISTS_FINAL_STATES
            case Safety() as goal:
                return None if speaks_of_plain_states(goal, len(task.program.processes)) else Obstacle.LOOKS_AT_MEMORY
            case Keeps(Criterion.STATE_ROBUST):
                return None
            case Keeps(Criterion.POVSO | Criterion.PO):
                return Obstacle.ONLY_TSO if task.spec.reorders_stores else None
            case _:
                return Obstacle.OTHER_GOAL

    def answer(self, task: Task) -> Answer:
        if not isinstance(task.goal, Safety):
            return self._implied(task, Cost())
        under_sc = explore(task.program, SC, task.goal, limits=task.limits, reductions=task.reductions)
        if under_sc.finding is not None:  # not the memory model's fault, and a run of the relaxed model as well
            return Answer(Verdict.VIOLATED, _run(task, under_sc), _SC, under_sc.cost)
        if not under_sc.complete:
            limit = Limit(under_sc.stop, under_sc.cost.states, under_sc=True)
            return Answer(Verdict.UNKNOWN, limit, _SC, under_sc.cost)
        return self._implied(task, under_sc.cost)

    def _implied(self, task: Task, cost: Cost) -> Answer:
        """HOLDS, where a stronger criterion does; SC has the same answer already."""
        is_safety = isinstance(task.goal, Safety)
        wanted = task.goal.criterion if isinstance(task.goal, Keeps) else Criterion.STATE_ROBUST
        for requirement in attackable(task.program, task.spec, wanted):
            kind = attack_kind(requirement.criterion, requirement.model)
            found = explore_attacks(task.program, kind, limits=task.limits, reductions=task.reductions)
            cost += found.cost
            if found.complete and not found.attacks:
                evidence = Implied(requirement.criterion, under_sc=is_safety)
                return Answer(Verdict.HOLDS, evidence, _LABELS[kind] if is_safety else "sc attacks", cost)
            if found.stop is Stop.CANCELLED:
                break
        stop = Stop.CANCELLED if found.stop is Stop.CANCELLED else Stop.STATES
        return Answer(Verdict.UNKNOWN, Limit(stop, cost.states, under_sc=True), _SC, cost)


def _run(task: Task, under_sc: Explored) -> CounterexampleRun:
    assert under_sc.finding is not None
    return CounterexampleRun(with_store_buffers(under_sc.trace(), task.spec), under_sc.finding, Route.UNDER_SC)


def speaks_of_plain_states(goal: Safety, processes: int) -> bool:
    """Whether the answer is the same for all states as for those with empty buffers.

    Draining the buffers changes memory only: locations and registers stay, and so do failures, deadlocks, final states.
    """
    if goal.bad is None:
        return True
    return all(_is_plain(part, processes) for part in _parts("||", goal.bad))


def _is_plain(bad: Expr, processes: int) -> bool:
    """Whether `bad` says that nothing is pending, or looks at neither memory nor buffers."""
    empty = {part.process for part in _parts("&&", bad) if isinstance(part, BufferEmpty)}
    return len(empty) == processes or not any(isinstance(node, Shared | BufferEmpty) for node in walk(bad))


def _parts(op: str, expr: Expr) -> Iterator[Expr]:
    if isinstance(expr, Binary) and expr.op == op:
        yield from _parts(op, expr.left)
        yield from _parts(op, expr.right)
    else:
        yield expr
