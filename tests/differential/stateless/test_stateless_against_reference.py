"""The stateless explorer against brute force: all traces of the reference models, all interleavings, and robustness."""

from __future__ import annotations

import io

import pytest
from hypothesis import HealthCheck, example, given, settings

from memfence.engines.native.attacks import AttackKind, explore_attacks
from memfence.engines.native.monitor import monitor_events, monitor_stream
from memfence.engines.native.stateless import Explored, encode_for_exploration, explore
from memfence.execution.recording import render_trace
from memfence.execution.schedule import read_schedules, schedule_object
from memfence.models.sc import Sc
from memfence.models.state import Failure, ProcessStep, State
from memfence.models.steps import starts, successors
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.facts.effects import accesses_memory
from memfence.program.ir import Assert, Assign, Assume, Domain, Load, Op, Process, Program, SharedVar, Store
from memfence.questions.explore import explore as analyse
from memfence.report.formats.json import dump
from memfence.source import SourceText
from support.generators.programs import EVERYTHING, Shape, programs
from twins.memory_traces import MemoryTrace, sc_runs, sc_traces, trace_of_run, tso_trace, tso_traces

FINITE = EVERYTHING - {"loops"}
BRANCHES = frozenset({"fences", "locked", "branches", "waits"})
ACCESSES = Shape(processes=(2, 2), statements=(3, 4), features=BRANCHES)
THREE = Shape(processes=(2, 3), statements=(2, 3), features=BRANCHES)
MIXED = Shape(processes=(2, 2), statements=(2, 4), features=FINITE)
REGIONS = Shape(processes=(2, 3), statements=(1, 3), features=FINITE | {"regions"})
FAILING = Shape(processes=(2, 2), statements=(2, 3), features=BRANCHES | {"assertions", "errors"})
X, Y = variable_address(0), variable_address(1)


def many(examples: int):
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return settings(max_examples=examples, deadline=None, suppress_health_check=checks)


def process(name: str, *steps: tuple[Op, ...], locked: frozenset[int] = frozenset()) -> Process:
    """A straight line of steps over one register, `r`."""
    builder = ProcessBuilder(name, name)
    builder.register("r", Domain(0, 2))
    here = builder.location()
    for number, ops in enumerate(steps):
        there = builder.location()
        builder.emit(here, there, *ops, locked=number in locked)
        here = there
    return builder.build(0)


def program(*processes: Process) -> Program:
    return Program("made", (SharedVar("x", Domain(0, 2)), SharedVar("y", Domain(0, 2))), processes)


def wait(address, value: int) -> tuple[Op, ...]:
    return Load(0, address), Assume(Binary("==", Register(0), Const(value)))


def write(address, value: int = 1) -> tuple[Op, ...]:
    return (Store(address, Const(value)),)


FORWARDED = program(process("P", write(X), (Load(0, X),), (Load(0, Y),)), process("Q", write(Y), write(X, 2)))
"""Not robust, although every load that could be stale comes after a load of its process's own store."""

CHANCE = program(process("P", write(X), write(X), write(X)), process("Q", wait(X, 0), write(Y)))
"""Q can only go before the first of the writes that block it."""

UNBLOCKED = program(process("P", write(X), wait(Y, 0)), process("Q", write(Y), (Load(0, X),)))
"""Under SC P may be blocked for ever; a stale value would let it go on."""

ATOMIC = program(process("P", (Load(0, X), Store(Y, Const(1)))), process("Q", (Load(0, Y), Store(X, Const(1)))))
"""Each step loads and stores at once under SC; a store buffer tears it apart."""

LOCKED = program(
    process("P", write(X), write(Y)),
    process("Q", write(X), write(X), (Load(0, X), Store(Y, Const(1))), locked=frozenset({2})),
)
"""Q cannot miss P's write of x where it overwrites P's y: what a locked step reads and writes is one moment."""

EMPTY = program(
    process("P", write(X), (Assign(0, Const(1)),), (Load(0, Y),), locked=frozenset({1})),
    process("Q", write(Y), (Assign(0, Const(1)),), (Load(0, X),), locked=frozenset({1})),
)
"""A locked step is a fence, even where it accesses nothing."""

HASTY = program(
    process("O", (Load(0, X), Assert(Const(0)))),
    process("P", write(X), (Load(0, Y),)),
    process("Q", write(Y), (Load(0, X),)),
)
"""Not robust, although O may fail before the others do anything."""

