"""`python benchmarks/ltl.py [TABLE]`: LTL in processor seconds. Prints tables for docs/results/ltl.md:
`states`, `property`, `threads`, `fairness`, `sizes`, `order`, or all.

1. BEEM's `peterson.4` and `lamport.5`: all states, beside Spin on the same model as Promela (reductions off); and
   property 4, GF of someone in the critical section, with dead registers kept and with dead registers reset.
   The same by the search in depth alone, and with all states first by one and two threads: processor seconds of the
   thread that works longest, which is what the search takes where each thread has a processor of its own.
2. Fairness: 4 processes that store to 6 variables each under PSO, with 0 to 24 of their buffers to be drained again and
   again; the best of three. What else must recur never does, so that every search is complete.
3. Sizes of automata beside those of `spin -f`, where Spin finishes.
4. Partial-order reduction: BEEM's formulas that hold, under SC and with one pending store per process and variable,
   with and without weak fairness: states of the product before and after, and the geometric mean of the ratios.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from math import exp, log
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), *(str(ROOT / "tests" / part) for part in ("papers", ".", "unit/questions"))]

import spin  # noqa: E402
from beem import Instance, instances, property_of, small_instances  # noqa: E402
from beem_answers import as_predicates, searched  # noqa: E402
from test_ltl_against_spin import spin_text  # noqa: E402
from test_ltl_sizes import ROWS as FORMULAS  # noqa: E402

from memfence.diagnostics import InputError  # noqa: E402
from memfence.engines.native import emptiness as native  # noqa: E402
from memfence.engines.native.emptiness import SAFE_REDUCTIONS, Emptiness, can_be_ordered, find_accepted_run  # noqa: E402
from memfence.models.fairness import Condition, Fairness, Recurring, memory_fairness  # noqa: E402
from memfence.models.spec import ModelSpec  # noqa: E402
from memfence.program.builder import ProcessBuilder  # noqa: E402
from memfence.program.expressions import Binary, Const, Shared, variable_address  # noqa: E402
from memfence.program.ir import Domain, Fence, Ltl, Program, SharedVar, Store  # noqa: E402
from memfence.questions.ltl.check import claim_of_formula, task_of  # noqa: E402
from memfence.questions.ltl.formula import Not  # noqa: E402
from memfence.questions.ltl.translate import translate  # noqa: E402
from memfence.tasks.limits import Limits  # noqa: E402
from memfence.tasks.task import BuchiEdge, NoAcceptedRun  # noqa: E402
from support.models import spec  # noqa: E402

SC = spec("sc")
PSO = spec("pso", 1)
TSO_VAR = spec("tso", 1, True)
MOST_STATES = 300_000
"""Of the instance under SC, for the table of partial-order reduction."""
MOST_PRODUCT_STATES = 3_000_000
PATIENCE = 20
"""Seconds after which `spin -f` is stopped."""


def main() -> None:
    tables = {
        "states": compare_states,
        "property": time_property,
        "threads": time_threads,
        "fairness": time_fairness,
        "sizes": compare_sizes,
        "order": compare_order,
    }
    for name in sys.argv[1:] or tables:
        tables[name]()


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


def decided(instance: Instance, number: int, reductions: frozenset[str], threads: int = 1) -> Emptiness:
    program = instance.load()
    goal = goal_of(program, instance, number, SC, Fairness.NONE)
    return find_accepted_run(program, SC, goal, limits=Limits(threads=threads), reductions=reductions)


def time_threads() -> None:
    """The best of three: the machine does other work, too."""
    print("\n| model | product states | in depth, s | one thread, s | two threads, s | all of both, s | one / two |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in ("peterson.4", "lamport.5"):
        native.ALONE_STATES = 10**9
        deep = min(seconds_of(name, 1) for _ in range(3))
        native.ALONE_STATES = 50_000
        one, two = (min(seconds_of(name, threads) for _ in range(3)) for threads in (1, 2))
        numbers = f"{deep[2]:,} | {deep[0]:.2f} | {one[0]:.2f} | {two[0]:.2f} | {two[1]:.2f} | {one[0] / two[0]:.2f}"
        print(f"| {name} | {numbers} |", flush=True)


def seconds_of(name: str, threads: int) -> tuple[float, float, int]:
    """Of the thread that works longest and of all, without the reading; and the states."""
    program = named(name).load()
    goal = goal_of(program, named(name), 4, SC, Fairness.NONE)
    own, everyone = time.thread_time(), time.process_time()
    found = find_accepted_run(program, SC, goal, limits=Limits(threads=threads), reductions=frozenset())
    own, everyone = time.thread_time() - own, time.process_time() - everyone
    assert found.complete
    return max(own, everyone - own), everyone, found.cost.states


def goal_of(program: Program, instance: Instance, number: int, model: ModelSpec, fairness: Fairness) -> NoAcceptedRun:
    stated = property_of(instance, number)
    claim = claim_of_formula(Ltl("ltl", stated.formula), program, as_predicates(stated.definitions))
    goal = task_of(program, claim, model, fairness=fairness, limits=Limits()).goal
    assert isinstance(goal, NoAcceptedRun)
    return goal


def time_fairness() -> None:
    program = stores_everywhere(processes=4, variables=6)
    drained = memory_fairness(program, PSO.definition)
    never = Recurring(Binary("==", Shared(variable_address(0)), Const(9)))
    anything = ((BuchiEdge(0, 0, 0, 0),),)
    print("\n| acceptance sets | product states | transitions | memfence, s |\n|---:|---:|---:|---:|")
    for count in (0, 1, 2, 4, 8, 12, 16, 20, 24):
        conditions: tuple[Condition, ...] = (never, *drained[:count])
        seconds = []
        for _ in range(3):
            before = time.process_time()
            found = find_accepted_run(program, PSO, NoAcceptedRun(anything, 0, 0, (), conditions))
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


def compare_order() -> None:
    """A row for each model and fairness; every formula in it holds, so that both searches are complete."""
    print("\n| model | fairness | formulas | states without | with | geometric mean | least | s without | with |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|")
    for model in (SC, TSO_VAR):
        for fairness in (Fairness.NONE, Fairness.WEAK):
            pairs = list(ordered_pairs(model, fairness))
            ratios = [after.cost.states / before.cost.states for before, after in pairs]
            mean = exp(sum(map(log, ratios)) / len(ratios))
            whole, reduced = (sum(pair[n].cost.states for pair in pairs) for n in (0, 1))
            took, takes = (sum(pair[n].cost.seconds for pair in pairs) for n in (0, 1))
            name = "sc" if model is SC else "tso, one pending store per variable"
            print(
                f"| {name} | {fairness.name.lower()} | {len(pairs)} | {whole:,} | {reduced:,} | {mean:.2f} | "
                f"{min(ratios):.2f} | {took:.1f} | {takes:.1f} |",
                flush=True,
            )


def ordered_pairs(model: ModelSpec, fairness: Fairness) -> Iterator[tuple[Emptiness, Emptiness]]:
    """Both searches for every formula of BEEM's small instances that holds and has no X."""
    for instance in small_instances(MOST_STATES):
        program = instance.load()
        for number in (known.number for known in instance.answers if known.is_ltl):
            try:
                goal = goal_of(program, instance, number, model, fairness)
            except InputError:  # more conditions than the core has marks
                continue
            if not can_be_ordered(goal):
                continue
            limits = Limits(most_states=MOST_PRODUCT_STATES)
            before = find_accepted_run(program, model, goal, limits=limits, reductions=SAFE_REDUCTIONS)
            if before.lasso is not None or not before.complete:
                continue
            after = find_accepted_run(program, model, goal, limits=limits)
            assert after.lasso is None and after.complete, (instance.name, number)
            yield before, after


if __name__ == "__main__":
    main()
