"""`python benchmarks/ltl.py`: LTL in numbers. Processor seconds, one thread; prints tables for docs/results/ltl.md.

1. BEEM's `peterson.4` and `lamport.5`: all states, beside Spin on the same model as Promela (reductions off); and
   property 4, GF of someone in the critical section, with dead registers kept and with dead registers reset.
2. Fairness: 4 processes that store to 6 variables each under PSO, with 0 to 24 of their buffers to be drained again and
   again; the best of three. What else must recur never does, so that every search is complete.
3. Sizes of automata beside those of `spin -f`, where Spin finishes.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), *(str(ROOT / "tests" / part) for part in ("papers", ".", "unit/questions"))]

import spin  # noqa: E402
from beem import Instance, instances, property_of  # noqa: E402
from beem_answers import as_predicates, searched  # noqa: E402
from test_ltl_against_spin import spin_text  # noqa: E402
from test_ltl_sizes import ROWS as FORMULAS  # noqa: E402

from memfence.engines.native.emptiness import SAFE_REDUCTIONS, Emptiness, find_accepted_run, reference_model  # noqa: E402
from memfence.models.fairness import Condition, Recurring, memory_fairness  # noqa: E402
from memfence.program.builder import ProcessBuilder  # noqa: E402
from memfence.program.expressions import Binary, Const, Shared, variable_address  # noqa: E402
from memfence.program.ir import Domain, Fence, Ltl, Program, SharedVar, Store  # noqa: E402
from memfence.questions.ltl.check import claim_of_formula  # noqa: E402
from memfence.questions.ltl.formula import Not  # noqa: E402
from memfence.questions.ltl.translate import translate  # noqa: E402
from memfence.tasks.task import BuchiEdge  # noqa: E402
from support.models import spec  # noqa: E402

SC = spec("sc")
PSO = spec("pso", 1)
PATIENCE = 20
"""Seconds after which `spin -f` is stopped."""


def main() -> None:
    compare_states()
    time_property()
    time_fairness()
    compare_sizes()


def named(name: str) -> Instance:
    (found,) = (instance for instance in instances() if instance.name == name)
    return found


def compare_states() -> None:
    print("| model | states | transitions | memfence, s | Spin, s (pan alone) |\n|---|---:|---:|---:|---:|")
    for name in ("peterson.4", "lamport.5"):
        program = named(name).load()
        before = time.process_time()
        ours = searched(program, None, 1)
        took = time.process_time() - before
        theirs = spin.run_spin(program, reductions=False) if spin.is_installed() else None
        assert ours.cost.states == named(name).states and (theirs is None or theirs.states == ours.cost.states)
        pan = "not installed" if theirs is None else f"{theirs.pan.cpu:.2f}"
        print(f"| {name} | {ours.cost.states:,} | {ours.cost.transitions:,} | {took:.2f} | {pan} |", flush=True)


def time_property() -> None:
    print("\n| property | dead registers | product states | transitions | memfence, s |\n|---|---|---:|---:|---:|")
    for name in ("peterson.4", "lamport.5"):
        for kind, reductions in (("kept", frozenset[str]()), ("reset (default)", SAFE_REDUCTIONS)):
            before = time.process_time()
            found = decided(named(name), 4, reductions)
            took = time.process_time() - before
            assert found.complete
            numbers = f"{found.cost.states:,} | {found.cost.transitions:,} | {took:.2f}"
            print(f"| {name} prop4 (holds) | {kind} | {numbers} |", flush=True)


def decided(instance: Instance, number: int, reductions: frozenset[str]) -> Emptiness:
    program, stated = instance.load(), property_of(instance, number)
    claim = claim_of_formula(Ltl("ltl", stated.formula), program, as_predicates(stated.definitions))
    edges = tuple(
        tuple(BuchiEdge(e.target, e.positive, e.negative, e.marks) for e in leaving)
        for leaving in claim.automaton.edges
    )
    automaton = claim.automaton
    return find_accepted_run(
        program, SC, edges, automaton.initial, automaton.marks, claim.atoms, claim.recurring, reductions=reductions
    )


def time_fairness() -> None:
    program = stores_everywhere(processes=4, variables=6)
    drained = memory_fairness(program, reference_model(PSO))
    never = Recurring(Binary("==", Shared(variable_address(0)), Const(9)))
    anything = ((BuchiEdge(0, 0, 0, 0),),)
    print("\n| acceptance sets | product states | transitions | memfence, s |\n|---:|---:|---:|---:|")
    for count in (0, 1, 2, 4, 8, 12, 16, 20, 24):
        conditions: tuple[Condition, ...] = (never, *drained[:count])
        seconds = []
        for _ in range(3):
            before = time.process_time()
            found = find_accepted_run(program, PSO, anything, 0, 0, (), conditions)
            seconds.append(time.process_time() - before)
            assert found.complete
        took = min(seconds)
        print(f"| {count} + 1 | {found.cost.states:,} | {found.cost.transitions:,} | {took:.2f} |", flush=True)


def stores_everywhere(processes: int, variables: int) -> Program:
    """Every process stores to all variables in turn, with a fence after each, for ever."""
    built = []
    for number in range(processes):
        builder = ProcessBuilder(f"P{number}", "P")
        here = first = builder.location()
        for variable in range(variables):
            between, after = builder.location(), first if variable == variables - 1 else builder.location()
            builder.emit(here, between, Store(variable_address(variable), Const(1)))
            builder.emit(between, after, Fence("mfence"))
            here = after
        built.append(builder.build(first))
    shared = tuple(SharedVar(f"x{n}", Domain(0, 9)) for n in range(variables))
    return Program("stores everywhere", shared, tuple(built))


def compare_sizes() -> None:
    print("\n| property | `spin -f`, states/edges | s | memfence, states/edges/marks | s |\n|---|---:|---:|---:|---:|")
    for name, (formula, _, _) in FORMULAS.items():
        before = time.process_time()
        ours = translate(Not(formula))
        took = time.process_time() - before
        size = f"{len(ours.edges)}/{sum(map(len, ours.edges))}/{ours.marks}"
        text = name.replace("|", "\\|")
        theirs, their_time = spin_size(spin_text(Not(formula))) if spin.is_installed() else ("-", "-")
        print(f"| {text} | {theirs} | {their_time} | {size} | {took:.2f} |", flush=True)


def spin_size(formula: str) -> tuple[str, str]:
    """States and edges of Spin's never claim, and the processor time; nothing after `PATIENCE` seconds."""
    limited = ["timeout", str(PATIENCE), "spin", "-f", formula]
    before, start = spin.getrusage(spin.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    after = spin.getrusage(spin.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return "not finished", f"> {time.perf_counter() - start:.0f}"
    lines = done.stdout.splitlines()
    states = sum(line.endswith(":") and not lines[n - 1].endswith(":") for n, line in enumerate(lines))
    edges = sum(":: " in line for line in lines) + sum(line.strip() == "skip" for line in lines)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{states}/{edges}", f"{cpu:.2f}"


if __name__ == "__main__":
    main()
