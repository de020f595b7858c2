"""The explicit engine: breadth-first search over packed states under SC, TSO(k), PSO(k) or TSO/var(k).

A search that never had to refuse a store because a buffer was full has seen every run of the unbounded model as well:
then `complete` is true, whatever the bound was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence import _core
from memfence.engines.native.decode import decode_state
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.limits import cost_of, for_core
from memfence.engines.native.policy import policy_of
from memfence.engines.native.searched import Searched
from memfence.engines.native.unreduce import original_steps, transitions_of
from memfence.execution.trace import Trace
from memfence.models.spec import ModelSpec
from memfence.models.state import Commit, DropSeparator, State, Step
from memfence.passes.delay_bounding import with_delay_bound
from memfence.passes.orders import as_written, for_hardware
from memfence.passes.private_locations import private_locations
from memfence.passes.reductions import reduce
from memfence.passes.symmetry import symmetry_classes
from memfence.program.expressions import Expr
from memfence.program.facts.effects import stored_variables
from memfence.program.facts.observation import Observed, observed_by
from memfence.program.ir import Program
from memfence.records import Record
from memfence.tasks.evidence import BadState, Deadlocked, Finding, StepFails
from memfence.tasks.limits import Limits, Stop
from memfence.tasks.task import Safety

FINDINGS: tuple[Finding, ...] = (BadState(), StepFails(), Deadlocked())
"""In the order of the core's numbers."""
_EDGE = 0


class FinalValues(Record):
    """Values seen in final states, how many final states had them, and the number of one of these."""

    values: tuple[int, ...]
    count: int
    index: int


class RowColumn(Record):
    """One number of a row: a slot's distance from `lo`, in `width` bytes; 0 where `position` is not below the length of
    the buffer in `length_slot`. `marked`: a slot, and the number to write where it is not 0."""

    slot: int
    lo: int
    width: int
    length_slot: int = -1
    position: int = 0
    marked: tuple[int, int] | None = None


class RowOrder(Record):
    """Classes of processes whose local parts every row has in ascending order.

    A process is given by its columns, and by what the column of the bus lock, if there is one, says where it holds it.
    """

    classes: tuple[tuple[tuple[tuple[int, ...], int], ...], ...] = ()
    lock_column: int = -1


def sorted_rows(
    native: _core.Exploration, columns: Sequence[RowColumn], order: RowOrder, rows_in_a_block: int
) -> Iterator[bytes]:
    """Every state of a search as a row of `columns`, sorted, block by block: see `core/search/rows.hpp`."""
    plain = [(c.slot, c.lo, c.width, c.length_slot, c.position, c.marked) for c in columns]
    rows = native.sorted_rows(plain, order.classes, order.lock_column)
    return (rows.block(first, rows_in_a_block) for first in range(0, rows.size, rows_in_a_block))


class Explored(Searched):
    """The outcome of one search.

    `complete`: every state of the *unbounded* model was seen. `stop`: why it ended. `finding`: what was found, if
    anything. `trace()` and `trace_to()` give the run, replayed by the reference model.
    """

    model: ModelSpec
    refused: int
    finding: Finding | None
    final_states: tuple[FinalValues, ...]
    _native: _core.Exploration
    _encoded: Encoded
    _reduced: Program

    @property
    def complete(self) -> bool:
        return self.saw_everything and self.refused == 0

    def states(self) -> set[State]:
        """Every state that was visited, of the reduced program: for comparing with the reference models."""
        decoded = (decode_state(self._encoded, self.model, values) for values in self._native.all_values())
        return {as_written(self.program, state) for state in decoded}

    @property
    def taken(self) -> frozenset[tuple[int, int]]:
        """The transitions of `program` that the search came to take, be it as a part of others."""
        edges = (step for step, taken in zip(self._encoded.edges, self._native.taken, strict=True) if taken)
        return transitions_of(self.program, self._reduced, edges)

    @property
    def is_compact(self) -> bool:
        """Whether only the bare states were kept: runs are then found by a second search."""
        return self._native.is_compact

    @property
    def bytes_held(self) -> int:
        """What the visited states took."""
        return self._native.stats.bytes

    @property
    def encoded(self) -> Encoded:
        """The machine that was searched."""
        return self._encoded

    @property
    def reduced(self) -> Program:
        """The program that was searched: what it consists of has the same numbers as in `program`."""
        return self._reduced

    def rows(self, columns: Sequence[RowColumn], order: RowOrder, rows_in_a_block: int) -> Iterator[bytes]:
        return sorted_rows(self._native, columns, order, rows_in_a_block)

    def trace(self) -> Trace:
        """A shortest run to the finding."""
        found = self._native.finding
        assert found is not None
        _, parent, step = found
        return self.trace_to(parent, () if step is None else (step,))

    def trace_to(self, index: int, more: Sequence[tuple[int, int, int]] = ()) -> Trace:
        """The run to the state `index`, and `more` native steps after it."""
        start, path, _ = self._native.path(index, list(more))
        return trace_of(self.program, self.model, self._encoded, self._reduced, start, path)


