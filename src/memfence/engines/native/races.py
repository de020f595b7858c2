"""Data races and triangular races, looked for in every SC-reachable state."""

from __future__ import annotations

from memfence import _core
from memfence.engines.native.encode import Encoded
from memfence.engines.native.limits import cost_of, for_core
from memfence.engines.native.sc_states import ALL_SAFE, ScExploration, encode_accesses
from memfence.engines.native.searched import Searched
from memfence.execution.trace import Trace
from memfence.models.spec import SC, TSO
from memfence.passes.orders import for_hardware
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.limits import Limits, Stop


class Race(Record):
    """Two processes about to access `variable`; `unfenced` is the variable of the store that makes it triangular."""

    process: int
    other: int
    variable: int
    unfenced: int | None
    state: int


class RacePlan(Record):
    """A search for races before it is encoded for the core: plain values, that can be sent to other machines."""

    hardware: Program
    triangular: bool
    reductions: frozenset[str]

    def encoded(self) -> Encoded:
        return encode_accesses(self.hardware, self.reductions)

    def partition(self, encoded: Encoded, size: tuple[int, int, int, int]) -> _core.Partition:
        """One part of the search, where several machines share it."""
        return _core.partition_for_races(encoded.machine, self.triangular, *size)


def plan_of(program: Program, *, triangular: bool, reductions: frozenset[str] = ALL_SAFE) -> RacePlan:
    """What `explore_races` searches."""
    return RacePlan(for_hardware(program, TSO), triangular, reductions)


def race_of(native: _core.Race) -> Race:
    unfenced = native.unfenced if native.unfenced >= 0 else None
    return Race(native.process, native.other_process, native.variable, unfenced, native.state)


class RaceSearch(Searched):
    """The outcome of one SC exploration: the first race, and whether everything was seen."""

    race: Race | None
    _states: ScExploration

    @property
    def complete(self) -> bool:
        return self.saw_everything

    def trace(self) -> Trace:
        """An SC run to the state where the two accesses race."""
        assert self.race is not None
        return Trace(self.program, SC.definition, *self._states.run_to(self.race.state))


def explore_races(
    program: Program,
    *,
    triangular: bool,
    limits: Limits | None = None,
    reductions: frozenset[str] = ALL_SAFE,
) -> RaceSearch:
    """Look for a data race, or a triangular one, in every SC-reachable state; orders are read as under TSO."""
    limits = limits or Limits()
    encoded = plan_of(program, triangular=triangular, reductions=reductions).encoded()
    result = _core.explore_races(encoded.machine, triangular, limits.threads, **for_core(limits))
    native, exploration = result.race, result.exploration
    race = None if native is None else race_of(native)
    states = ScExploration(program, encoded, exploration)
    return RaceSearch(program, Stop(exploration.stop), cost_of(exploration.stats), race, states)
