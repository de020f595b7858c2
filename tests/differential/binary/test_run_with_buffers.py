"""Compiled programs with store buffers: exploring them meets every outcome that the reference models have, no other.

The program takes outcomes as arguments and fails with one of them, or with any other one: that shows which are met.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from memfence.api.check import check
from memfence.api.run import run
from memfence.binary.build import Sources, build_program
from memfence.deadline import Deadline
from memfence.models.pso import Pso
from memfence.models.sc import Sc
from memfence.models.steps import MemoryModel, is_final, starts, successors
from memfence.models.tso import Tso
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.ir import Assume, Domain, Fence, Load, Process, Program, SharedVar, Store
from memfence.questions.run import explore_buffers
from memfence.questions.run_result import RunOptions, RunResult
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang

NAMES = "xyz"
KINDS = ["store"] * 4 + ["load"] * 4 + ["exchange", "await", "await", "fence", "release"]
SHAPES = [(("store", "load"), ("store", "load"))] * 4 + [(("store", "store"), ("load", "load"))] * 2 + [()]
"""What two threads do to two variables, in opposite order, whatever else they do: what buffers change, and nothing."""
LOADING = ("load", "exchange", "await")
MODELS = {"tso": Tso(), "pso": Pso()}
NONE = -1


@dataclass(frozen=True)
class Statement:
    """`await`: load until the variable is not 0. `release`: a fence between stores."""

    kind: str
    variable: int
    value: int

    def in_c(self, register: str) -> str:
        name = NAMES[self.variable]
        match self.kind:
            case "store":
                return f"{name} = {self.value};"
            case "load":
                return f"{register} = {name};"
            case "exchange":
                return f"{register} = __atomic_exchange_n(&{name}, {self.value}, __ATOMIC_SEQ_CST);"
            case "await":
                return f"while (({register} = {name}) == 0) ;"
            case "release":
                return "__atomic_thread_fence(__ATOMIC_RELEASE);"
            case _:
                return "__atomic_thread_fence(__ATOMIC_SEQ_CST);"

    def emit(self, builder: ProcessBuilder, here: int, there: int, register: int) -> None:
        address = variable_address(self.variable)
        load, store = Load(register, address), Store(address, Const(self.value))
        match self.kind:
            case "store":
                builder.emit(here, there, store)
            case "load":
                builder.emit(here, there, load)
            case "exchange":
                builder.emit(here, there, load, store, locked=True)
            case "await":
                builder.emit(here, there, load, Assume(Binary("!=", Register(register), Const(0))))
            case _:
                builder.emit(here, there, Fence("sfence" if self.kind == "release" else "mfence"))


Threads = list[list[Statement]]


def random_threads(seed: int) -> Threads:
    """Two or three threads; many store and load the same variable, so that stores are forwarded. Nobody awaits what no
    other thread ever stores."""
    chance = random.Random(seed)
    variables = chance.choice((2, 2, 3))
    sizes = chance.choice(((3, 3), (3, 4), (4, 4), (2, 2, 2), (2, 2, 3)))

    pair = chance.sample(range(variables), 2)
    shapes = chance.choice(SHAPES)

    def thread(t: int, size: int) -> list[Statement]:
        body = [
            Statement(chance.choice(KINDS), chance.randrange(variables), chance.choice((1, 2))) for _ in range(size)
        ]
        if t < len(shapes):
            places = sorted(chance.sample(range(size), 2))
            for place, kind, variable in zip(places, shapes[t], pair if t == 0 else pair[::-1], strict=True):
                body[place] = replace(body[place], kind=kind, variable=variable)
        return body

    threads = [thread(t, size) for t, size in enumerate(sizes)]
    stored = [{s.variable for s in body if s.kind in ("store", "exchange")} for body in threads]

    def usable(t: int, statement: Statement) -> Statement:
        others = set().union(*stored[:t], *stored[t + 1 :])
        is_lost = statement.kind == "await" and statement.variable not in others
        return replace(statement, kind="load") if is_lost else statement

    return [[usable(t, statement) for statement in body] for t, body in enumerate(threads)]


def registers(threads: Threads) -> list[list[str]]:
    """The name of what each statement loads into, empty for those that load nothing."""
    return [
        [f"r{t}{i}" if statement.kind in LOADING else "" for i, statement in enumerate(body)]
        for t, body in enumerate(threads)
    ]


def c_text(threads: Threads, assertion: str) -> str:
    names = registers(threads)
    loaded = [name for body in names for name in body if name]
    code = " + ".join(["0", *(f"{3**i} * {name}" for i, name in enumerate(loaded))])
    bodies = [
        f"static void *t{t}(void *unused) {{ "
        f"{' '.join(s.in_c(name) for s, name in zip(body, names[t], strict=True))} return 0; }}"
        for t, body in enumerate(threads)
    ]
    creates = [f"pthread_create(&h[{t}], 0, t{t}, 0);" for t in range(len(threads))]
    joins = [f"pthread_join(h[{t}], 0);" for t in range(len(threads))]
    main = (
        f"int main(int count, char **words) {{ pthread_t h[{len(threads)}]; {' '.join(creates + joins)} "
        f"int code = {code}; {assertion} return 0; }}"
    )
    head = ["#include <assert.h>", "#include <pthread.h>", "#include <stdlib.h>", "static volatile int x, y, z;"]
    head += [f"static int {name};" for name in loaded]
    return "\n".join([*head, *bodies, main]) + "\n"


BY_ARGUMENTS = (
    "int met = 0; for (int i = 2; i < count; i++) met |= atoi(words[i]) == code; assert(met != atoi(words[1]));"
)
"""First whether the outcomes that follow are the wrong ones (1) or the right ones (0)."""


def model_of(threads: Threads) -> Program:
    variables = tuple(SharedVar(name, Domain(0, 2)) for name in NAMES)
    return Program("made", variables, tuple(_process(t, body) for t, body in enumerate(threads)))


def _process(number: int, body: Sequence[Statement]) -> Process:
    builder = ProcessBuilder(f"t{number}", f"t{number}")
    here = builder.location()
    for i, statement in enumerate(body):
        register = builder.register(f"r{i}", Domain(0, 2))
        there = builder.location()
        statement.emit(builder, here, there, register)
        here = there
    return builder.build(0)


def outcomes(threads: Threads, model: MemoryModel) -> set[int]:
    """The code of what is loaded in each final state; NONE: some state is stuck."""
    program = model_of(threads)
    kept = [(t, i) for t, names in enumerate(registers(threads)) for i, name in enumerate(names) if name]
    found, seen, stack = set(), set(), list(starts(program, model))
    while stack:
        state = stack.pop()
        if state in seen:
            continue
        seen.add(state)
        after = [following for _, following in successors(program, model, state)]
        stack += [following for following in after if not hasattr(following, "reason")]  # type: ignore[misc]
        if not after:
            values = [state.registers[t][i] for t, i in kept]
            found.add(sum(3**i * v for i, v in enumerate(values)) if is_final(program, state) else NONE)
    return found


def check_outcomes(seed: int, name: str, folder: Path) -> int:
    """Every outcome of the model is met, no other one is. Returns how many are there that SC does not have."""
    threads = random_threads(seed)
    path = folder / f"random{seed}.c"
    path.write_text(c_text(threads, BY_ARGUMENTS))
    program = build_program(Sources(files=(str(path),)), folder)
    options = RunOptions(model=name)

    def explored(*words: int) -> RunResult:
        asked = replace(options, arguments=tuple(map(str, words)))
        return explore_buffers(program, (str(path),), asked, Deadline(60))

    expected = outcomes(threads, MODELS[name])
    shown = f"{seed}\n{path.read_text()}"
    if NONE in expected:
        assert [finding.kind for finding in explored(1).findings] == ["deadlock"], shown
        return 0
    whole = explored(0, *expected)
    assert whole.is_simulation_complete and not whole.findings, shown
    for code in expected:
        assert [finding.cause for finding in explored(1, code).findings] == ["assertion"], (code, shown)
    return len(expected - outcomes(threads, Sc()))


def check_verdict(seed: int, folder: Path) -> tuple[bool, bool]:
    """`run` decides as `check` and as the model does: whether one outcome can be. Returns that, and whether buffers had
    to be explored."""
    chance = random.Random(seed)
    threads = random_threads(seed)
    expected, under_sc = outcomes(threads, Tso()), outcomes(threads, Sc())
    loads = sum(bool(name) for names in registers(threads) for name in names)
    candidates = sorted(expected - under_sc) or [chance.randrange(3**loads)]
    code = chance.choice(candidates) if chance.random() < 0.3 else chance.randrange(3**loads)
    path = folder / f"random{seed}.c"
    path.write_text(c_text(threads, f"assert(code != {code});"))
    ran = run(path, timeout_seconds=60)
    wrong = bool({code, NONE} & expected)
    assert ran.verdict is (Verdict.VIOLATED if wrong else Verdict.HOLDS), f"{seed}\n{path.read_text()}"
    assert check(path, model="tso").verdict is ran.verdict, f"{seed}\n{path.read_text()}"
    return wrong, ran.simulated is not None


@pytest.mark.parametrize("name", MODELS)
def test_a_few_random_programs_have_the_outcomes_of_their_models(name: str, tmp_path: Path) -> None:
    assert sum(check_outcomes(seed, name, tmp_path) for seed in range(6)) > 0, "buffers have to matter"


@needs_clang
def test_a_few_random_programs_have_the_verdict_of_their_models(tmp_path: Path) -> None:
    found = [check_verdict(seed, tmp_path) for seed in range(10)]
    assert {wrong for wrong, _ in found} == {False, True} and any(simulated for _, simulated in found)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("part", range(10))
def test_random_programs_have_the_outcomes_of_their_models(name: str, part: int, tmp_path: Path) -> None:
    assert sum(check_outcomes(100 + 30 * part + seed, name, tmp_path) for seed in range(30)) > 0


@needs_clang
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_random_programs_have_the_verdict_of_their_models(part: int, tmp_path: Path) -> None:
    found = [check_verdict(100 + 30 * part + seed, tmp_path) for seed in range(30)]
    assert {wrong for wrong, _ in found} == {False, True} and any(simulated for _, simulated in found)
