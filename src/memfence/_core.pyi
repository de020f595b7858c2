"""
Native exploration core of memfence; private, wrapped by memfence.engines.
"""

from collections.abc import Sequence


class Slot:
    def __init__(self, lo: int, hi: int, wraps: bool, stored: bool) -> None: ...

class Op:
    def __init__(self, kind: int, process: int, locked: bool, slot: int, base: int, size: int, index: int, value: int, when: int, part: int) -> None: ...

class Edge:
    def __init__(self, process: int, source: int, target: int, locked: bool, partner: int, partner_source: int, partner_target: int, partner_locked: bool, ops: Sequence[Op], origin: Sequence[int], required: int) -> None: ...

class Process:
    def __init__(self, location_slot: int, pending_slot: int, locations: int, registers: int, edges: Sequence[int], stored_variables: Sequence[int], scratch_slots: Sequence[int], is_private: Sequence[int], committed: Sequence[int], uses_sfence: bool) -> None: ...

class Machine:
    def __init__(self, slots: Sequence[Slot], variables: int, lock_slot: int, expressions: Sequence[Sequence[int]], edges: Sequence[Edge], processes: Sequence[Process], initial: Sequence[Sequence[int]], has_committed: bool, symmetric: Sequence[Sequence[int]], error: Sequence[int]) -> None: ...

    @property
    def failed(self) -> list[int]: ...

    @failed.setter
    def failed(self, arg: Sequence[int], /) -> None: ...

    @property
    def turn_slot(self) -> int: ...

    @turn_slot.setter
    def turn_slot(self, arg: int, /) -> None: ...

    @property
    def delays_slot(self) -> int: ...

    @delays_slot.setter
    def delays_slot(self, arg: int, /) -> None: ...

    @property
    def most_delays(self) -> int: ...

    @most_delays.setter
    def most_delays(self, arg: int, /) -> None: ...

class Cancel:
    def __init__(self) -> None: ...

    def cancel(self) -> None: ...

