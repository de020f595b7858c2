"""The criteria that SC exploration alone decides: attacks (persistence, robustness) and races, with their runs.

An attack becomes a real run of the relaxed model: SC to the state where the attack starts, every store committing at
once; then the attacker, its stores staying in its buffer; then the others, under SC again, maybe several times in turn;
last the attacker's buffer drains. The reference model replays it (the persistence paper's Witness, and the run behind a
happens-before cycle). Where the program under test fails on the way (an assertion), the run ends there: nothing can
follow a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from memfence import _core
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.explicit import Bounded, cost_of, decode_step
from memfence.engines.native.unreduce import original_steps
from memfence.execution.store_order import is_order_of_an_sc_run
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models import MemoryModel, memory_model
from memfence.models.accesses import AccessKind, accesses
from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.models.state import Commit, DropSeparator, Failure, Run, State, Step
from memfence.models.steps import take
from memfence.passes.orders import for_hardware
from memfence.passes.reductions import reduce
from memfence.program.facts.effects import accesses_memory
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Program, Transition
from memfence.tasks.limits import Cost, Limits, Stop

_PENDING: AccessKind = "pending store"
AttackKind = Literal["persistence", "tso", "pso"]
_ATTACKS: dict[AttackKind, int] = {"persistence": 0, "tso": 1, "pso": 2}
_HARDWARE: dict[AttackKind, ModelSpec] = {"persistence": TSO, "tso": TSO, "pso": PSO}
"""The model whose stores are delayed: the attack is found under SC, but made there."""
SAFE_REDUCTIONS = frozenset({"dead", "fuse"})
"""Those that keep every access an event of its own."""


@dataclass(frozen=True, slots=True)
class Attack:
    """The attacker delays a store to `delayed`; its access of `variable` takes effect first.

    `crossed`: the attacker's transitions behind each of which an `mfence` would stop this attack; `separable`: those of
    them behind which, under PSO, an `sfence` would do. `walk`: all transitions from the delayed store to the one with
    the access; locking any of them stops the attack, too. Where the delayed store and the access belong to the same
    step, nothing is crossed: no fence helps.
    """

    attacker: int
    delayed: int
    variable: int
    is_store: bool
    crossed: frozenset[int]
    separable: frozenset[int]
    walk: tuple[int, ...]
    _native: _core.Attack

    @property
    def is_one_step(self) -> bool:
        """Whether the access is part of the step that makes the delayed store."""
        return not self.crossed


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
    """The outcome of one SC exploration: what was found, and whether everything was seen.

    `torn`: steps with several stores that another process may see half-way, though the run found has the order of an
    SC run. Other runs to the same state may not have it, so that nothing is decided.
    """

    program: Program
    stop: Stop
    cost: Cost
    attacks: tuple[Attack, ...]
    race: Race | None
    chain_nodes: int
    _result: _core.CriterionResult
    _encoded: Encoded
    torn: tuple[Attack, ...] = ()

    @property
    def complete(self) -> bool:
        return self.stop is Stop.NOTHING_LEFT and not self.torn

    @property
    def incompleteness(self) -> str:
        """Why nothing is proved, where the search is not complete."""
        if self.torn and self.stop is Stop.NOTHING_LEFT:
            names = sorted({self.program.processes[attack.attacker].name for attack in self.torn})
            return f"undecided: a step of {', '.join(names)} with several stores may be seen half-way"
        return f"incomplete: the search ended after {self.cost.states} SC states"

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
    decided = _search(program, kind, collect, limits or Limits(), reductions)
    if kind != "persistence":
        return decided
    decided = _without_sc_orders(decided)
    if not decided.torn or decided.stop in (Stop.CANCELLED, Stop.TIMEOUT, Stop.MEMORY):
        return decided
    # A torn step ended the search for this process, but it was none: go through all of them.
    every = _search(program, kind, True, limits or Limits(), reductions, every_torn=True)
    return _without_sc_orders(every)


def _search(
    program: Program,
    kind: AttackKind,
    collect: bool,
    limits: Limits,
    reductions: frozenset[str],
    every_torn: bool = False,
) -> Decided:
    encoded = _encode(for_hardware(program, _HARDWARE[kind]), reductions)
    result = _core.explore_attacks(
        encoded.machine, _ATTACKS[kind], collect, every_torn, limits.threads, **limits.for_core()
    )
    return _decided(program, encoded, result)


def _without_sc_orders(decided: Decided) -> Decided:
    """The attacks but for torn steps whose run has the order of an SC run after all.

    One torn step of a process that has not is enough.
    """
    attacks: list[Attack] = []
    torn: list[Attack] = []
    for attack in decided.attacks:
        if not attack.is_one_step:
            attacks.append(attack)
        elif any(known.is_one_step and known.attacker == attack.attacker for known in attacks):
            continue
        elif is_order_of_an_sc_run(decided.attack_trace(attack, "tso")):
            torn.append(attack)
        else:
            attacks.append(attack)
    stopped = {known.attacker for known in attacks if known.is_one_step}
    undecided = tuple(attack for attack in torn if attack.attacker not in stopped)
    return replace(decided, attacks=tuple(attacks), torn=undecided)


def explore_races(
    program: Program,
    *,
    triangular: bool,
    limits: Limits | None = None,
    reductions: frozenset[str] = SAFE_REDUCTIONS,
) -> Decided:
    """Look for a data race, or a triangular one, in every SC-reachable state; orders are read as under TSO."""
    limits = limits or Limits()
    encoded = _encode(for_hardware(program, TSO), reductions)
    result = _core.explore_races(encoded.machine, triangular, limits.threads, **limits.for_core())
    return _decided(program, encoded, result)


def _encode(program: Program, reductions: frozenset[str]) -> Encoded:
    observed = observed_by(program, (), accesses=True, fences=False)
    reduced = reduce(program, observed, reductions & SAFE_REDUCTIONS, model="sc")
    return encode(reduced, loaded=program)


def _decided(program: Program, encoded: Encoded, result: _core.CriterionResult) -> Decided:
    attacks = tuple(_attack(program, encoded, native) for native in result.attacks)
    native = result.race
    race = None
    if native is not None:
        unfenced = native.unfenced if native.unfenced >= 0 else None
        race = Race(native.process, native.other_process, native.variable, unfenced, native)
    stop = Stop(result.exploration.stop)
    cost = cost_of(result.exploration.stats)
    return Decided(program, stop, cost, attacks, race, result.chain_nodes, result, encoded)


def _attack(program: Program, encoded: Encoded, native: _core.Attack) -> Attack:
    variable, is_store = next((a for a in native.accesses if a[0] != native.delayed), native.accesses[0])
    transitions = program.processes[native.attacker].transitions
    *whole, last = (encoded.origin_of(edge) for edge in native.edges)
    return Attack(
        native.attacker,
        native.delayed,
        variable,
        is_store,
        frozenset(native.crossed),
        frozenset(native.separable),
        (*(number for origin in whole for number in origin), *_to_access(transitions, last)),
        native,
    )


def _to_access(transitions: tuple[Transition, ...], origin: tuple[int, ...]) -> tuple[int, ...]:
    """The transitions behind an edge up to the one that touches memory; only the first of them if none does."""
    touching = [i for i, n in enumerate(origin) if any(map(accesses_memory, transitions[n].ops))]
    return origin[: touching[-1] + 1] if touching else origin[:1]


class _AttackRun:
    """Builds the run of the relaxed model step by step, so that every step is known to be possible."""

    def __init__(self, decided: Decided, attack: Attack, model: MemoryModel) -> None:
        self.decided = decided
        self.attack = attack
        self.model = model
        self.program = decided.program
        self.start, self.prefix = decided.sc_run(attack._native.state)
        self.steps: list[Step] = []
        self.has_failed = False
        self.state = self._relaxed(self.start)

    def trace(self) -> Trace:
        for step in self.prefix:
            self.take(step)
            self.drain_all()
        native = self.attack._native
        if native.is_helper_first:
            self.help(native.helpers, drain=False)
        walked = 0
        for until, helpers in native.intervals:
            self.walk(walked, until)
            self.help(helpers, drain=True)
            walked = until
        self.walk(walked, len(native.edges))
        if native.is_helper_first:
            self.drain_all(but=self.attack.attacker)
        else:
            self.help(native.helpers, drain=True)
        self.drain_all()
        return Trace(self.program, self.model, self._relaxed(self.start), self.steps)

    def walk(self, first: int, end: int) -> None:
        """The attacker alone: its stores stay pending, but for those that the attack lets reach memory."""
        native = self.attack._native
        for position, edge in list(enumerate(native.edges))[first:end]:
            is_separated = 0 <= native.separated_at <= position
            for step in self.parts(edge, completed=position + 1 < len(native.edges)):
                before = self.state
                self.take(step)
                if position == 0:
                    self.commit_early(before, step)
                if self.model.name == "pso" and not is_separated:
                    self.commit_what_may_pass()

    def commit_early(self, before: State, step: Run) -> None:
        """Commit those stores of the first step that the attack does not delay, and what separates them from others."""
        stored = [a.variable for a in accesses(self.program, self.model, before, step) if a.kind == _PENDING]
        self.drop_separators()
        for variable in stored[: self.attack._native.early]:
            self.commit(variable)
            self.drop_separators()

    def drop_separators(self) -> None:
        """Let the separators leave that nothing is pending before: they were issued ahead of the delayed store."""
        for step, after in self.model.background(self.program, self.state, self.attack.attacker):
            if isinstance(step, DropSeparator) and not self.has_failed:
                self.steps.append(step)
                self.state = after
                self.drop_separators()
                return

    def commit(self, variable: int) -> None:
        """Commit the attacker's oldest pending store to the variable; it is the next to commit."""
        for step, after in self.model.background(self.program, self.state, self.attack.attacker):
            if isinstance(step, Commit) and self.head(step) == variable:
                self.steps.append(step)
                self.state = after
                return
        raise UnreplayableWitness(f"no store to {self.program.variables[variable].name} can commit")

    def commit_what_may_pass(self) -> None:
        """Under PSO, stores to other variables than the delayed one reach memory at once."""
        for step, after in self.model.background(self.program, self.state, self.attack.attacker):
            if isinstance(step, Commit) and self.head(step) != self.attack.delayed and not self.has_failed:
                self.steps.append(step)
                self.state = after
                self.commit_what_may_pass()
                return

    def head(self, commit: Commit) -> int | None:
        entry = self.state.buffers[commit.process][commit.buffer][0]
        return None if entry is None else entry[0]

    def help(self, helpers: Iterable[tuple[int, bool]], *, drain: bool) -> None:
        """The steps of the others, each of which commits at once, or not yet."""
        for edge, completed in helpers:
            for step in self.parts(edge, completed):
                self.take(step)
                if drain:
                    self.drain_all(but=self.attack.attacker)

    def parts(self, edge: int, completed: bool) -> Iterator[Run]:
        """The loaded program's transitions behind an edge; without `completed`, to the last that touches memory."""
        step = self.decided._encoded.edges[edge]
        assert isinstance(step, Run)
        origin = self.decided._encoded.origin_of(edge)
        if not completed:
            origin = _to_access(self.program.processes[step.process].transitions, origin)
        for number in origin:
            yield Run(step.process, number)

    def take(self, step: Step) -> None:
        if self.has_failed:
            return
        after = take(self.program, self.model, self.state, step)
        if after is None:
            raise UnreplayableWitness(f"{step} is not possible under {self.model.name}")
        self.steps.append(step)
        if isinstance(after, Failure):
            self.has_failed = True
        else:
            self.state = after

    def drain_all(self, but: int | None = None) -> None:
        """Commit everything that is pending, except for process `but` and for what the bus lock keeps from memory."""
        for process in range(len(self.program.processes)):
            if self.state.lock_owner not in (None, process):
                continue
            while process != but and not self.has_failed and any(self.state.buffers[process]):
                step, self.state = next(iter(self.model.background(self.program, self.state, process)))
                self.steps.append(step)

    def _relaxed(self, state: State) -> State:
        return State(
            state.locations, state.registers, state.memory, self.model.empty_buffers(self.program), state.lock_owner
        )