def explore(
    program: Program,
    model: ModelSpec,
    goal: Safety,
    *,
    limits: Limits | None = None,
    reductions: frozenset[str] = frozenset(),
    delays: int | None = None,
) -> Explored:
    """Search all runs of `program` under `model`, which is SC or bounded, for what breaks the `goal`.

    With `delays`, only runs with at most so many from a fixed schedule (`passes.delay_bounding`) are searched, in the
    order of their lengths: without partial order reduction, which may put off an error by some steps.

    Slicing drops stores that nothing observes, and with them their places in the buffers: a bounded search then sees
    a little more than its bound allows, though never more than the unbounded model. TSO/var(k), where the bound is
    part of the meaning, is therefore not sliced.
    """
    limits = limits or Limits()
    plan = plan_of(program, model, goal, reductions, delays=delays)
    encoded = plan.encoded()
    native = _core.explore_safety(
        encoded.machine,
        *plan.query(encoded),
        limits.threads,
        limits.most_states,
        **for_core(limits),
    )
    finding = native.finding
    return Explored(
        program,
        Stop(native.stop),
        cost_of(native.stats),
        model,
        native.stats.refused,
        None if finding is None else FINDINGS[finding[0]],
        tuple(FinalValues(tuple(values), count, index) for values, count, index in native.final_states),
        native,
        encoded,
        plan.reduced,
    )


class Plan(Record):
    """A search before it is encoded for the core: plain values, that can be sent to other machines.

    `reduced` is the program that is left of the loaded one, `searched` what is encoded of it. `private` and `symmetric`
    as `encode` takes them; `orders`: whether private steps are taken alone.
    """

    model: ModelSpec
    goal: Safety
    reduced: Program
    searched: Program
    private: tuple[tuple[int, ...], ...] | None
    symmetric: tuple[tuple[int, ...], ...]
    orders: bool
    delays: int | None = None

    def encoded(self) -> Encoded:
        encoded = encode(self.searched, self.goal.expressions, private=self.private, symmetric=self.symmetric)
        if self.delays is not None:
            _count_delays(encoded, self.delays)
        return encoded

    def partition(self, encoded: Encoded, size: tuple[int, int, int, int]) -> _core.Partition:
        """One part of the search, where several machines share it: `engines.native.partition` says what `size` is."""
        return _core.partition_for_safety(encoded.machine, *self.query(encoded), *size)

    def query(self, encoded: Encoded) -> tuple[int, int, bool, int, bool, bool, list[int]]:
        """Which memory model, and what to look for, in the core's numbers."""
        numbers = list(encoded.expressions)
        bad = -1 if self.goal.bad is None else numbers.pop(0)
        number, bound = policy_of(self.model)
        return number, bound, self.orders, bad, self.goal.failures, self.goal.deadlock, numbers


def plan_of(
    program: Program, model: ModelSpec, goal: Safety, reductions: frozenset[str], *, delays: int | None = None
) -> Plan:
    """What `explore` searches."""
    if model.per_variable:
        reductions -= {"slice"}
    hardware = for_hardware(program, model)
    observed = observed_by(hardware, goal.expressions, blocking=goal.deadlock)
    reduced = reduce(hardware, observed, reductions, model=model)
    if delays is not None:
        reductions -= {"order", "symmetry"}
    searched = reduced if delays is None else with_delay_bound(reduced, delays)
    private, symmetric = _marks(searched, model, observed, reductions)
    return Plan(model, goal, reduced, searched, private, symmetric, "order" in reductions, delays)


def trace_of(
    program: Program,
    model: ModelSpec,
    encoded: Encoded,
    reduced: Program,
    start: int,
    path: Sequence[tuple[int, int, int]],
) -> Trace:
    """The run of `program` that native steps from an initial state stand for, replayed by the reference model."""
    decoded = (decode_step(encoded, model, step) for step in path)
    steps = [step for step in decoded if _is_real(reduced, step)]
    # Slicing frees room in buffers, so that a run may need more of it than the bound; TSO/var(k) is not sliced.
    definition = (model if model.per_variable else model.unbounded).definition
    begin, whole = original_steps(program, reduced, definition, start, steps)
    return Trace(program, definition, begin, whole)


def _is_real(reduced: Program, step: Step) -> bool:
    """Not a separator between stores of the turn alone: the process itself has no buffer."""
    return not isinstance(step, DropSeparator) or bool(stored_variables(reduced.processes[step.process]))


def _count_delays(encoded: Encoded, most: int) -> None:
    encoded.machine.turn_slot = encoded.slots.variables - 2
    encoded.machine.delays_slot = encoded.slots.variables - 1
    encoded.machine.most_delays = most


def encode_reduced(
    reduced: Program, expressions: tuple[Expr, ...], model: ModelSpec, observed: Observed, reductions: frozenset[str]
) -> Encoded:
    """The machine of a reduced program, with private locations and identical processes marked as `reductions` allow."""
    private, symmetric = _marks(reduced, model, observed, reductions)
    return encode(reduced, expressions, private=private, symmetric=symmetric)


def _marks(
    reduced: Program, model: ModelSpec, observed: Observed, reductions: frozenset[str]
) -> tuple[tuple[tuple[int, ...], ...] | None, tuple[tuple[int, ...], ...]]:
    private = private_locations(reduced, model, observed) if "order" in reductions else None
    return private, symmetry_classes(reduced, observed) if "symmetry" in reductions else ()


def decode_step(encoded: Encoded, model: ModelSpec, step: tuple[int, int, int]) -> Step:
    """A native step in terms of the reduced program."""
    kind, process, number = step
    if kind == _EDGE:
        return encoded.edges[number]
    if model.reorders_stores and number == len(stored_variables(encoded.program.processes[process])):
        return DropSeparator(process)
    return Commit(process, number)
