"""Persistence and robustness on a cluster: the searches that the engine for one machine asks for, shared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from memfence.engines.attacks import AttackEngine
from memfence.engines.cluster.rounds import Chain, Settings
from memfence.engines.cluster.search import Shared, SharedSearch
from memfence.engines.native.attacks import AttackKind, Attacks, AttackSearch, attack_of, plan_of, without_false_tears
from memfence.engines.native.encode import Encoded
from memfence.engines.native.partition import Partition
from memfence.engines.native.sc_states import sc_run
from memfence.models.state import State, Step
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.answer import Answer
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Task


class StatesElsewhere(Record):
    """The states where attacks start, by the numbers of the attacks, with the states on the way to each."""

    program: Program
    here: Partition
    chains: Sequence[Chain]

    @property
    def encoded(self) -> Encoded:
        return self.here.encoded

    def run_to(self, index: int) -> tuple[State, tuple[Step, ...]]:
        """Start and steps of an SC run of the loaded program to a state."""
        return sc_run(self.program, self.encoded, *self.here.path(self.chains[index], ()))


class SharedAttacks:
    """Answers what `AttackEngine` answers, with searches that the machines behind `ray` share."""

    def __init__(self, ray: Any, settings: Settings) -> None:
        self._ray = ray
        self._settings = settings
        self._counts: dict[str, int] = {}

    def answer(self, task: Task, name: str) -> Answer:
        answer = AttackEngine(self._explore, small_first=self._settings.nearby_states > 0).answer(task)
        return replace(answer, engine=name, counts=tuple(self._counts.items()))

    def _explore(self, search: AttackSearch, limits: Limits) -> Attacks:
        shared = partial(self._search, search.program, search.kind, limits, search.reductions)
        return without_false_tears(search.kind, shared)

    def _search(
        self, program: Program, kind: AttackKind, limits: Limits, reductions: frozenset[str], every_torn: bool
    ) -> Attacks:
        plan = plan_of(program, kind, reductions, every_torn=every_torn)
        here = Partition(plan, 0, 1, 1, 0)
        shared = SharedSearch(self._ray, plan, here, limits, self._settings).run()
        for name, count in shared.counts:
            self._counts[name] = self._counts.get(name, 0) + count
        found = [replace(attack, state=number) for number, (attack, _) in enumerate(shared.attacks)]
        return Attacks(
            program,
            _stop_of(shared, every_torn),
            shared.cost,
            kind,
            tuple(attack_of(program, here.encoded, attack) for attack in found),
            0,
            StatesElsewhere(program, here, tuple(chain for _, chain in shared.attacks)),
        )


def _stop_of(shared: Shared, every_torn: bool) -> Stop:
    """Whoever collects attacks has found something once there is nothing left to be found, by the text."""
    return Stop.NOTHING_LEFT if every_torn and shared.stop is Stop.FOUND else shared.stop