OVERLAPPING = program(
    process("P", (Load(0, X),), write(Y)),
    process("Q", (Load(0, X),), write(X)),
    process("R", (Load(0, X),), (Load(0, Y),)),
)
"""Eight classes of executions; one is only seen by whoever knows which steps behind a race wait for others there."""

TORN = [
    program(process("P", (*write(X), *write(Y))), process("Q", (*write(Y, 2), *write(X, 2)))),
    program(process("P", (*write(X), *write(Y))), process("Q", (Load(0, X),), write(Y, 2))),
    program(process("P", (*write(X), *write(X, 2))), process("Q", (Load(0, X),))),
    program(process("P", (*write(X), *write(X, 2))), process("Q", write(X, 2))),
    program(process("P", (*write(X), *write(Y))), process("Q", (Load(0, X),), (Load(0, Y),))),
]
"""The stores of one step leave the buffer one by one, and Q comes between them."""


def whole_traces(program: Program, explored: Explored) -> list[MemoryTrace]:
    encoded = encode_for_exploration(program, fuse=False)
    return [trace_of_run(program, e._start, [encoded.edges[edge] for edge in e._edges]) for e in explored.executions]


def check_traces(program: Program) -> None:
    """Every trace of a whole SC execution is run, and few executions are run twice.

    A step that waits for ever is tried once before each write that might have let it go on.
    """
    explored = explore(program, fuse=False, keep=100_000)
    assert explored.complete and explored.reduced
    if explored.counts.failed:
        return
    found = whole_traces(program, explored)
    expected = sc_traces(program)[1]
    assert set(found) == expected
    steps = sum(len(process.transitions) for process in program.processes)
    assert len(found) + explored.counts.redundant <= 2 * len(expected) + max(2, steps)


def check_safety(program: Program) -> bool:
    """Store-buffer safe by Definition 5 iff by exploration: reduced or of all interleavings, fused or not."""
    safe = tso_traces(program) <= sc_traces(program)[0]
    for fuse in (False, True):
        for reduce_order in (False, True):
            explored = explore(program, fuse=fuse, reduce_order=reduce_order)
            assert explored.complete
            assert (explored.counts.borderline == 0) == safe, (fuse, reduce_order)
    return safe


def check_robustness(program: Program) -> None:
    """Two independent algorithms, one property."""
    assert (not explore_attacks(program, AttackKind.ROBUSTNESS_TSO).attacks) == (not explore(program).has_borderline)


def check_findings(program: Program) -> None:
    """What is found replays, as a run whose trace no SC run has; and it can be written down and read again."""
    result = analyse(program)
    prefixes = sc_traces(program)[0]
    for finding in result.findings:
        text = dump(schedule_object(finding.replayable))
        (again,) = read_schedules(program, SourceText("found.json", text))
        assert [taken.step for taken in again.trace.steps] == [t.step for t in finding.replayable.trace.steps]
        if finding.kind == "borderline":
            assert finding.trace is not None and finding.trace.end.is_plain
            steps = [taken.step for taken in finding.trace.steps]
            assert tso_trace(program, finding.trace.start, steps) not in prefixes
        else:
            assert finding.schedule.failure is not None


def check_saved_traces(program: Program) -> None:
    """The monitor of a saved execution says what the explorer said about it."""
    explored = explore(program, keep=60)
    for execution in explored.executions:
        text = render_trace(explored.events(execution))
        monitored = monitor_stream("trace", io.BufferedReader(io.BytesIO(text.encode())))
        assert (monitored.event is not None) == execution.borderline, text
        at_hand = monitor_events("trace", explored.events(execution))
        assert at_hand.event == monitored.event
        assert (at_hand.events, at_hand.threads) == (monitored.events, monitored.threads)


def check_preemptions(program: Program) -> None:
    """With a bound on preemptions: exactly the interleavings of accesses that keep to it, counted one by one."""
    for bound in (0, 1, 2):
        explored = explore(program, preemptions=bound, fuse=False)
        assert explored.counts.interleavings == count_interleavings(program, bound)


