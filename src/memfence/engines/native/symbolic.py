"""The symbolic engine: TSO and PSO with unbounded buffers, sets of buffer contents as automata.

Linden and Wolper, SPIN 2010 (TSO) and TACAS 2013 (PSO), with the corrections of docs/theory/errata.md. A search that
ends by itself is a proof: it has seen every reachable control state, and no other. It need not end; then `stop` names
the limit.
"""

from __future__ import annotations

from typing import assert_never

from memfence import _core
from memfence.engines.native.encode import Encoded
from memfence.engines.native.explicit import FINDINGS, encode_reduced
from memfence.engines.native.limits import for_core
from memfence.engines.native.searched import Searched
from memfence.models.buffering import Buffering
from memfence.models.spec import ModelSpec
from memfence.passes.orders import for_hardware
from memfence.passes.reductions import reduce
from memfence.program.expressions import BufferEmpty, walk
from memfence.program.facts.effects import op_expressions
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Lock, Program, Unlock
from memfence.records import Record
from memfence.tasks.evidence import Finding
from memfence.tasks.limits import Cost, Limits, Stop
from memfence.tasks.task import Safety


class SymbolicStatistics(Record):
    """`states` were expanded; `stored` of them are not included in another one at the end."""

    states: int
    stored: int
    transitions: int
    automata: int
    largest_automaton: int
    accelerations: int
    depth: int


class PlainState(Record):
    """A state without pending stores."""

    locations: tuple[int, ...]
    registers: tuple[tuple[int, ...], ...]
    memory: tuple[int, ...]


class Automaton(Record):
    """A partial deterministic automaton from state 0 on: `moves[q]` are pairs of a symbol and a target."""

    moves: tuple[tuple[tuple[int, int], ...], ...]
    accepting: tuple[bool, ...]


class SymbolicStates(Record):
    """Each row: the values of all slots, then the number of an automaton for each process. Symbol 0 is the separator,
    the others are pending stores (variable, value)."""

    rows: tuple[tuple[int, ...], ...]
    automata: tuple[Automaton, ...]
    symbols: tuple[tuple[int, int], ...]


class SymbolicResult(Searched):
    """The outcome of one search.

    `complete`: a fixpoint was reached, so that what was not found does not exist. `finding`: what can be reached, if
    anything; `engines.bounded_witness` gives a run to it.
    """

    model: ModelSpec
    finding: Finding | None
    complete: bool
    statistics: SymbolicStatistics
    final_values: frozenset[tuple[int, ...]]
    _native: _core.SymbolicOutcome
    _encoded: Encoded

    @property
    def found(self) -> bool:
        return self.finding is not None

    def reachable_locations(self) -> frozenset[tuple[int, ...]]:
        """The location tuples seen; all that are reachable if `complete` and no reduction was asked for."""
        slots = self._encoded.slots.locations
        return frozenset(tuple(control[slot] for slot in slots) for control in self._native.controls)

    @property
    def encoded(self) -> Encoded:
        """The machine that was searched."""
        return self._encoded

    def symbolic_states(self) -> SymbolicStates:
        """What the search ended with, where it was told to keep that."""
        native = self._native
        automata = tuple(Automaton(tuple(map(tuple, moves)), tuple(accepts)) for moves, accepts in native.languages)
        return SymbolicStates(tuple(map(tuple, native.rows)), automata, tuple(native.symbols))

    def plain_states(self) -> frozenset[PlainState]:
        """The states seen with all buffers empty; all that are reachable if `complete` and without reductions."""
        slots, processes = self._encoded.slots, self.program.processes
        return frozenset(
            PlainState(
                tuple(values[slot] for slot in slots.locations),
                tuple(
                    tuple(values[slots.register(p, r)] for r in range(len(process.registers)))
                    for p, process in enumerate(processes)
                ),
                tuple(values[: slots.variables]),
            )
            for values in self._native.plain
        )


def explore_symbolic(
    program: Program,
    model: ModelSpec,
    goal: Safety,
    *,
    limits: Limits | None = None,
    reductions: frozenset[str] = frozenset(),
    keeps_rows: bool = False,
) -> SymbolicResult:
    """Search all runs of `program` under `model`, buffers without bound, for what breaks the `goal`.

    `keeps_rows`: the result can show its symbolic states.
    """
    limits = limits or Limits()
    hardware = for_hardware(program, model)
    observed = observed_by(hardware, goal.expressions, blocking=goal.deadlock)
    reduced = reduce(hardware, observed, reductions, model=model)
    encoded = encode_reduced(reduced, goal.expressions, model, observed, reductions & {"order"})
    numbers = list(encoded.expressions)
    bad = -1 if goal.bad is None else numbers.pop(0)
    native = _core.explore_symbolic(
        encoded.machine,
        _has_queue_per_variable(model),
        "order" in reductions,
        bad,
        goal.failures,
        goal.deadlock,
        numbers,
        limits.most_states,
        keeps_rows,
        **for_core(limits),
    )
    stop, stats = Stop(native.stop), native.stats
    return SymbolicResult(
        program,
        stop,
        Cost(stats.states, stats.transitions, stats.seconds, 0, stats.depth),
        model,
        None if native.finding is None else FINDINGS[native.finding],
        stop is Stop.NOTHING_LEFT and is_decided(reduced, goal),
        SymbolicStatistics(
            stats.states,
            stats.stored,
            stats.transitions,
            stats.automata,
            stats.largest_automaton,
            stats.accelerations,
            stats.depth,
        ),
        frozenset(tuple(values) for values in native.final_values),
        native,
        encoded,
    )


def _has_queue_per_variable(model: ModelSpec) -> bool:
    """The two kinds of buffers that the core has languages for."""
    match model.buffering:
        case Buffering.PER_PROCESS | Buffering.NOWHERE:
            return False
        case Buffering.PER_VARIABLE:
            return True
        case _:
            assert_never(model.buffering)


def is_decided(program: Program, goal: Safety) -> bool:
    """Whether a finished search answers the goal.

    A step that asks whether a buffer is empty is not modelled, nor is a deadlock of a process that waits, with pending
    stores, for another to release the bus lock.
    """
    ops = [op for p in program.processes for t in p.transitions for op in t.ops]
    if any(isinstance(node, BufferEmpty) for op in ops for e in op_expressions(op) for node in walk(e)):
        return False
    return not (goal.deadlock and any(isinstance(op, Lock | Unlock) for op in ops))
