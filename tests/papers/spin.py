"""Running Spin on a model, and what its state space is in terms of ours."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from memfence.models.state import State
from memfence.models.steps import is_final, set_at, starts, successors
from memfence.program.ir import Program
from support.models import memory_model
from twins.reference_search import breadth_first, explore

needs_spin = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None, reason="spin or gcc is not installed"
)


@dataclass(frozen=True, slots=True)
class SpinResult:
    """`states` stored in a full search without any reduction; `errors` it found, not counting deadlocks."""

    states: int
    errors: int


def run_spin(model: Path, folder: Path, *, claim: bool) -> SpinResult:
    """Verify `model` without partial-order reduction, statement merging or any other optimisation, in `folder`.

    With `claim` the `ltl` block counts, without it only assertions do.
    """
    _call(folder, "spin", "-o1", "-o2", "-o3", "-a", str(model.resolve()))
    _call(folder, "gcc", "-O0", "-w", "-DNOREDUCE", *([] if claim else ["-DNOCLAIM"]), "-o", "pan", "pan.c")
    report = _call(folder, "./pan", "-m1000000", "-E", "-c0", *(["-a"] if claim else []))
    assert "max search depth too small" not in report, report
    return SpinResult(_number(r"(\d+) states, stored", report), _number(r"errors: (\d+)", report))


def spin_refutes_claim(text: str, folder: Path) -> bool:
    """Whether the `ltl` block of the model is violated under Spin."""
    (folder / "model.pml").write_text(text)
    _call(folder, "spin", "-a", "model.pml")
    _call(folder, "gcc", "-O0", "-w", "-DNOREDUCE", "-o", "pan", "pan.c")
    return _number(r"errors: (\d+)", _call(folder, "./pan", "-a", "-E")) > 0


def spin_finds_deadlock(text: str, folder: Path) -> bool:
    """Whether the model has an invalid end state under Spin."""
    (folder / "model.pml").write_text(text)
    _call(folder, "spin", "-a", "model.pml")
    _call(folder, "gcc", "-O0", "-w", "-DNOREDUCE", "-DSAFETY", "-o", "pan", "pan.c")
    report = _call(folder, "./pan", "-m1000000")
    assert "max search depth too small" not in report, report
    return "invalid end state (at depth" in report


def spin_finds_cycle(text: str, folder: Path, *, progress: bool = False, fair: bool = False) -> bool:
    """Whether Spin finds an acceptance cycle, a claim that comes to its end or, with `progress`, a loop without it."""
    (folder / "model.pml").write_text(text)
    _call(folder, "spin", "-a", "model.pml")
    _call(folder, "gcc", "-O0", "-w", "-DNOREDUCE", *(["-DNP"] if progress else []), "-o", "pan", "pan.c")
    report = _call(folder, "./pan", "-m1000000", "-E", "-l" if progress else "-a", *(["-f"] if fair else []))
    errors = _number(r"errors: (\d+)", report)
    assert errors or "max search depth too small" not in report, report
    return errors > 0


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Whether some run fails; and the values that variables have where every process has reached its end."""

    fails: bool
    values: frozenset[tuple[int, ...]]


def spin_outcomes(text: str, names: Sequence[str], folder: Path) -> Outcomes:
    """The outcomes of the model under Spin; its globals are declared in the first line of `text`."""
    declarations, rest = text.split("\n", 1)
    shown = f'printf("ends with{" %d" * len(names)}\\n", {", ".join(names)})'
    watcher = f"active proctype Watcher() {{ atomic {{ _nr_pr == 1 -> {shown} }} }}"
    (folder / "watched.pml").write_text(f"{declarations}\n{watcher}\n{rest}")
    _call(folder, "spin", "-o1", "-o2", "-o3", "-a", "watched.pml")
    _call(folder, "gcc", "-O0", "-w", "-DNOREDUCE", "-DSAFETY", "-DPRINTF", "-o", "pan", "pan.c")
    report = _call(folder, "./pan", "-m1000000", "-E", "-c0")
    assert "max search depth too small" not in report, report
    lines = re.findall(r"ends with((?: \d+)+)", report)
    return Outcomes(_number(r"errors: (\d+)", report) > 0, frozenset(tuple(map(int, line.split())) for line in lines))


def outcomes(program: Program, names: Sequence[str]) -> Outcomes:
    """The same of a program that was loaded, under the reference SC model."""
    numbers = [n for name in names if (n := program.variable_named(name)) is not None]
    found = explore(program, memory_model("sc"))
    ends = [state for state in found.states if is_final(program, state)]
    return Outcomes(bool(found.failures), frozenset(tuple(state.memory[n] for n in numbers) for state in ends))


def _call(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, f"{' '.join(command)}:\n{output}"
    return output


def _number(pattern: str, report: str) -> int:
    found = re.search(pattern, report)
    assert found is not None, report
    return int(found.group(1))


def count_as_spin_does(program: Program, *, has_init: bool = False) -> int:
    """The number of states that Spin stores for the same model.

    Spin's states are ours, told apart by how many processes are still alive: a process that has reached its end dies in
    a step of its own, the one started last first, and its local variables die with it. If `init` only starts the
    others (in one `atomic`), Spin has one more state, before that step, and `init`, process 0, dies last.
    """
    model = memory_model("sc")

    def follow(found: tuple[State, int]) -> Iterator[tuple[State, int]]:
        state, alive = found
        yield from ((after, alive) for _, after in successors(program, model, state) if isinstance(after, State))
        if alive and _can_die(program, state, alive - 1 - has_init):
            yield _without_locals(state, alive - 1 - has_init), alive - 1

    first = [(state, len(program.processes) + has_init) for state in starts(program, model)]
    return sum(1 for _ in breadth_first(first, follow)) + has_init


def _can_die(program: Program, state: State, process: int) -> bool:
    if process < 0:
        return True  # `init`, which is at its end
    return not any(program.processes[process].leaving(state.locations[process]))


def _without_locals(state: State, process: int) -> State:
    if process < 0:
        return state
    return replace(state, registers=set_at(state.registers, process, (0,) * len(state.registers[process])))
