"""What is too large for a checker of processes alone, or only looks so: both checkers say the same, and in time."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from memfence.certificates.checker.refusal import Condition
from memfence.certificates.format.abridged import WHOLE, Abridgement
from memfence.certificates.format.header import Claim
from memfence.certificates.format.sections import SECTION
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Binary, Const, Expr, RegisterOf, Shared, conjunction, variable_address
from memfence.program.ir import (
    Assign,
    Assume,
    Domain,
    Fence,
    Forbidden,
    Load,
    Op,
    Process,
    Program,
    SharedVar,
    Store,
    WrittenFence,
)
from memfence.program.parameterised import several
from support.certificates import beginning, container, judge

BIT = Domain(0, 1)
NEVER = Binary("==", Shared(variable_address(0)), Const(5))


def process(locations: int, steps: Sequence[tuple[int, int, Op]], *registers: Domain, name: str = "P") -> Process:
    builder = ProcessBuilder(name, name)
    for n, domain in enumerate(registers):
        builder.register(f"r{n}", domain)
    for _ in range(locations):
        builder.location()
    for source, target, op in steps:
        builder.emit(source, target, op)
    return builder.build(0)


def program(*processes: Process, bad: Expr = NEVER, values: Domain = BIT, any_number: tuple[str, ...] = ()) -> Program:
    shared = (SharedVar("x", values, (0,)),)
    return Program("drawn", shared, processes, (Forbidden(bad, "bad"),), any_number=any_number)


def passing_all_but_the_last(process: Process) -> Abridgement:
    count = len(process.locations)
    return Abridgement((frozenset(range(count - 1)),), ((frozenset(),) * count,))


def judged(
    asked: Program, left_out: Abridgement = WHOLE, *, model: str = "sc", fast_only: bool = False
) -> Condition | str | None:
    """What both checkers say."""
    claim = Claim(model=model, any_number=asked.any_number)
    section = json.dumps({"kind": "alone"} | left_out.as_lists()).encode()
    content = container([*beginning(asked, claim), (SECTION, section)])
    fast = judge(content, asked, fast=True)
    if not fast_only:
        assert judge(content, asked) == fast
    return fast.condition


def test_a_process_may_pass_a_thousand_locations() -> None:
    """A walk by local steps is no recursion."""
    steps = [(n, n + 1, Assign(0, Const(n % 2))) for n in range(1_500)]
    long = process(1_501, steps, BIT)
    assert judged(program(long), passing_all_but_the_last(long)) is None


def test_ways_that_meet_again_are_walked_once() -> None:
    """There are 2^60 ways, and two places at each location."""
    steps = [(n, n + 1, Assign(0, Const(value))) for n in range(60) for value in (0, 1)]
    diamonds = process(61, steps, BIT)
    assert judged(program(diamonds), passing_all_but_the_last(diamonds)) is None


@pytest.mark.parametrize(
    "fast_only", [True, pytest.param(False, marks=pytest.mark.slow)], ids=["in C++", "in Python, too"]
)
def test_a_walk_that_comes_to_too_many_places_is_refused(fast_only: bool) -> None:
    """Each location sets another register to anything: 2^17 places."""
    steps = [(n, n + 1, Assign(n, Const(value))) for n in range(17) for value in (0, 1)]
    many = process(18, steps, *[BIT] * 17)
    left_out = passing_all_but_the_last(many)
    assert judged(program(many), left_out, fast_only=fast_only) is Condition.KIND


def wide(values: Domain) -> Program:
    """The question tells all values apart: every place is a group of its own."""
    steps = [(0, 1, Load(0, variable_address(0))), (1, 2, Assume(Const(1)))]
    return program(process(3, steps, values), bad=Binary("==", RegisterOf(0, 0), Const(-1)), values=values)


def test_many_values_that_the_question_tells_apart_are_no_matter() -> None:
    assert judged(wide(Domain(0, 9_999))) is None


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
def test_values_that_the_question_tells_apart_take_little_room() -> None:
    """A set of all 160,001 places for each of 80,000 values would be 3 GB."""
    asked = (
        "import resource, sys; sys.path.insert(0, sys.argv[1]); resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31));"
        "from differential.certificates.test_certificate_limits import Domain, judged, wide;"
        "assert judged(wide(Domain(0, 79_999)), fast_only=True) is None"
    )
    tests = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", asked, tests], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("fast", [True, False], ids=["in C++", "in Python"])
def test_a_walk_of_a_set_of_states_is_limited_alike(fast: bool) -> None:
    steps = [(n, n + 1, Assign(n, Const(value))) for n in range(17) for value in (0, 1)]
    many = program(process(18, steps, *[BIT] * 17))
    left_out = passing_all_but_the_last(many.processes[0])
    section = json.dumps({"kind": "invariant", "capacity": 0} | left_out.as_lists()).encode()
    content = container([*beginning(many, Claim(model="sc")), (SECTION, section)])
    assert judge(content, many, fast=fast).condition is Condition.KIND


def test_first_values_are_counted() -> None:
    builder = ProcessBuilder("P", "P")
    for n in range(2):
        builder.register(f"r{n}", Domain(0, 499), tuple(range(500)))
    builder.location()
    first = builder.build(0)
    dead = Abridgement((frozenset(),), ((frozenset({0, 1}),),))
    assert judged(program(first), dead) is Condition.KIND


def test_bad_configurations_are_counted_apart_for_those_that_are_asked_about() -> None:
    """300,000 values of memory, with what the question names, and again with one that may have failed."""
    instances = several(process(3, [(0, 1, Assign(0, Const(0)))], BIT, name="T"))
    bad = conjunction(At(0, frozenset({2})), Binary("==", Shared(variable_address(0)), Const(5)))
    assert judged(program(*instances, bad=bad, values=Domain(0, 299_999), any_number=("T",))) is None


def test_bad_configurations_are_counted_before_they_are_looked_at() -> None:
    loading = [process(1, [(0, 0, Load(0, variable_address(0)))], Domain(0, 99), name=f"P{n}") for n in range(3)]
    bad = conjunction(*(Binary("==", RegisterOf(p, 0), Const(0)) for p in range(3)))
    assert judged(program(*loading, bad=bad, values=Domain(0, 99))) is Condition.KIND


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_a_step_that_reads_memory_without_a_load_is_refused(model: str) -> None:
    """Nobody would guess what it reads."""
    reading = process(2, [(0, 1, Assume(Binary("==", Shared(variable_address(0)), Const(1))))])
    storing = process(2, [(0, 1, Store(variable_address(0), Const(1)))], name="Q")
    assert judged(program(reading, storing, bad=At(0, frozenset({1}))), model=model) is Condition.KIND


@pytest.mark.parametrize("kind", ["dmb.sy", "dmb.ld", "dmb.st", "isb"])
def test_a_fence_of_another_machine_is_refused(kind: WrittenFence) -> None:
    assert judged(program(process(2, [(0, 1, Fence(kind))])), model="tso") is Condition.KIND
