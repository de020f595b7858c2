"""States with empty buffers that a relaxed model reaches and SC does not, by the explicit engine without reductions.

A process that fails (an assertion, a run-time error) stays where it is from then on, in a location of its own, under SC
as under the relaxed model: a failure that only the relaxed model has is such a state, too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from memfence import _core
from memfence.engines.encode import Encoded, encode
from memfence.engines.engine import Cost, Limits, Stop
from memfence.engines.explicit import Bounded, cost_of, decode_step
from memfence.engines.trace import Trace
from memfence.engines.witness import original_steps
from memfence.models import memory_model
from memfence.program.ir import Location, Program
from memfence.program.passes.reductions import with_origins


@dataclass(frozen=True, slots=True)
class ScStates:
    """Every SC-reachable state of `program`, if `stop` is NOTHING_LEFT."""

    program: Program
    stop: Stop
    cost: Cost
    _native: _core.ScStates
    _encoded: Encoded


@dataclass(frozen=True, slots=True)
class Strays:
    """The outcome of one search: a state that SC does not reach, if `found`.

    `complete`: every state of the *unbounded* model was seen.
    """

    program: Program
    memory: Bounded
    stop: Stop
    refused: int
    cost: Cost
    found: bool
    _native: _core.StrayResult
    _encoded: Encoded

    @property
    def complete(self) -> bool:
        return self.stop is Stop.NOTHING_LEFT and self.refused == 0

    def trace(self) -> Trace:
        """A shortest run to the state; it ends early where the program fails."""
        assert self._native.stray is not None
        start, path, _ = self._native.exploration.path(self._native.stray, [])
        steps = [decode_step(self._encoded, self.memory, step) for step in path]
        model = memory_model(self.memory.model)
        begin, whole = original_steps(self.program, self._encoded.program, model, start, steps)
        return Trace(self.program, model, begin, whole)


def explore_sc_states(program: Program, limits: Limits) -> ScStates:
    """Visit every SC-reachable state."""
    encoded = _encode(program)
    native = _core.explore_sc_states(encoded.machine, limits.threads, **limits.for_core())
    return ScStates(program, Stop(native.stop), cost_of(native.stats), native, encoded)


def explore_strays(sc: ScStates, memory: Bounded, limits: Limits) -> Strays:
    """Search the relaxed model for a state with empty buffers that is not among those of SC."""
    encoded = sc._encoded
    native = _core.explore_stray_states(
        encoded.machine, memory.core_kind, memory.bound, sc._native, limits.threads, **limits.for_core()
    )
    exploration = native.exploration
    stats = exploration.stats
    stop = Stop(exploration.stop)
    found = native.stray is not None
    return Strays(sc.program, memory, stop, stats.refused, cost_of(stats), found, native, encoded)


def _encode(program: Program) -> Encoded:
    failed = Location("failed")
    processes = tuple(replace(p, locations=(*p.locations, failed)) for p in program.processes)
    encoded = encode(with_origins(replace(program, processes=processes)))
    encoded.machine.failed = [len(p.locations) for p in program.processes]
    return encoded
