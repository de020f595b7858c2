"""A search that keeps bare states gives the answer of one that keeps parents: verdict, numbers, and a run as short.

`compact_from=1` begins the compact search at the second level, so that small programs show what goes wrong in it.
"""

from __future__ import annotations

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memfence.engines.native.attacks import AttackKind, AttackSearch
from memfence.engines.native.explicit import Explored, explore
from memfence.engines.native.races import explore_races
from memfence.models.spec import ModelSpec
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.pipeline import load, load_text
from memfence.program.expressions import Shared, variable_address
from memfence.program.ir import Program
from memfence.program.text.properties import parse_expression
from memfence.source import SourceText
from memfence.tasks.evidence import BadState
from memfence.tasks.limits import Limits, Stop, resident_megabytes
from memfence.tasks.task import ALL_REDUCTIONS, Safety
from support.generators.programs import EVERYTHING, Shape, programs
from support.models import spec
from support.sampling import sampled

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
MEMORIES = (spec("sc"), spec("tso", 1), spec("tso", 2), spec("tso", 2, per_variable=True), spec("pso", 2))
SMALL = Shape(statements=(1, 4), features=EVERYTHING | {"assertions", "errors", "regions"})
SUBJECTS = programs(SMALL) | programs(SMALL).map(fuse_lock_regions)
SOME_REDUCTIONS = st.sets(st.sampled_from(ALL_REDUCTIONS)).map(frozenset)
FEW = Limits(most_states=20_000)


def numbers_of(found: Explored) -> tuple[int, int, int, int]:
    return found.cost.states, found.cost.transitions, found.cost.depth, found.refused


def steps_to(found: Explored, index: int | None = None) -> int:
    """Of the run to a state, or to the finding, in the program that was searched: fused steps count once."""
    at = found._native.finding[1] if index is None else index
    return len(found._native.path(at, [])[1])


def check_exploration(program: Program, memory: ModelSpec, reductions: frozenset[str]) -> None:
    question = Safety(failures=False, final_values=(Shared(variable_address(0)),))
    plain = explore(program, memory, question, limits=FEW, reductions=reductions)
    if plain.stop is not Stop.NOTHING_LEFT:
        return
    compact = explore(program, memory, question, limits=FEW.within(compact_from=1), reductions=reductions)
    assert compact.stop is plain.stop
    assert numbers_of(compact) == numbers_of(plain)
    assert compact.states() == plain.states()
    assert [(f.values, f.count) for f in compact.final_states] == [(f.values, f.count) for f in plain.final_states]
    for mine, theirs in zip(compact.final_states, plain.final_states, strict=True):
        assert steps_to(compact, mine.index) == steps_to(plain, theirs.index)
        compact.trace_to(mine.index)  # it replays


def check_findings(program: Program, memory: ModelSpec, reductions: frozenset[str]) -> None:
    for question in (Safety(), Safety(failures=False, deadlock=True)):
        plain = explore(program, memory, question, limits=FEW, reductions=reductions)
        compact = explore(program, memory, question, limits=FEW.within(compact_from=1), reductions=reductions)
        assert compact.stop is plain.stop
        assert (compact.finding is None) == (plain.finding is None)
        if compact.finding is None or plain.finding is None:
            continue
        assert steps_to(compact) == steps_to(plain)
        compact.trace()  # it replays


def check_criteria(program: Program) -> None:
    for kind in AttackKind:
        plain, compact = (
            AttackSearch(program, kind).explore(collect=True, limits=FEW.within(compact_from=states))
            for states in (0, 1)
        )
        assert compact.stop is plain.stop
        if plain.torn or compact.torn:  # decided by the run that happened to be found
            continue
        assert {attack.clause for attack in compact.attacks} == {attack.clause for attack in plain.attacks}
        for attack in compact.attacks:
            compact.trace(attack)  # it replays
    for triangular in (False, True):
        plain_race, compact_race = (
            explore_races(program, triangular=triangular, limits=FEW.within(compact_from=states)) for states in (0, 1)
        )
        assert compact_race.stop is plain_race.stop
        assert (compact_race.race is None) == (plain_race.race is None)


@sampled(quick=60, slow=2_000, program=SUBJECTS, memory=st.sampled_from(MEMORIES), reductions=SOME_REDUCTIONS)
def test_bare_states_give_the_same_answers(program: Program, memory: ModelSpec, reductions: frozenset[str]) -> None:
    check_exploration(program, memory, reductions)
    check_findings(program, memory, reductions)


@given(programs(SMALL))
@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
def test_bare_states_show_the_same_attacks_and_races(program: Program) -> None:
    check_criteria(program)


WALK = """
active proctype {name}() {{ do :: {variable} < 14 -> {variable} = {variable} + 1 :: {variable} > 0 -> {variable}-- od }}
"""


def test_a_large_search_finds_a_run_as_short_for_any_number_of_threads() -> None:
    text = "byte x, y, z;\n" + "".join(WALK.format(name=v.upper(), variable=v) for v in "xyz")
    program = load_text(SourceText("walks.pml", text))
    question = Safety(bad=parse_expression("x == 12 && y == 11 && z == 10", program, "--forbid"))
    plain, one, two = (
        explore(program, spec("sc"), question, limits=Limits(threads=threads, compact_from=compact_from))
        for threads, compact_from in ((1, 0), (1, 50_000), (2, 50_000))
    )
    assert plain.finding == one.finding == two.finding == BadState()
    assert numbers_of(plain) == numbers_of(one) == numbers_of(two)
    assert one.trace().steps == two.trace().steps
    assert len(one.trace().steps) == len(plain.trace().steps)


def test_threads_number_bare_states_alike() -> None:
    program = load(EXAMPLES / "lamport_fast.pml")
    question = Safety(failures=False, final_values=(Shared(variable_address(0)),))
    one, two = (
        explore(program, spec("pso", 2), question, limits=Limits(threads=threads, compact_from=50_000))
        for threads in (1, 2)
    )
    assert one.stop is two.stop is Stop.NOTHING_LEFT
    assert numbers_of(one) == numbers_of(two)
    assert one.final_states == two.final_states  # with the numbers of states


def test_a_search_near_the_memory_limit_goes_on_with_bare_states() -> None:
    program = load(EXAMPLES / "lamport_fast.pml")
    question = Safety(failures=False)
    plain = explore(program, spec("pso", 2), question)
    room = Limits(memory_megabytes=int(resident_megabytes()) + 16)
    near = explore(program, spec("pso", 2), question, limits=room)
    assert not plain.is_compact and near.is_compact
    assert near.stop is plain.stop is Stop.NOTHING_LEFT
    assert numbers_of(near) == numbers_of(plain)
