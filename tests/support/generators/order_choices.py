"""Random programs with places whose orders can be stronger, and a condition that some model reaches and SC does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from random import Random

from memfence.axiomatic.library import models_named
from memfence.axiomatic.unroll import unroll
from memfence.engines.axiomatic.solve import Executions
from memfence.engines.axiomatic.violations import as_seen_by
from memfence.program.expressions import TRUE, Binary, Const, Expr, RegisterOf, Shared, conjunction, variable_address
from memfence.program.ir import FencePoint, Final, Program
from memfence.source import SourceText
from memfence.synthesis.orders.least import Choice
from memfence.synthesis.orders.places import OrderEdit
from support.generators.ordered_programs import ordered_program

MODELS = ("x86", "rc11", "armv8", "riscv")


def program_with_places(seed: int, *, fences: bool = True) -> Program:
    """A random program in which every step has a place of its own, and some have one for a fence behind them."""
    random = Random(seed)
    program = ordered_program(seed)
    source = SourceText("random", " " * 1000)
    at = iter(range(1000))
    processes = []
    for process in program.processes:
        transitions = []
        for step in process.transitions:
            span = source.span(n := next(at), n + 1)
            point = FencePoint(process.name, str(n), span) if fences and random.random() < 0.2 else None
            transitions.append(replace(step, span=span, point=point))
        processes.append(replace(process, transitions=tuple(transitions)))
    return replace(program, processes=tuple(processes), source=source)


def observed(program: Program) -> tuple[Expr, ...]:
    """Everything that can be seen at the end."""
    registers = [RegisterOf(p, r) for p, one in enumerate(program.processes) for r in range(len(one.registers))]
    return (*registers, *(Shared(variable_address(v)) for v in range(len(program.variables))))


def outcomes(program: Program, name: str) -> set[tuple[int, ...]]:
    """What the program can end with under all variants of the model, by the solver."""
    found: set[tuple[int, ...]] = set()
    everything = Final("exists", TRUE, "true", tuple((str(n), expr) for n, expr in enumerate(observed(program))))
    executions = Executions(unroll(as_seen_by(name, program, [everything]), 1))
    for model in models_named(name):
        active = executions.add(model)
        found.update(outcome.values for outcome in executions.outcomes(active, observed(program)))
    return found


def unwanted(program: Program, names: Sequence[str], seed: int) -> Final | None:
    """An outcome that one of the models has and SC has not; None where there is none."""
    more = sorted(set[tuple[int, ...]]().union(*(outcomes(program, name) for name in names)) - outcomes(program, "sc"))
    if not more:
        return None
    values = Random(seed).choice(more)
    equal = [Binary("==", expr, Const(n)) for expr, n in zip(observed(program), values, strict=True)]
    return Final("exists", conjunction(*equal), "an outcome that SC does not have")


def closed_choices(edits: Sequence[OrderEdit]) -> Iterator[Choice]:
    """Every choice of edits in which seq_cst comes with the other strengths of its place."""
    by_place: dict[int, list[int]] = {}
    for number, edit in enumerate(edits):
        by_place.setdefault(edit.place, []).append(number)
    ways = [list(_closed(edits, numbers)) for numbers in by_place.values()]
    return (frozenset().union(*parts) for parts in product(*ways))


def _closed(edits: Sequence[OrderEdit], numbers: list[int]) -> Iterator[frozenset[int]]:
    yield frozenset(numbers)
    halves = [n for n in numbers if edits[n].strength != "seq_cst"]
    subsets = product([False, True], repeat=len(halves))
    found = {frozenset(n for n, taken in zip(halves, one, strict=True) if taken) for one in subsets}
    yield from sorted(found - {frozenset(numbers)}, key=sorted)
