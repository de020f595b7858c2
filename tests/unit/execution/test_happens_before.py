"""The happens-before cycle of a run: found exactly where the run has no SC trace."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from memfence.execution.happens_before import happens_before_cycle
from memfence.execution.trace import Trace
from memfence.models.replay import replay
from memfence.models.state import Commit, ProcessStep, State, Step
from memfence.models.steps import successors
from memfence.program.ir import Program
from support.models import memory_model
from support.samples import Sample, message_passing, store_buffering


def kinds(trace: Trace) -> list[str]:
    cycle = happens_before_cycle(trace)
    assert cycle is not None
    assert all(a.target == b.source for a, b in zip(cycle.edges, (*cycle.edges[1:], cycle.edges[0]), strict=True))
    return [edge.kind for edge in cycle.edges]


def test_store_buffering_is_the_classic_cycle() -> None:
    steps = [ProcessStep(0, 0), ProcessStep(0, 1), ProcessStep(1, 0), ProcessStep(1, 1)]
    assert kinds(Trace(store_buffering(), memory_model("tso"), 0, steps)) == ["po", "fr", "po", "fr"]


def test_message_passing_under_pso_reads_the_younger_store() -> None:
    steps = [ProcessStep(0, 0), ProcessStep(0, 1), Commit(0, 1), ProcessStep(1, 0), ProcessStep(1, 1)]
    assert kinds(Trace(message_passing(), memory_model("pso"), 0, steps)) == ["po", "rf", "po", "fr"]


def test_stores_that_commit_before_anyone_looks_close_no_cycle() -> None:
    steps = [ProcessStep(0, 0), Commit(0), ProcessStep(0, 1), ProcessStep(1, 0), ProcessStep(1, 1)]
    assert happens_before_cycle(Trace(store_buffering(), memory_model("tso"), 0, steps)) is None


def test_an_overtaken_store_that_nobody_notices_closes_no_cycle() -> None:
    steps = [ProcessStep(0, 0), ProcessStep(0, 1), Commit(0), ProcessStep(1, 0), ProcessStep(1, 1)]
    assert happens_before_cycle(Trace(store_buffering(), memory_model("tso"), 0, steps)) is None


statements = st.sampled_from(["x := 1", "x := 2", "y := 1", "r := x", "r := y", "s := y", "mfence"])
bodies = st.lists(statements, min_size=1, max_size=3)


@given(bodies, bodies, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_a_run_without_a_cycle_has_the_trace_of_an_sc_run_and_vice_versa(
    first: list[str], second: list[str], random: object
) -> None:
    program = Sample("random", "x y").process("P", *first).process("Q", *second).build()
    trace = random_run(program, random)
    assert (happens_before_cycle(trace) is None) == (signature(trace) in sc_signatures(program))


def random_run(program: Program, random: object) -> Trace:
    """A complete run of TSO."""
    model = memory_model("tso")
    state: State = replay(program, model, 0, []).start
    taken: list[Step] = []
    while moves := list(successors(program, model, state)):
        step, after = random.choice(moves)  # type: ignore[attr-defined]
        taken.append(step)
        assert isinstance(after, State)
        state = after
    return Trace(program, model, 0, taken)


Signature = tuple[object, ...]


def signature(trace: Trace) -> Signature:
    """Who read which store, and the order of stores to each variable in memory; both by place in the program."""
    buffered: dict[int, list[tuple[int, int]]] = {}
    memory: dict[int, list[tuple[int, int]]] = {0: [], 1: []}
    reads: dict[tuple[int, int], tuple[int, int] | None] = {}
    for taken in trace.steps:
        match taken.step:
            case Commit(process):
                store = buffered[process].pop(0)
                memory[variable_of(trace.program, *store)].append(store)
            case ProcessStep(process, transition):
                name = statement(trace.program, process, transition)
                if name in ("x", "y"):
                    buffered.setdefault(process, []).append((process, transition))
                elif name in ("r", "s"):
                    variable = variable_of(trace.program, process, transition)
                    own = [s for s in buffered.get(process, ()) if variable_of(trace.program, *s) == variable]
                    newest = own or memory[variable]
                    reads[process, transition] = newest[-1] if newest else None
            case _:
                raise AssertionError
    return tuple(sorted(reads.items())), tuple(memory[0]), tuple(memory[1])


def statement(program: Program, process: int, transition: int) -> str:
    return program.processes[process].transitions[transition].span.text.partition(" ")[0]


def variable_of(program: Program, process: int, transition: int) -> int:
    left, _, right = program.processes[process].transitions[transition].span.text.partition(" := ")
    return ("x", "y").index(left if left in ("x", "y") else right)


def sc_signatures(program: Program) -> set[Signature]:
    """Of every SC run: TSO runs in which each store commits at once."""
    model = memory_model("tso")
    found: set[Signature] = set()

    def extend(state: State, taken: list[Step]) -> None:
        moves = list(successors(program, model, state))
        commits = [move for move in moves if isinstance(move[0], Commit)]
        if not moves:
            found.add(signature(Trace(program, model, 0, taken)))
        for step, after in commits or moves:
            assert isinstance(after, State)
            extend(after, [*taken, step])

    extend(replay(program, model, 0, []).start, [])
    return found
