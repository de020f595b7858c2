"""Persistence and trace-robustness, decided from SC exploration alone: is there a state that an attack starts from?"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol, assert_never

from memfence.engines.few_moving import LEAST_MOVING, small_searches
from memfence.engines.native.attacks import AttackKind, Attacks, AttackSearch, explore_attacks
from memfence.execution.trace import Trace
from memfence.models.buffering import Buffering
from memfence.models.spec import TSO, ModelSpec
from memfence.passes.flattening import can_be_flattened, distinct_processes, flatten
from memfence.passes.orders import for_hardware
from memfence.passes.shared_memory_form import other_communication
from memfence.passes.small_counters import has_counters, with_small_counters
from memfence.tasks.answer import Answer, Verdict
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import CounterexampleRun, Evidence, Limit, NoAttack, Overtakes, ScItself, Torn
from memfence.tasks.limits import Cost, Limits, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Keeps, Task

MOST_COUNTED = 3
FEW_MOVING = 250_000
"""SC states of all searches in which few processes move."""
SOON = 2.0
"""For each of the first searches of a program with counters: as it is, and with counters that stay small."""


class Explore(Protocol):
    """A search for the first attack: this machine's, or one that several machines share."""

    def __call__(self, search: AttackSearch, limits: Limits) -> Attacks: ...


def on_this_machine(search: AttackSearch, limits: Limits) -> Attacks:
    """What `AttackEngine` searches, unless told otherwise."""
    return search.explore(collect=False, limits=limits)


def from_every_state(search: AttackSearch, limits: Limits) -> Attacks:
    """The same, whatever the text shows: every state is visited."""
    return search.explore(collect=False, limits=limits, by_text=False)


class AttackEngine:
    """Persistence under TSO, robustness under TSO and PSO, for programs whose processes share memory only.

    What takes a few seconds at most is searched on this machine, whatever `explore` is; not so without `small_first`,
    but for programs with counters.
    """

    name = "sc attacks"

    def __init__(self, explore: Explore = on_this_machine, *, small_first: bool = True) -> None:
        self._explore = explore
        self._small_first = small_first

    def obstacle(self, task: Task) -> Obstacle | None:
        goal = task.goal
        if not isinstance(goal, Keeps) or goal.criterion not in (Criterion.PERSISTENT, Criterion.ROBUST):
            return Obstacle.OTHER_GOAL
        return Obstacle.OTHER_COMMUNICATION if other_communication(task.program) is not None else None

    def answer(self, task: Task) -> Answer:
        assert isinstance(task.goal, Keeps)
        if not task.spec.has_buffers:
            return Answer(Verdict.HOLDS, ScItself(), self.name, Cost())
        spent = Cost()
        if task.goal.flatten is not None and task.goal.criterion is Criterion.PERSISTENT:
            is_proved, spent = self._is_persistent_flattened(task, task.goal.flatten)
            if is_proved:
                return Answer(Verdict.HOLDS, NoAttack(task.goal.flatten), "sc attacks, flattened", spent)
        search = AttackSearch(task.program, attack_kind(task.goal.criterion, task.spec), task.reductions)
        if has_counters(task.program):
            soon = self._soon(task, search)
            spent += soon.cost
            if soon.is_conclusive or soon.is_interrupted:
                return soon.costing(spent)
        found, before = self._found(search, task.limits)
        return self._answered(found, spent + before)

    def _found(self, search: AttackSearch, limits: Limits) -> tuple[Attacks, Cost]:
        """The first attack, or that there is none; and what was spent on searches before the one that decides."""
        spent = Cost()
        has_groups = len(search.program.processes) > LEAST_MOVING
        if self._small_first and (has_groups or self._explore is not on_this_machine):
            for number, found in enumerate(small_searches(search, limits, collect=False, most_states=FEW_MOVING)):
                if found.attacks or (number == 0 and found.stop is not Stop.STATES):
                    return found, spent
                spent += found.cost
        return self._explore(search, limits), spent

    def _answered(self, found: Attacks, spent: Cost) -> Answer:
        verdict, evidence = judged(found, spent)
        visited = found.reachable if verdict is Verdict.HOLDS else None
        return Answer(verdict, evidence, self.name, spent + found.cost, visited=visited)

    def _soon(self, task: Task, search: AttackSearch) -> Answer:
        """What is found soon; where counters make walks long, perhaps an attack in which they stay small."""
        answer = self._answered(on_this_machine(search, task.within(timeout_seconds=SOON).limits), Cost())
        if answer.is_conclusive or answer.is_interrupted:
            return answer
        few = with_small_counters(task.program, MOST_COUNTED)
        limits = task.within(timeout_seconds=SOON).limits
        found = explore_attacks(few, search.kind, limits=limits, reductions=task.reductions)
        verdict, evidence = judged(found)
        if not isinstance(evidence, CounterexampleRun) or any(
            taken.failure is not None for taken in evidence.trace.steps
        ):
            return answer.costing(answer.cost + found.cost)
        steps = [taken.step for taken in evidence.trace.steps]
        run = replace(evidence, trace=Trace(task.program, evidence.trace.memory_model, evidence.trace.start, steps))
        return Answer(verdict, run, self.name, answer.cost + found.cost)

    def _is_persistent_flattened(self, task: Task, steps: int) -> tuple[bool, Cost]:
        """Whether the abstract programs of all processes are persistent, and what it took; False says nothing."""
        cost = Cost()
        program = for_hardware(task.program, TSO)
        if not can_be_flattened(program):
            return False, cost
        for process in distinct_processes(program):
            alone = flatten(program, process, steps)
            found, before = self._found(AttackSearch(alone, AttackKind.PERSISTENCE, task.reductions), task.limits)
            cost += before + found.cost
            if found.attacks or not found.complete:
                return False, cost
        return True, cost


def attack_kind(criterion: Criterion, model: ModelSpec) -> AttackKind:
    """The attack that decides the criterion; persistence is about TSO, and implied by robustness under SC and PSO."""
    if criterion is Criterion.PERSISTENT:
        return AttackKind.PERSISTENCE
    match model.buffering:
        case Buffering.NOWHERE | Buffering.PER_PROCESS:
            return AttackKind.ROBUSTNESS_TSO
        case Buffering.PER_VARIABLE:
            return AttackKind.ROBUSTNESS_PSO
        case _:
            assert_never(model.buffering)


def judged(found: Attacks, spent: Cost | None = None) -> tuple[Verdict, Evidence]:
    """The first attack as a run, else a proof or why there is none."""
    if found.attacks:
        attack = found.attacks[0]
        shown = Overtakes(attack.attacker, attack.delayed, attack.variable, attack.is_store, attack.is_one_step)
        return Verdict.VIOLATED, CounterexampleRun(found.trace(attack), shown)
    if found.complete:
        return Verdict.HOLDS, NoAttack(by_text=found.by_text)
    return Verdict.UNKNOWN, why_incomplete(found, spent)


def why_incomplete(found: Attacks, spent: Cost | None = None) -> Evidence:
    """What kept an exploration from deciding."""
    if found.stop is Stop.NOTHING_LEFT:
        return Torn(tuple(sorted({attack.attacker for attack in found.torn})))
    return Limit(found.stop, ((spent or Cost()) + found.cost).states, under_sc=True)
