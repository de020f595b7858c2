"""The criteria that SC exploration alone decides: attacks (persistence, robustness) and races, with their runs.

An attack becomes a real run of the relaxed model: SC to the state where the attack starts, every store committing at
once; then the attacker, its stores staying in its buffer; then the others, under SC again; last the attacker's buffer
drains. The reference model replays it (the persistence paper's Witness, and the run behind a happens-before cycle).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memfence import _core
from memfence.engines.encode import Encoded, encode
from memfence.engines.engine import Cost, Limits, Stop
from memfence.engines.explicit import Bounded, cost_of, decode_step
from memfence.engines.trace import Trace, UnreplayableWitness
from memfence.engines.witness import original_steps
from memfence.models import MemoryModel, memory_model
from memfence.models.state import Commit, Failure, Run, State, Step
from memfence.models.steps import take
from memfence.program.ir import Load, Program, Store, is_local
from memfence.program.passes.observed import observed_by
from memfence.program.passes.reductions import reduce

AttackKind = Literal["persistence", "tso", "pso"]
_ATTACKS: dict[AttackKind, int] = {"persistence": 0, "tso": 1, "pso": 2}
SAFE_REDUCTIONS = frozenset({"dead", "fuse"})
"""Those that keep every access an event of its own."""


@dataclass(frozen=True, slots=True)
class Attack:
    """The attacker delays a store to `delayed`; its later access of `variable` takes effect first.

    `crossed`: the attacker's transitions behind each of which a fence would stop this attack. `is_store`: the access
    that takes effect early is a store (PSO), so an `sfence` would do.
    """

    attacker: int
    delayed: int
    variable: int
    is_store: bool
    crossed: frozenset[int]
    _native: _core.Attack


@dataclass(frozen=True, slots=True)
class Race:
    """Two processes about to access `variable`; `unfenced` is the variable of the store that makes it triangular."""

    process: int
    other: int
    variable: int
    unfenced: int | None
    _native: _core.Race


@dataclass(frozen=True, slots=True)
class Decided:
    """The outcome of one SC exploration: what was found, and whether everything was seen."""

    program: Program
    stop: Stop
    cost: Cost
    attacks: tuple[Attack, ...]
    race: Race | None
    chain_nodes: int
    _result: _core.CriterionResult
    _encoded: Encoded

    @property
    def complete(self) -> bool:
        return self.stop is Stop.NOTHING_LEFT

    def attack_trace(self, attack: Attack, model: Literal["tso", "pso"]) -> Trace:
        """The run of the relaxed model that the attack stands for."""
        return _AttackRun(self, attack, memory_model(model)).trace()

    def race_trace(self) -> Trace:
        """An SC run to the state where the two accesses race."""
        assert self.race is not None
        return Trace(self.program, memory_model("sc"), *self.sc_run(self.race._native.state))

    def sc_run(self, index: int) -> tuple[State, tuple[Step, ...]]:
        """Start and steps of an SC run of the loaded program to a state of the exploration."""
        start, path, _ = self._result.exploration.path(index, [])
        steps = [decode_step(self._encoded, Bounded("sc"), step) for step in path]
        return original_steps(self.program, self._encoded.program, memory_model("sc"), start, steps)


def explore_attacks(
    program: Program,
    kind: AttackKind,
    *,
    collect: bool = False,
    limits: Limits | None = None,
    reductions: frozenset[str] = SAFE_REDUCTIONS,
) -> Decided:
    """Look for attacks from every SC-reachable state: the first one, or with `collect` one for each distinct clause."""
    limits = limits or Limits()
    encoded = _encode(program, reductions)
    result = _core.explore_attacks(encoded.machine, _ATTACKS[kind], collect, limits.threads, **limits.for_core())
    return _decided(program, encoded, result)


def explore_races(
    program: Program,
    *,
    triangular: bool,
    limits: Limits | None = None,
    reductions: frozenset[str] = SAFE_REDUCTIONS,
) -> Decided:
    """Look for a data race, or a triangular one, in every SC-reachable state."""
    limits = limits or Limits()
    encoded = _encode(program, reductions)
    result = _core.explore_races(encoded.machine, triangular, limits.threads, **limits.for_core())
    return _decided(program, encoded, result)


def _encode(program: Program, reductions: frozenset[str]) -> Encoded:
    observed = observed_by(program, (), accesses=True)
    reduced = reduce(program, observed, reductions & SAFE_REDUCTIONS, model="sc")
    return encode(reduced, loaded=program)


def _decided(program: Program, encoded: Encoded, result: _core.CriterionResult) -> Decided:
    attacks = tuple(
        Attack(a.attacker, a.delayed, a.variable, a.is_store, frozenset(a.crossed), a) for a in result.attacks
    )
    native = result.race
    race = None
    if native is not None:
        unfenced = native.unfenced if native.unfenced >= 0 else None
        race = Race(native.process, native.other_process, native.variable, unfenced, native)
    stop = Stop(result.exploration.stop)
    cost = cost_of(result.exploration.stats)
    return Decided(program, stop, cost, attacks, race, result.chain_nodes, result, encoded)


class _AttackRun:
    """Builds the run of the relaxed model step by step, so that every step is known to be possible."""

    def __init__(self, decided: Decided, attack: Attack, model: MemoryModel) -> None:
        self.decided = decided
        self.attack = attack
        self.model = model
        self.program = decided.program
        self.start, self.prefix = decided.sc_run(attack._native.state)
        self.steps: list[Step] = []
        self.state = self._relaxed(self.start)

    def trace(self) -> Trace:
        for step in self.prefix:
            self.take(step)
            self.drain_all()
        self.walk()
        for edge, completed in self.helper_steps():
            for step in self.parts(edge, completed):
                self.take(step)
                self.drain_all(but=self.attack.attacker)
        self.drain_all()
        return Trace(self.program, self.model, self._relaxed(self.start), self.steps)

    def walk(self) -> None:
        """The attacker alone: its stores stay pending, but for those that the attack lets reach memory."""
        native, attacker = self.attack._native, self.attack.attacker
        *whole, last = native.edges
        for edge in whole:
            for step in self.parts(edge, True):
                self.take(step)
                self.commit_what_may_pass()
        origin = self.decided._encoded.origin_of(last)
        for number in origin:
            self.take(Run(attacker, number))
            self.commit_what_may_pass()
            if self.has_end_event(number):
                return

    def has_end_event(self, number: int) -> bool:
        """Whether the transition is the one in whose accesses the attack ends: the first that touches memory."""
        ops = self.program.processes[self.attack.attacker].transitions[number].ops
        return any(isinstance(op, Load | Store) for op in ops)

    def commit_what_may_pass(self) -> None:
        """Under PSO, stores to other variables than the delayed one reach memory at once."""
        if self.model.name != "pso":
            return
        attacker = self.attack.attacker
        for step, after in self.model.background(self.program, self.state, attacker):
            if isinstance(step, Commit):
                head = self.state.buffers[attacker][step.buffer][0]
                if head is not None and head[0] != self.attack.delayed:
                    self.steps.append(step)
                    self.state = after
                    self.commit_what_may_pass()
                    return

    def helper_steps(self) -> list[tuple[int, bool]]:
        native = self.attack._native
        return [(native.closing, False)] if native.closing >= 0 else list(native.helpers)

    def parts(self, edge: int, completed: bool) -> Iterator[Step]:
        """The loaded program's transitions behind an edge; without `completed`, to the last that touches memory."""
        step = self.decided._encoded.edges[edge]
        assert isinstance(step, Run)
        origin = self.decided._encoded.origin_of(edge)
        if not completed:
            transitions = self.program.processes[step.process].transitions
            touching = [i for i, n in enumerate(origin) if any(not is_local(op) for op in transitions[n].ops)]
            origin = origin[: touching[-1] + 1] if touching else origin[:1]
        for number in origin:
            yield Run(step.process, number)

    def take(self, step: Step) -> None:
        after = take(self.program, self.model, self.state, step)
        if after is None:
            raise UnreplayableWitness(f"{step} is not possible under {self.model.name}")
        self.steps.append(step)
        if not isinstance(after, Failure):
            self.state = after

    def drain_all(self, but: int | None = None) -> None:
        """Commit everything that is pending, except for process `but`."""
        for process in range(len(self.program.processes)):
            while process != but and any(self.state.buffers[process]):
                step, self.state = next(iter(self.model.background(self.program, self.state, process)))
                self.steps.append(step)

    def _relaxed(self, state: State) -> State:
        return State(
            state.locations, state.registers, state.memory, self.model.empty_buffers(self.program), state.lock_owner
        )
