"""States with empty buffers that a relaxed model reaches and SC does not, by the explicit engine.

The only reduction is symmetry: both models map runs to runs where processes that are alike are exchanged.

A process that fails (an assertion, a run-time error) stays where it is from then on, in a location of its own, under SC
as under the relaxed model: a failure that only the relaxed model has is such a state, too.
"""

from __future__ import annotations

from dataclasses import replace

from memfence import _core
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.explicit import decode_step
from memfence.engines.native.limits import cost_of, for_core
from memfence.engines.native.policy import policy_of
from memfence.engines.native.searched import Searched
from memfence.engines.native.symbolic import PlainState, explore_symbolic
from memfence.engines.native.unreduce import original_steps
from memfence.execution.trace import Trace
from memfence.models.spec import SC, ModelSpec
from memfence.passes.orders import for_hardware
from memfence.passes.reductions import with_origins
from memfence.passes.shared_memory_form import other_communication
from memfence.passes.symmetry import symmetry_classes
from memfence.program.facts.may_fail import some_step_may_fail
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Location, Lock, Program
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety


class ScStates(Searched):
    """Every SC-reachable state of `program`, as `model` performs it, if `stop` is NOTHING_LEFT."""

    model: ModelSpec
    _native: _core.ScStates
    _encoded: Encoded

    def contains(self, state: PlainState) -> bool:
        """Whether SC reaches it; nothing has failed, and nobody holds the bus lock."""
        slots = self._encoded.slots
        values = [0] * slots.count
        values[: len(state.memory)] = state.memory
        for process, (location, registers) in enumerate(self._in_order(state)):
            values[slots.locations[process]] = location
            for register, value in enumerate(registers):
                values[slots.register(process, register)] = value
        return self._native.contains(values)

    def _in_order(self, state: PlainState) -> list[tuple[int, tuple[int, ...]]]:
        """The processes' locations and registers; of those that are alike the smallest first, as the search has it."""
        local = [(location, tuple(own)) for location, own in zip(state.locations, state.registers, strict=True)]
        for members in self._encoded.symmetric:
            for process, part in zip(members, sorted(local[p] for p in members), strict=True):
                local[process] = part
        return local


class NonScStates(Searched):
    """The outcome of one search: a state that SC does not reach, if `found`.

    `complete`: every state of the *unbounded* model was seen.
    """

    model: ModelSpec
    refused: int
    found: bool
    _native: _core.NonScResult
    _encoded: Encoded

    @property
    def complete(self) -> bool:
        return self.saw_everything and self.refused == 0

    def trace(self) -> Trace:
        """A shortest run to the state; it ends early where the program fails."""
        assert self._native.non_sc is not None
        start, path, _ = self._native.exploration.path(self._native.non_sc, [])
        steps = [decode_step(self._encoded, self.model, step) for step in path]
        model = self.model.unbounded.definition
        begin, whole = original_steps(self.program, self._encoded.program, model, start, steps)
        return Trace(self.program, model, begin, whole)


def explore_sc_states(
    program: Program, model: ModelSpec, limits: Limits, *, reductions: frozenset[str] = frozenset({"symmetry"})
) -> ScStates:
    """Visit every SC-reachable state, to compare with those of `model`."""
    encoded = _encode(for_hardware(program, model), exchanging="symmetry" in reductions)
    native = _core.explore_sc_states(encoded.machine, limits.threads, **for_core(limits))
    return ScStates(program, Stop(native.stop), cost_of(native.stats), model.unbounded, native, encoded)


def explore_non_sc_states(sc: ScStates, model: ModelSpec, limits: Limits) -> NonScStates:
    """Search the relaxed model for a state with empty buffers that is not among those of SC."""
    assert model.unbounded == sc.model
    encoded = sc._encoded
    native = _core.explore_non_sc_states(
        encoded.machine, *policy_of(model), sc._native, limits.threads, **for_core(limits)
    )
    exploration = native.exploration
    stats = exploration.stats
    stop = Stop(exploration.stop)
    found = native.non_sc is not None
    return NonScStates(sc.program, stop, cost_of(stats), model, stats.refused, found, native, encoded)


class Unbounded(Searched):
    """The outcome of a search with buffers of any length: whether it ended, and whether SC reaches all that it saw."""

    complete: bool
    all_under_sc: bool


def unbounded_obstacle(program: Program) -> Obstacle | None:
    """What a state has to it beside locations, registers and memory: failures, and who holds the bus lock."""
    if any(isinstance(op, Lock) for p in program.processes for t in p.transitions for op in t.ops):
        return Obstacle.LONG_LOCK_REGION
    if other_communication(program) is not None:
        return Obstacle.OTHER_COMMUNICATION
    return Obstacle.STEP_MAY_FAIL if some_step_may_fail(for_hardware(program, SC)) else None


def explore_unbounded(sc: ScStates, limits: Limits) -> Unbounded:
    """Compare the states that the symbolic engine reaches with empty buffers with those of SC.

    Nothing must stand in the way of it: `unbounded_obstacle`.
    """
    assert unbounded_obstacle(sc.program) is None
    found = explore_symbolic(sc.program, sc.model, Safety(failures=False), limits=limits)
    agrees = found.complete and all(sc.contains(state) for state in found.plain_states())
    return Unbounded(sc.program, found.stop, found.cost, found.complete, agrees)


def _encode(program: Program, *, exchanging: bool) -> Encoded:
    alike = symmetry_classes(program, observed_by(program, ()), same_start=True) if exchanging else ()
    failed = Location("failed")
    processes = tuple(replace(p, locations=(*p.locations, failed)) for p in program.processes)
    encoded = encode(with_origins(replace(program, processes=processes)), symmetric=alike)
    encoded.machine.failed = [len(p.locations) for p in program.processes]
    return encoded
