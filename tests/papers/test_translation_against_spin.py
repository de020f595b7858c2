"""Spin agrees with the reference model of SC on translated programs: the same number of states, the same verdict."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings

from memfence.models.steps import evaluate_in
from memfence.pipeline import load
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import At, Binary, Const, Register, RegisterOf, Shared, variable_address
from memfence.program.ir import Assign, Assume, Domain, Forbidden, Load, Program, SharedVar, Store, Sync
from memfence.translation.promela import render_promela
from support.exploration import shortest_run
from support.generators.programs import EVERYTHING, Feature, Shape, programs
from support.models import memory_model
from support.samples import Sample, message_passing, store_buffering
from support.sampling import sampled
from twins.reference_search import reachable

pytestmark = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None, reason="spin (Debian package) or gcc not installed"
)

SC = memory_model("sc")
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# Several initial values are chosen by steps of the translation, which have states of their own.
ONE_START: frozenset[Feature] = EVERYTHING - {"initial"}


@dataclass(frozen=True, slots=True)
class SpinRun:
    states: int
    found_error: bool


def run_spin(program: Program) -> SpinRun:
    """Translate, compile without reductions, explore everything."""
    with TemporaryDirectory() as folder:
        Path(folder, "model.pml").write_text(render_promela(program))
        for command in (
            ["spin", "-a", "-o1", "-o2", "-o3", "model.pml"],
            ["gcc", "-O0", "-w", "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=512", "-o", "pan", "pan.c"],
        ):
            made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            assert made.returncode == 0, f"{made.stdout}{made.stderr}\n{render_promela(program)}"
        output = subprocess.run(["./pan", "-E", "-m100000"], cwd=folder, capture_output=True, text=True).stdout
    states, errors = re.search(r"(\d+) states, stored", output), re.search(r"errors: (\d+)", output)
    assert states and errors, output
    return SpinRun(int(states[1]), int(errors[1]) > 0)


def assert_same_states(program: Program) -> None:
    run = run_spin(program)
    assert not run.found_error
    assert run.states == len(reachable(program, SC)), render_promela(program)


@sampled(
    quick=10,
    slow=150,
    program=programs(Shape(processes=(2, 3), statements=(2, 5), features=ONE_START)),
    given_slowly={"program": programs(Shape(processes=(2, 3), statements=(2, 6), features=ONE_START))},
)
def test_spin_stores_the_states_of_the_reference_model(program: Program) -> None:
    assert_same_states(program)


def assert_same_answer(path: Path) -> None:
    program = load(path)
    run = run_spin(program)
    assert not run.found_error, "every example holds under sc"
    assert run.states == len(reachable(program, SC)), render_promela(program)


@pytest.mark.parametrize("name", ["dekker", "lost_wakeup", "spsc_ring"])
def test_spin_stores_the_states_of_an_example(name: str) -> None:
    assert_same_answer(EXAMPLES / f"{name}.pml")


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.pml")), ids=lambda path: path.stem)
def test_spin_stores_the_states_of_every_example(path: Path) -> None:
    assert_same_answer(path)


@given(programs(Shape(processes=(2, 2), features=EVERYTHING | {"assertions", "errors", "regions"})))
@settings(max_examples=10, deadline=None, derandomize=True)
def test_spin_finds_a_failure_exactly_where_there_is_one(program: Program) -> None:
    failing = shortest_run(program, SC, lambda state: False) is not None
    assert run_spin(program).found_error == failing, render_promela(program)


@pytest.mark.parametrize("program", [store_buffering(), message_passing()], ids=lambda program: program.name)
def test_a_property_that_holds_adds_no_state(program: Program) -> None:
    assert_same_states(program)


def test_spin_finds_a_forbidden_state_that_is_reachable() -> None:
    sample = Sample("reach", "x").process("P", "x := 1", "x := 2").process("Q", "r := x")
    seen_two = Binary("&&", Binary("==", RegisterOf(1, 0), Const(2)), At(1, frozenset({1})))
    program = sample.build(seen_two)
    assert shortest_run(program, SC, lambda state: bool(evaluate_in(program, state, 0, seen_two))) is not None
    assert run_spin(program).found_error


def test_every_initial_state_is_tried() -> None:
    program = Sample("initial", "x").process("P", "r := x").build(Binary("==", RegisterOf(0, 0), Const(7)))
    assert not run_spin(program).found_error
    variables = (SharedVar("x", Domain(0, 255), (0, 3, 7)),)
    assert run_spin(replace(program, variables=variables)).found_error


def rendezvous_program() -> Program:
    """A sender passes 0, 1, 2 in turn; a committed receiver stores what it got before anything else happens."""
    byte = Domain(0, 255)
    sender = ProcessBuilder("sender", "sender")
    count = sender.register("count", byte)
    at = sender.location()
    guard = Assume(Binary("<", Register(count), Const(3)))
    more = Assign(count, Binary("+", Register(count), Const(1)))
    sender.emit(at, at, guard, more, sync=Sync("c", True, (Register(count),), guard_ops=1))
    receiver = ProcessBuilder("receiver", "receiver")
    got = receiver.register("got", byte)
    idle, holding = receiver.location("idle"), receiver.location("holding", committed=True)
    receiver.emit(idle, holding, sync=Sync("c", False, registers=(got,)))
    receiver.emit(holding, idle, Store(variable_address(0), Register(got)))
    watcher = ProcessBuilder("watcher", "watcher")
    seen = watcher.register("seen", byte)
    start, end = watcher.location(), watcher.location()
    watcher.emit(start, end, Load(seen, variable_address(0)))
    never = Binary("==", Shared(variable_address(0)), Const(3))
    return Program(
        "rendezvous", (SharedVar("x", byte),), (sender.build(0), receiver.build(0), watcher.build(0)),
        (Forbidden(never, "x is 3"),),
    )  # fmt: skip


def test_rendezvous_and_committed_locations_keep_their_meaning() -> None:
    assert_same_states(rendezvous_program())
