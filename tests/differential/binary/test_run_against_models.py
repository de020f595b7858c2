"""Compiled programs against their models: what `run` calls borderline, `explore` does, and so does the definition."""

from __future__ import annotations

import csv
import random
from dataclasses import dataclass
from pathlib import Path

import pytest

from memfence.api.explore import explore
from memfence.api.run import run
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.ir import Assume, Domain, Fence, Load, Op, Process, Program, SharedVar, Store
from memfence.tasks.answer import Verdict
from support.c_compiler import needs_clang
from twins.memory_traces import sc_traces, tso_traces

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "c"
ROWS = list(csv.DictReader((EXAMPLES / "expected.csv").open()))
ROUNDS = {"mcs_lock.c": ("ROUNDS=2",)}
"""Threads that never end, unless they are told to: only then can all executions be run."""
NAMES = "xyz"


@dataclass(frozen=True)
class Statement:
    """`store`: variable = value. `load`. `exchange`: locked. `copy`: if the variable is set, store to the other one."""

    kind: str
    variable: int = 0
    value: int = 1
    other: int = 0

    def in_c(self, number: int) -> str:
        name, other = NAMES[self.variable], NAMES[self.other]
        match self.kind:
            case "store":
                return f"{name} = {self.value};"
            case "load":
                return f"int r{number} = {name}; (void)r{number};"
            case "exchange":
                return f"__atomic_exchange_n(&{name}, {self.value}, __ATOMIC_SEQ_CST);"
            case "copy":
                return f"if ({name}) {other} = {self.value};"
            case _:
                return "__atomic_thread_fence(__ATOMIC_SEQ_CST);"


def random_threads(seed: int) -> list[list[Statement]]:
    """Two or three short threads over two or three variables; most of them store before they load."""
    chance = random.Random(seed)
    kinds = ["store"] * 4 + ["load"] * 4 + ["exchange", "fence", "copy"]
    variables = chance.choice((2, 2, 3))

    def statement(kind: str) -> Statement:
        return Statement(kind, chance.randrange(variables), chance.choice((1, 2)), chance.randrange(variables))

    def thread() -> list[Statement]:
        shape = [chance.choice(kinds) for _ in range(chance.choice((2, 3)))]
        if chance.random() < 0.7:
            shape = ["store", *shape[:1], "load"] if chance.random() < 0.5 else ["store", "load", *shape[:1]]
        return [statement(kind) for kind in shape]

    return [thread() for _ in range(chance.choice((2, 2, 2, 3)))]


def c_text(threads: list[list[Statement]]) -> str:
    bodies = [
        f"static void *t{n}(void *unused) {{ {' '.join(s.in_c(i) for i, s in enumerate(body))} return 0; }}"
        for n, body in enumerate(threads)
    ]
    names = [f"h{n}" for n in range(len(threads))]
    creates = [f"pthread_create(&h{n}, 0, t{n}, 0);" for n in range(len(threads))]
    joins = [f"pthread_join({name}, 0);" for name in names]
    main = f"int main(void) {{ pthread_t {', '.join(names)}; {' '.join(creates + joins)} return 0; }}"
    return "\n".join(["#include <pthread.h>", "static volatile int x, y, z;", *bodies, main]) + "\n"


def model(threads: list[list[Statement]]) -> Program:
    variables = tuple(SharedVar(name, Domain(0, 2)) for name in NAMES)
    return Program("made", variables, tuple(_process(n, body) for n, body in enumerate(threads)))


def _process(number: int, body: list[Statement]) -> Process:
    builder = ProcessBuilder(f"t{number}", f"t{number}")
    builder.register("r", Domain(0, 2))
    here = builder.location()
    for statement in body:
        there = builder.location()
        _emit(builder, statement, here, there)
        here = there
    return builder.build(0)


def _emit(builder: ProcessBuilder, s: Statement, here: int, there: int) -> None:
    address = variable_address(s.variable)
    store: Op = Store(address, Const(s.value))
    match s.kind:
        case "store":
            builder.emit(here, there, store)
        case "load":
            builder.emit(here, there, Load(0, address))
        case "exchange":
            builder.emit(here, there, Load(0, address), store, locked=True)
        case "copy":
            loaded, taken = builder.location(), builder.location()
            builder.emit(here, loaded, Load(0, address))
            builder.emit(loaded, taken, Assume(Binary("!=", Register(0), Const(0))))
            builder.emit(taken, there, Store(variable_address(s.other), Const(s.value)))
            builder.emit(loaded, there, Assume(Binary("==", Register(0), Const(0))))
        case _:
            builder.emit(here, there, Fence())


def is_safe_by_definition(program: Program) -> bool:
    """Definition 5 of the paper: every TSO execution has the trace of an SC execution."""
    return tso_traces(program) <= sc_traces(program)[0]


def check_agreement(seed: int, folder: Path) -> bool:
    """The same answer three times; returns whether the program is safe."""
    threads = random_threads(seed)
    path = folder / f"random{seed}.c"
    path.write_text(c_text(threads))
    ran = run(path, confirm=False, timeout_seconds=60)
    assert ran.counts.failing == ran.counts.deadlocked == 0 and ran.fault is None
    safe = is_safe_by_definition(model(threads))
    assert (ran.verdict is Verdict.HOLDS) == safe, path.read_text()
    shared = run(path, confirm=False, timeout_seconds=60, threads=3).counts
    assert (shared.executions, shared.borderline) == (ran.counts.executions, ran.counts.borderline)
    explored = explore(path)
    assert (explored.verdict is Verdict.HOLDS) == safe, path.read_text()
    return safe


@needs_clang
def test_a_few_random_programs_are_borderline_or_not_by_all_three_ways(tmp_path: Path) -> None:
    safe = [check_agreement(seed, tmp_path) for seed in range(8)]
    assert 1 <= sum(safe) <= 7, "the generator has to make both kinds"


@needs_clang
@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_random_programs_are_borderline_or_not_by_all_three_ways(part: int, tmp_path: Path) -> None:
    safe = [check_agreement(100 + 30 * part + seed, tmp_path) for seed in range(30)]
    assert 3 <= sum(safe) <= 27, "the generator has to make both kinds"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["file"])
def test_an_example_has_the_verdict_when_run_that_it_has_when_checked(row: dict[str, str]) -> None:
    result = run(EXAMPLES / row["file"], timeout_seconds=20, macros=ROUNDS.get(row["file"], ()))
    only_by_chance = result.verdict is Verdict.HOLDS_UP_TO and result.options.spurious == 1
    assert ("holds" if only_by_chance else result.verdict.value) == row["tso"]
    assert (result.counts.failing + result.counts.deadlocked > 0) == (row["sc"] == "violated")


@pytest.mark.parametrize("file", ROUNDS)
def test_an_example_without_an_end_is_run_up_to_a_bound(file: str) -> None:
    assert run(EXAMPLES / file, timeout_seconds=20, depth=500).verdict is Verdict.HOLDS_UP_TO