class SearchStats:
    @property
    def states(self) -> int: ...

    @property
    def transitions(self) -> int: ...

    @property
    def refused(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def widest(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def state_bits(self) -> int: ...

    @property
    def seconds(self) -> float: ...

class Exploration:
    @property
    def stop(self) -> int: ...

    @property
    def stats(self) -> SearchStats: ...

    @property
    def is_compact(self) -> bool: ...

    @property
    def finding(self) -> tuple[int, int, tuple[int, int, int] | None] | None: ...

    @property
    def final_states(self) -> list[tuple[list[int], int, int]]: ...

    @property
    def final_count(self) -> int: ...

    def path(self, index: int, more: Sequence[tuple[int, int, int]]) -> tuple[int, list[tuple[int, int, int]], list[int]]: ...

    def values(self, index: int) -> list[int]: ...

    def all_values(self) -> list[list[int]]: ...

    def sorted_blocks(self, columns: Sequence[tuple[int, int, int, int, int, tuple[int, int] | None]], rows_in_a_block: int) -> list[bytes]: ...

def explore_safety(machine: Machine, model: int, bound: int, reduce: bool, bad: int, stop_on_failure: bool, stop_on_deadlock: bool, final_values: Sequence[int], threads: int, most_states: int, timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> Exploration:
    """
    Visit every reachable state breadth-first, looking for bad states, failing steps and deadlocks.
    """

class Attack:
    @property
    def state(self) -> int: ...

    @property
    def attacker(self) -> int: ...

    @property
    def is_helper_first(self) -> bool: ...

    @property
    def delayed(self) -> int: ...

    @property
    def early(self) -> int: ...

    @property
    def separated_at(self) -> int: ...

    @property
    def accesses(self) -> list[tuple[int, bool]]: ...

    @property
    def separable(self) -> list[int]: ...

    @property
    def crossed(self) -> list[int]: ...

    @property
    def edges(self) -> list[int]: ...

    @property
    def helpers(self) -> list[tuple[int, bool]]: ...

    @property
    def intervals(self) -> list[tuple[int, list[tuple[int, bool]]]]: ...

class Race:
    @property
    def state(self) -> int: ...

    @property
    def process(self) -> int: ...

    @property
    def edge(self) -> int: ...

    @property
    def other_process(self) -> int: ...

    @property
    def other_edge(self) -> int: ...

    @property
    def variable(self) -> int: ...

    @property
    def unfenced(self) -> int: ...

class CriterionResult:
    @property
    def exploration(self) -> Exploration: ...

    @property
    def attacks(self) -> list[Attack]: ...

    @property
    def race(self) -> Race | None: ...

    @property
    def chain_nodes(self) -> int: ...

    @property
    def open(self) -> list[int]: ...

def explore_attacks(machine: Machine, criterion: int, collect: bool, every_torn: bool, known: Sequence[tuple[int, Sequence[int], Sequence[int]]], moving: Sequence[int], most_states: int, threads: int, timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> CriterionResult:
    """
    Look for attacks while visiting every SC-reachable state, or every one that the `moving` processes reach alone; attacks across all of a `known` clause do not count.
    """

def explore_races(machine: Machine, triangular: bool, threads: int, timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> CriterionResult:
    """
    Look for a data race, or a triangular one, while visiting every SC-reachable state.
    """

class ScStates:
    @property
    def stop(self) -> int: ...

    @property
    def stats(self) -> SearchStats: ...

    def contains(self, slots: Sequence[int]) -> bool:
        """Whether SC reaches a state with these values of all slots."""

class StrayResult:
    @property
    def exploration(self) -> Exploration: ...

    @property
    def stray(self) -> int | None: ...

def explore_sc_states(machine: Machine, threads: int, timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> ScStates:
    """Every SC-reachable state."""

def explore_stray_states(machine: Machine, model: int, bound: int, sc: ScStates, threads: int, timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> StrayResult:
    """Look for a state with empty buffers that is not among those of SC."""

class BuchiResult:
    @property
    def stop(self) -> int: ...

    @property
    def stats(self) -> SearchStats: ...

    @property
    def start(self) -> int: ...

    @property
    def prefix(self) -> list[tuple[int, int, int]]: ...

    @property
    def cycle(self) -> list[tuple[int, int, int]]: ...

def find_accepted_run(machine: Machine, model: int, bound: int, initial: int, edges: Sequence[Sequence[tuple[int, int, int, int]]], marks: int, atoms: Sequence[int], conditions: Sequence[tuple[int, int, int]], timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> BuchiResult:
    """
    Look for an infinite run that the automaton accepts and that meets all conditions again and again.
    """

class SymbolicStats:
    @property
    def states(self) -> int: ...

    @property
    def stored(self) -> int: ...

    @property
    def transitions(self) -> int: ...

    @property
    def automata(self) -> int: ...

    @property
    def largest_automaton(self) -> int: ...

    @property
    def accelerations(self) -> int: ...

    @property
    def depth(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def seconds(self) -> float: ...

class SymbolicOutcome:
    @property
    def stop(self) -> int: ...

    @property
    def stats(self) -> SymbolicStats: ...

    @property
    def finding(self) -> int | None: ...

    @property
    def controls(self) -> list[list[int]]: ...

    @property
    def plain(self) -> list[list[int]]: ...

    @property
    def rows(self) -> list[list[int]]: ...

    @property
    def languages(self) -> list[tuple[list[list[tuple[int, int]]], list[bool]]]: ...

    @property
    def symbols(self) -> list[tuple[int, int]]: ...

    @property
    def final_values(self) -> list[list[int]]: ...

def explore_symbolic(machine: Machine, partial: bool, reduce: bool, bad: int, stop_on_failure: bool, stop_on_deadlock: bool, final_values: Sequence[int], most_states: int, keeps_rows: bool, timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> SymbolicOutcome:
    """
    Explore sets of buffer contents, without bound, looking for bad states, failing steps and deadlocks.
    """

class Languages:
    def __init__(self, partial: bool, settles: bool) -> None: ...

    def symbol(self, variable: int, value: int) -> int: ...

    def language(self, moves: Sequence[Sequence[tuple[int, int]]], accepting: Sequence[bool]) -> int:
        """The language of a nondeterministic automaton, as it is."""

    def dfa(self, language: int) -> tuple[list[list[tuple[int, int]]], list[bool]]: ...

    def close(self, language: int) -> int: ...

    def append(self, language: int, symbol: int) -> int: ...

    def concatenate(self, language: int, more: int) -> int: ...

    def iterate(self, language: int, repeated: int) -> int: ...

    def unite(self, a: int, b: int) -> int: ...

    def settle(self, language: int) -> int: ...

    def includes(self, larger: int, smaller: int) -> bool: ...

    def loads(self, language: int, variable: int) -> tuple[list[tuple[int, int]], int]: ...

    def restricted(self, language: int, variable: int, value: int, with_none: bool) -> int: ...

    def commits(self, language: int) -> list[tuple[int, int]]: ...

    def without_separator(self, language: int) -> int: ...

class DualStats:
    @property
    def local_states(self) -> int: ...

    @property
    def process_states(self) -> int: ...

    @property
    def sets(self) -> int: ...

    @property
    def starts(self) -> int: ...

    @property
    def expanded(self) -> int: ...

    @property
    def predecessors(self) -> int: ...

    @property
    def stored(self) -> int: ...

    @property
    def minimal(self) -> int: ...

    @property
    def longest(self) -> int: ...

    @property
    def most_parts(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def seconds(self) -> float: ...

class DualOutcome:
    @property
    def stop(self) -> int: ...

    @property
    def finding(self) -> int | None: ...

    @property
    def stats(self) -> DualStats: ...

    @property
    def run(self) -> tuple[int, list[tuple[int, int]], list[int], list[int], list[list[int]]] | None: ...

def explore_dual(machine: Machine, bad: int, bad_final: int, failures: bool, reduce: bool, location_classes: Sequence[Sequence[int]], fixed: int, kind_of: Sequence[int], most_states: int, timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> DualOutcome:
    """
    Search backwards from bad states under the dual semantics of TSO: ends for every finite-state program.
    """

class TraceError:
    @property
    def kind(self) -> int: ...

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...

    @property
    def length(self) -> int: ...

    @property
    def text(self) -> bytes: ...

    @property
    def message(self) -> bytes: ...

    @property
    def hint(self) -> str: ...

class ShownEvent:
    @property
    def line(self) -> int: ...

    @property
    def op(self) -> int: ...

    @property
    def thread(self) -> str: ...

    @property
    def address(self) -> str: ...

    @property
    def location(self) -> str: ...

    @property
    def value(self) -> int | None: ...

class TraceFinding:
    @property
    def load(self) -> ShownEvent: ...

    @property
    def missed(self) -> ShownEvent: ...

    @property
    def stale(self) -> int | None: ...

    @property
    def path(self) -> list[ShownEvent]: ...

    @property
    def gaps(self) -> list[tuple[ShownEvent, ShownEvent]]: ...

class Complaint:
    @property
    def kind(self) -> int: ...

    @property
    def position(self) -> int: ...

    @property
    def message(self) -> str: ...

    @property
    def hint(self) -> str: ...

class RecordedRun:
    @property
    def complaint(self) -> Complaint | None: ...

    @property
    def finding(self) -> TraceFinding | None: ...

    @property
    def events(self) -> int: ...

    @property
    def threads(self) -> int: ...

    @property
    def addresses(self) -> int: ...

def monitor_events(events: Sequence[tuple[str, str | None, str | None, int | None, str | None, int | None, Sequence[int] | None]]) -> RecordedRun:
    """
    Monitor recorded events, up to the first that is refused or borderline.
    """

class TraceReader:
    def __init__(self) -> None: ...

    def feed(self, data: bytes) -> bool:
        """Read on; False: there is an error or a finding."""

    def finish(self) -> bool: ...

    @property
    def error(self) -> TraceError | None: ...

    @property
    def finding(self) -> TraceFinding | None: ...

    @property
    def events(self) -> int: ...

    @property
    def threads(self) -> int: ...

    @property
    def addresses(self) -> int: ...

    @property
    def held_bytes(self) -> int: ...

def trace_timestamps(events: Sequence[tuple[int, int, int]]) -> list[tuple[list[int], list[int]]]:
    """Relaxed and ordinary happens-before timestamps of each event."""

class Schedule:
    @property
    def start(self) -> int: ...

    @property
    def edges(self) -> list[int]: ...

    @property
    def borderline(self) -> bool: ...

    @property
    def failed(self) -> bool: ...

    @property
    def truncated(self) -> bool: ...

class BorderlineFinding:
    @property
    def schedule(self) -> Schedule: ...

    @property
    def edge(self) -> int: ...

    @property
    def reads(self) -> list[tuple[int, int, int]]: ...

class ExploreResult:
    @property
    def stop(self) -> int: ...

    @property
    def reduced(self) -> bool: ...

    @property
    def executions(self) -> int: ...

    @property
    def borderline(self) -> int: ...

    @property
    def failed(self) -> int: ...

    @property
    def deadlocked(self) -> int: ...

    @property
    def redundant(self) -> int: ...

    @property
    def truncated(self) -> int: ...

    @property
    def cut(self) -> int: ...

    @property
    def steps(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    @property
    def first_borderline_seconds(self) -> float: ...

    @property
    def first_failure_seconds(self) -> float: ...

    @property
    def finding(self) -> BorderlineFinding | None: ...

    @property
    def failure(self) -> Schedule | None: ...

    @property
    def kept(self) -> list[Schedule]: ...

def explore_stateless(machine: Machine, monitor: bool, reduce: bool, preemptions: int, depth: int, stop_at_first: bool, keep: int, timeout_seconds: float, memory_bytes: int, compact_from: int, cancel: Cancel | None, progress: object | None) -> ExploreResult:
    """
    Run SC executions one after the other, each class of equivalent ones once, looking for borderline executions.
    """

def schedule_events(machine: Machine, start: int, edges: Sequence[int], truncated: bool) -> list[tuple[int, list[tuple[int, int, int, int | None, list[int] | None]]]]:
    """
    The memory events of a schedule, step by step, as a monitor of the trace needs them.
    """

class InvariantChecker:
    def __init__(self, program: str, buffers: int, bound: int, per_variable: bool, capacity: int, bad: str, deadlock: bool, final: Sequence[str], expected: int, outcomes: Sequence[Sequence[int]], persistent: bool = False) -> None: ...

    @property
    def width(self) -> int: ...

    @property
    def states(self) -> int: ...

    @property
    def memory(self) -> int: ...

    def add(self, block: bytes) -> tuple[int, bytes, tuple[int, int, int, int, int] | None] | None: ...

    def steps(self, row: bytes) -> list[tuple[tuple[int, int, int, int, int], int, bytes]]: ...

    def check(self) -> tuple[int, bytes, tuple[int, int, int, int, int] | None] | None: ...