def count_interleavings(program: Program, bound: int) -> int:
    """Interleavings of accesses with few enough preemptions; local steps are taken at once, lowest process first."""
    model = Sc()

    def touches(state: State, p: int) -> bool:
        leaving = [t for _, t in program.processes[p].leaving(state.locations[p])]
        return any(accesses_memory(op) for t in leaving for op in t.ops)

    def count(state: State, last: int | None, used: int) -> int:
        after = [(step, s) for step, s in successors(program, model, state)]
        by_process: dict[int, list[State | Failure]] = {}
        for step, s in after:
            assert isinstance(step, ProcessStep)
            by_process.setdefault(step.process, []).append(s)
        if not by_process:
            return 1
        local = [p for p in by_process if not touches(state, p)]
        total = 0
        for p in local[:1] or sorted(by_process):
            cost = not local and last is not None and p != last and last in by_process
            if used + cost <= bound:
                for s in by_process[p]:
                    total += 1 if isinstance(s, Failure) else count(s, last if local else p, used + cost)
        return total

    return sum(count(state, None, 0) for state in starts(program, model))


@given(programs(MIXED))
@example(CHANCE)
@example(UNBLOCKED)
@example(OVERLAPPING)
@many(60)
def test_every_class_of_executions_is_run(program):
    check_traces(program)


@given(programs(ACCESSES))
@example(FORWARDED)
@example(CHANCE)
@example(UNBLOCKED)
@many(60)
def test_exploration_decides_store_buffer_safety(program):
    check_safety(program)
    check_robustness(program)


@given(programs(MIXED))
@example(ATOMIC)
@many(40)
def test_exploration_decides_store_buffer_safety_of_steps_with_several_accesses(program):
    check_safety(program)


@given(programs(REGIONS).map(fuse_lock_regions))
@example(LOCKED)
@many(60)
def test_exploration_decides_store_buffer_safety_of_lock_regions(program):
    check_safety(program)
    check_findings(program)


@given(programs(ACCESSES))
@example(FORWARDED)
@example(UNBLOCKED)
@example(ATOMIC)
@many(40)
def test_findings_replay_and_have_no_sc_trace(program):
    check_findings(program)


@given(programs(FAILING))
@many(30)
def test_an_assertion_that_fails_under_sc_is_found(program):
    fails = any(
        isinstance(dict(successors(program, Sc(), state_before(program, start, steps))).get(steps[-1]), Failure)
        for start, steps in sc_runs(program)
        if steps
    )
    explored = explore(program)
    assert explored.has_failure == fails
    if fails:
        assert explored.failure_trace().failure is not None


def state_before(program: Program, start: int, steps) -> State:
    state = starts(program, Sc())[start]
    for step in steps[:-1]:
        after = dict(successors(program, Sc(), state))[step]
        assert isinstance(after, State)
        state = after
    return state


def test_what_can_come_before_a_step_that_fails_is_run():
    explored = explore(HASTY)
    assert explored.has_failure and explored.has_borderline
    check_robustness(HASTY)


@given(programs(ACCESSES))
@example(FORWARDED)
@example(UNBLOCKED)
@many(40)
def test_saved_executions_have_the_same_answer_as_traces(program):
    check_saved_traces(program)


@given(programs(Shape(processes=(2, 3), statements=(2, 3), features=BRANCHES)))
@many(30)
def test_a_bound_on_preemptions_admits_exactly_the_executions_within_it(program):
    check_preemptions(program)


KNOWN = [(FORWARDED, False), (CHANCE, True), (UNBLOCKED, False), (ATOMIC, False), (LOCKED, True), (EMPTY, True)]


@pytest.mark.parametrize("made, safe", KNOWN)
def test_known_programs_have_their_known_answers(made, safe):
    assert check_safety(made) == safe


@pytest.mark.parametrize("made", TORN)
def test_a_program_whose_steps_can_be_torn_is_never_called_safe(made):
    assert not tso_traces(made) <= sc_traces(made)[0]
    explored = explore(made)
    assert explored.has_borderline or not explored.complete


@pytest.mark.slow
@given(programs(ACCESSES))
@many(1000)
def test_exploration_decides_store_buffer_safety_of_many_programs(program):
    check_traces(program)
    check_safety(program)
    check_robustness(program)
    check_findings(program)


@pytest.mark.slow
@given(programs(THREE))
@many(300)
def test_exploration_decides_store_buffer_safety_of_three_processes(program):
    check_traces(program)
    check_safety(program)
    check_robustness(program)


@pytest.mark.slow
@given(programs(MIXED))
@many(500)
def test_exploration_decides_store_buffer_safety_of_mixed_programs(program):
    check_traces(program)
    check_safety(program)
    check_findings(program)
    check_saved_traces(program)


@pytest.mark.slow
@given(programs(REGIONS).map(fuse_lock_regions))
@many(500)
def test_exploration_decides_store_buffer_safety_of_many_lock_regions(program):
    check_safety(program)
    check_findings(program)
    check_saved_traces(program)
