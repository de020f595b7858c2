"""Attacks on persistence and robustness, looked for from every SC-reachable state: SC exploration alone decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import Enum

from memfence import _core
from memfence.engines.native.attack_run import AttackRun, transitions_to_access
from memfence.engines.native.encode import Encoded
from memfence.engines.native.found_attack import FoundAttack, found_attack
from memfence.engines.native.limits import cost_of, for_core
from memfence.engines.native.sc_states import ALL_SAFE, ScExploration, ScRuns, encode_accesses
from memfence.engines.native.searched import Searched
from memfence.execution.renaming import exchanged
from memfence.execution.store_order import is_order_of_an_sc_run
from memfence.execution.trace import Trace
from memfence.models.spec import PSO, TSO, ModelSpec
from memfence.models.state import State, Step
from memfence.passes.orders import for_hardware
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.limits import Limits, Stop


class AttackKind(Enum):
    """What is attacked; the number is the core's."""

    PERSISTENCE = 0
    ROBUSTNESS_TSO = 1
    ROBUSTNESS_PSO = 2

    @property
    def model(self) -> ModelSpec:
        """The model of the runs behind the attacks."""
        return PSO if self is AttackKind.ROBUSTNESS_PSO else TSO


class Attack(Record):
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
    _native: FoundAttack

    @property
    def clause(self) -> Known:
        """What fences must hit."""
        return self.attacker, tuple(sorted(self.crossed)), tuple(sorted(self.separable))

    @property
    def is_one_step(self) -> bool:
        """Whether the access is part of the step that makes the delayed store."""
        return not self.crossed


class Attacks(Searched):
    """The outcome of one SC exploration: the attacks found, and whether everything was seen.

    `torn`: steps with several stores that another process may see half-way, though the run found has the order of an
    SC run. Other runs to the same state may not have it, so that nothing is decided. `open`: the processes of which the
    text does not show that every attack was found; `by_text`: of all others it does, which ended the search.
    """

    kind: AttackKind
    attacks: tuple[Attack, ...]
    chain_nodes: int
    _states: ScRuns
    torn: tuple[Attack, ...] = ()
    open: frozenset[int] = frozenset()
    by_text: bool = False

    @property
    def complete(self) -> bool:
        return self.saw_everything and not self.torn

    @property
    def encoded(self) -> Encoded:
        return self._states.encoded

    @property
    def states(self) -> ScExploration | None:
        """The states that were visited, where they are kept on this machine."""
        return self._states if isinstance(self._states, ScExploration) else None

    @property
    def reachable(self) -> ScExploration | None:
        """All states that SC reaches, which certificates list; of several that are alike, one."""
        return self.states if self.complete and not self.by_text else None

    @property
    def alike(self) -> tuple[tuple[int, ...], ...]:
        """Classes of processes that were exchanged at will."""
        return self.encoded.symmetric

    def trace(self, attack: Attack) -> Trace:
        """The run of the relaxed model that the attack stands for."""
        found = attack._native.attacker
        run = AttackRun(self, replace(attack, attacker=found), self.kind.model.definition).trace()
        return run if attack.attacker == found else exchanged(run, found, attack.attacker)

    def sc_run(self, index: int) -> tuple[State, tuple[Step, ...]]:
        """Start and steps of an SC run of the loaded program to a state of the exploration."""
        return self._states.run_to(index)


