"""Small programs as control graphs, one edge a line: for tests about loops.

`graph("0: x := 1 -> 0")`: an edge from location 0 to itself. Between `:` and `->` stand ops, separated by `;`:
`x := 1`, `x == 1` or `x != 1` (wait until memory or the own buffer says so), `mfence`, `sfence`, `lock`, `unlock`, or
nothing. `locked` in front makes the edge one locked step.
"""

from __future__ import annotations

from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.ir import Assume, Domain, Fence, Load, Lock, Op, Process, Program, SharedVar, Store, Unlock

VALUES = Domain(0, 3)


def control_graphs(shared: dict[str, int], *processes: tuple[str, ...], name: str = "graph") -> Program:
    """The program with these shared variables and initial values; each process is a tuple of edges."""
    variables = tuple(SharedVar(variable, VALUES, (value,)) for variable, value in shared.items())
    names = list(shared)
    return Program(name, variables, tuple(_process(f"p{n}", edges, names) for n, edges in enumerate(processes)))


def _process(name: str, edges: tuple[str, ...], variables: list[str]) -> Process:
    builder = ProcessBuilder(name, name)
    scratch = builder.scratch(0, VALUES)
    parts = [_split(edge) for edge in edges]
    for _ in range(1 + max(place for source, _, target in parts for place in (source, target))):
        builder.location()
    for source, text, target in parts:
        locked = text.startswith("locked ")
        ops = [op for part in text.removeprefix("locked ").split(";") for op in _ops(part.strip(), variables, scratch)]
        builder.emit(source, target, *ops, locked=locked)
    return builder.build(0)


def _split(edge: str) -> tuple[int, str, int]:
    head, _, target = edge.rpartition("->")
    source, _, text = head.partition(":")
    return int(source), text.strip(), int(target)


def _ops(text: str, variables: list[str], scratch: int) -> tuple[Op, ...]:
    match text.split():
        case []:
            return ()
        case ["mfence"]:
            return (Fence("mfence"),)
        case ["sfence"]:
            return (Fence("sfence"),)
        case ["lock"]:
            return (Lock(),)
        case ["unlock"]:
            return (Unlock(),)
        case [variable, ":=", value]:
            return (Store(variable_address(variables.index(variable)), Const(int(value))),)
        case [variable, "==" | "!=" as compare, value]:
            load = Load(scratch, variable_address(variables.index(variable)))
            return load, Assume(Binary("==" if compare == "==" else "!=", Register(scratch), Const(int(value))))
        case _:
            raise AssertionError(text)
