"""The explicit engine: breadth-first search over packed states under SC, TSO(k), PSO(k) or TSO/var(k).

A search that never had to refuse a store because a buffer was full has seen every run of the unbounded model as well:
then `complete` is true, whatever the bound was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from memfence import _core
from memfence.engines.native.decode import decode_state
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.unreduce import original_steps
from memfence.execution.trace import Trace
from memfence.models import ModelName, memory_model
from memfence.models.spec import SPECS
from memfence.models.state import Commit, DropSeparator, State, Step
from memfence.passes.orders import as_written, for_hardware
from memfence.passes.private_locations import private_locations
from memfence.passes.reductions import reduce
from memfence.passes.symmetry import symmetry_classes
from memfence.program.expressions import Expr
from memfence.program.facts.effects import stored_variables
from memfence.program.facts.observation import Observed, observed_by
from memfence.program.ir import Program
from memfence.tasks.limits import Cost, Limits, Stop

FindingKind = Literal["bad state", "failure", "deadlock"]
_KINDS: tuple[FindingKind, ...] = ("bad state", "failure", "deadlock")
_EDGE = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What to look for: a `bad` state, a failing step, a deadlock; and which values to list for final states."""

    bad: Expr | None = None
    failures: bool = True
    deadlock: bool = False
    final_values: tuple[Expr, ...] = ()

    @property
    def expressions(self) -> tuple[Expr, ...]:
        return (() if self.bad is None else (self.bad,)) + self.final_values


@dataclass(frozen=True, slots=True)
class FinalState:
    """Values seen in final states, and how many final states had them."""

    values: tuple[int, ...]
    count: int
    index: int


@dataclass(frozen=True, slots=True)
class Bounded:
    """A memory model as this engine runs it; `bound` limits the buffers (0 for SC)."""

    model: ModelName
    bound: int = 0
    per_variable: bool = False

    @property
    def core_kind(self) -> int:
        return {"sc": 0, "tso": 2 if self.per_variable else 1, "pso": 3}[self.model]


@dataclass(frozen=True, slots=True)
class Explored:
    """The outcome of one search.

    `complete`: every state of the *unbounded* model was seen. `stop`: why it ended. `finding`: what was found, if
    anything. `trace()` and `trace_to()` give the run, replayed by the reference model.
    """

    program: Program
    memory: Bounded
    stop: Stop
    refused: int
    finding: FindingKind | None
    cost: Cost
    final_states: tuple[FinalState, ...]
    _native: _core.Exploration
    _encoded: Encoded

    @property
    def complete(self) -> bool:
        return self.stop is Stop.NOTHING_LEFT and self.refused == 0

    def states(self) -> set[State]:
        """Every state that was visited, of the reduced program: for comparing with the reference models."""
        memory = self.memory
        decoded = (
            decode_state(self._encoded, memory.model, memory.bound, memory.per_variable, values)
            for values in self._native.all_values()
        )
        return {as_written(self.program, state) for state in decoded}

    def trace(self) -> Trace:
        """A shortest run to the finding."""
        found = self._native.finding
        assert found is not None
        _, parent, step = found
        return self.trace_to(parent, () if step is None else (step,))

    def trace_to(self, index: int, more: Sequence[tuple[int, int, int]] = ()) -> Trace:
        """The run to the state `index`, and `more` native steps after it."""
        start, path, _ = self._native.path(index, list(more))
        steps = [decode_step(self._encoded, self.memory, step) for step in path]
        model = memory_model(
            self.memory.model,
            bound=self.memory.bound if self.memory.per_variable else None,
            per_variable=self.memory.per_variable,
        )
        begin, whole = original_steps(self.program, self._encoded.program, model, start, steps)
        return Trace(self.program, model, begin, whole)


def explore(
    program: Program,
    memory: Bounded,
    question: Question,
    *,
    limits: Limits | None = None,
    reductions: frozenset[str] = frozenset(),
) -> Explored:
    """Search all runs of `program` under `memory` for what `question` asks.

    Slicing drops stores that nothing observes, and with them their places in the buffers: a bounded search then sees
    a little more than its bound allows, though never more than the unbounded model. TSO/var(k), where the bound is
    part of the meaning, is therefore not sliced.
    """
    limits = limits or Limits()
    if memory.per_variable:
        reductions -= {"slice"}
    hardware = for_hardware(program, SPECS[memory.model])
    observed = observed_by(hardware, question.expressions, blocking=question.deadlock)
    reduced = reduce(hardware, observed, reductions, model=memory.model)
    encoded = encode_reduced(reduced, question.expressions, memory.model, observed, reductions)
    numbers = list(encoded.expressions)
    bad = -1 if question.bad is None else numbers.pop(0)
    native = _core.explore_safety(
        encoded.machine,
        memory.core_kind,
        memory.bound,
        "order" in reductions,
        bad,
        question.failures,
        question.deadlock,
        numbers,
        limits.threads,
        limits.most_states,
        **limits.for_core(),
    )
    finding = native.finding
    return Explored(
        program,
        memory,
        Stop(native.stop),
        native.stats.refused,
        None if finding is None else _KINDS[finding[0]],
        cost_of(native.stats),
        tuple(FinalState(tuple(values), count, index) for values, count, index in native.final_states),
        native,
        encoded,
    )


def encode_reduced(
    reduced: Program, expressions: tuple[Expr, ...], model: ModelName, observed: Observed, reductions: frozenset[str]
) -> Encoded:
    """The machine of a reduced program, with private locations and identical processes marked as `reductions` allow."""
    private = private_locations(reduced, model, observed) if "order" in reductions else None
    symmetric = symmetry_classes(reduced, observed) if "symmetry" in reductions else ()
    return encode(reduced, expressions, private=private, symmetric=symmetric)


def cost_of(stats: _core.SearchStats) -> Cost:
    return Cost(stats.states, stats.transitions, stats.seconds, stats.state_bits, stats.depth)


def decode_step(encoded: Encoded, memory: Bounded, step: tuple[int, int, int]) -> Step:
    """A native step in terms of the reduced program."""
    kind, process, number = step
    if kind == _EDGE:
        return encoded.edges[number]
    if memory.model == "pso" and number == len(stored_variables(encoded.program.processes[process])):
        return DropSeparator(process)
    return Commit(process, number)