Known = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A clause: the attacker, the transitions crossed, those of them where an sfence will do."""


def explore_attacks(
    program: Program,
    kind: AttackKind,
    *,
    collect: bool = False,
    limits: Limits | None = None,
    reductions: frozenset[str] = ALL_SAFE,
    by_text: bool = True,
) -> Attacks:
    """Look for attacks from every SC-reachable state: the first one, or with `collect` one for each distinct clause.

    With `by_text`, no more states are visited once the text shows that nothing else is to be found.
    """
    search = AttackSearch(program, kind, reductions)
    return search.explore(collect=collect, limits=limits or Limits(), by_text=by_text)


class AttackPlan(Record):
    """A search before it is encoded for the core: plain values, that can be sent to other machines."""

    hardware: Program
    kind: AttackKind
    reductions: frozenset[str]
    every_torn: bool = False

    def encoded(self) -> Encoded:
        return encode_accesses(self.hardware, self.reductions)

    def partition(self, encoded: Encoded, size: tuple[int, int, int, int]) -> _core.Partition:
        """One part of the search, where several machines share it: for the first attack, or for all torn steps."""
        return _core.partition_for_attacks(encoded.machine, self.kind.value, self.every_torn, self.every_torn, *size)


def plan_of(
    program: Program, kind: AttackKind, reductions: frozenset[str] = ALL_SAFE, *, every_torn: bool = False
) -> AttackPlan:
    """What `explore_attacks` searches."""
    return AttackPlan(for_hardware(program, kind.model), kind, reductions, every_torn)


class AttackSearch:
    """A program, encoded once, and explored as often as wanted."""

    def __init__(self, program: Program, kind: AttackKind, reductions: frozenset[str] = ALL_SAFE) -> None:
        self.program = program
        self.kind = kind
        self.reductions = reductions
        self._encoded = plan_of(program, kind, reductions).encoded()

    def explore(
        self,
        *,
        collect: bool,
        limits: Limits,
        known: Iterable[Known] = (),
        moving: Sequence[int] = (),
        by_text: bool = True,
    ) -> Attacks:
        """Look for the first attack, or with `collect` for one of each distinct clause.

        Attacks across all of a `known` clause do not count. With `moving`, the other processes stay where they begin:
        what is found is an attack on the program, but not every attack is found.
        """
        known = list(known)

        def search(every_torn: bool) -> Attacks:
            return self._search(collect or every_torn, limits, known, moving, by_text, every_torn=every_torn)

        found = without_false_tears(self.kind, search)
        return of_all_alike(found) if collect and found.alike else found

    def _search(
        self,
        collect: bool,
        limits: Limits,
        known: list[Known],
        moving: Sequence[int],
        by_text: bool,
        *,
        every_torn: bool = False,
    ) -> Attacks:
        clauses = [(attacker, list(crossed), list(separable)) for attacker, crossed, separable in known]
        result = _core.explore_attacks(
            self._encoded.machine,
            self.kind.value,
            collect,
            every_torn,
            clauses,
            list(moving),
            by_text,
            limits.most_states,
            limits.threads,
            **for_core(limits),
        )
        exploration = result.exploration
        found = [found_attack(native, native.state) for native in result.attacks]
        return Attacks(
            self.program,
            Stop(exploration.stop),
            cost_of(exploration.stats),
            self.kind,
            tuple(attack_of(self.program, self._encoded, native) for native in found),
            result.chain_nodes,
            ScExploration(self.program, self._encoded, exploration),
            open=frozenset(result.open),
            by_text=result.by_text,
        )


def attack_of(program: Program, encoded: Encoded, native: FoundAttack) -> Attack:
    """What the core found, in terms of the program."""
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
        (*(number for origin in whole for number in origin), *transitions_to_access(transitions, last)),
        native,
    )


def without_false_tears(kind: AttackKind, search: Callable[[bool], Attacks]) -> Attacks:
    """What a search finds, but for torn steps that are none; `search(True)` goes through all torn steps."""
    found = search(False)
    if kind is not AttackKind.PERSISTENCE:
        return found
    found = _without_sc_orders(found)
    if not found.torn or found.stop in (Stop.CANCELLED, Stop.TIMEOUT, Stop.MEMORY, Stop.LOST):
        return found
    # A torn step ended the search for this process, but it was none: go through all of them.
    return _without_sc_orders(search(True))


def _without_sc_orders(found: Attacks) -> Attacks:
    """The attacks but for torn steps whose run has the order of an SC run after all.

    One torn step of a process that has not is enough.
    """
    attacks: list[Attack] = []
    torn: list[Attack] = []
    for attack in found.attacks:
        if not attack.is_one_step:
            attacks.append(attack)
        elif any(known.is_one_step and known.attacker == attack.attacker for known in attacks):
            continue
        elif is_order_of_an_sc_run(found.trace(attack)):
            torn.append(attack)
        else:
            attacks.append(attack)
    stopped = {known.attacker for known in attacks if known.is_one_step}
    undecided = tuple(attack for attack in torn if attack.attacker not in stopped)
    return replace(found, attacks=tuple(attacks), torn=undecided)


def of_all_alike(found: Attacks) -> Attacks:
    """Every attack as an attack of each process that is like the attacker: the run with the two exchanged.

    In the order in which a search finds them that takes all processes for different.
    """
    alike = {process: members for members in found.alike for process in members}
    attacks: dict[Known, Attack] = {}
    for attack in found.attacks:
        for process in alike.get(attack.attacker, (attack.attacker,)):
            other = replace(attack, attacker=process)
            attacks.setdefault(other.clause, other)
    torn: dict[int, Attack] = {}
    for attack in found.torn:
        for process in alike.get(attack.attacker, (attack.attacker,)):
            torn.setdefault(process, replace(attack, attacker=process))
    stopped = {attacker for attacker, crossed, _ in attacks if not crossed}
    return replace(
        found,
        attacks=tuple(sorted(attacks.values(), key=lambda attack: (len(attack.crossed), attack.clause))),
        torn=tuple(attack for process, attack in sorted(torn.items()) if process not in stopped),
    )
