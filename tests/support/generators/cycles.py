"""Litmus tests made from cycles of relations, with the answer that the cycle predicts.

A cycle leads from access to access: by rf (Rfe), fr (Fre) or co (Coe) to another process and the same variable, or by
program order (the other edges) within a process. Its test asks for the one outcome in which all these relations hold.
No model allows that unless it gives up one of the edges: SC keeps all of them; TSO gives up a store before a load of
another variable, PSO also a store before a store to another variable, each where no fence or locked access forbids it.
The idea is that of diy (Alglave, Maranget, Sarkar and Sewell, "Litmus: running tests against hardware", 2011).

The prediction is exact since each part of a cycle in one process has one edge, each variable is visited once, and no
variable has more than two writes, so that the outcome determines all relations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from memfence.models.spec import ModelName
from memfence.program.builder import ProcessBuilder
from memfence.program.expressions import Binary, Const, Register, variable_address
from memfence.program.ir import (
    Assume,
    Domain,
    Fence,
    FenceKind,
    Load,
    Op,
    Process,
    Program,
    SharedVar,
    Store,
    Transition,
)
from twins.reference_search import Outcome

Kind = Literal["R", "W"]
VALUES = Domain(0, 2)
MOST_WRITES = 2
"""To one variable: the last value in memory then tells their order."""
REGISTERS = ("EAX", "EBX", "ECX", "EDX")


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation between two accesses. `locked`: the access at this end, a write, is an atomic exchange.

    `forwarded`: between the two, the process reads what it has just written.
    """

    name: str
    source: Kind
    target: Kind
    is_external: bool = False
    changes_variable: bool = False
    fence: FenceKind | None = None
    locked: Literal["source", "target"] | None = None
    forwarded: bool = False

    def is_relaxed(self, model: ModelName) -> bool:
        """Whether the model lets the accesses happen the other way round."""
        if model == "sc" or not self.changes_variable or self.source == "R":
            return False
        if self.fence == "mfence" or self.locked is not None:
            return False
        return self.target == "R" or (model == "pso" and self.fence is None)


def _pairs(name: str, fence: FenceKind | None = None) -> list[Edge]:
    ends: tuple[tuple[Kind, Kind], ...] = (("R", "R"), ("R", "W"), ("W", "R"), ("W", "W"))
    return [Edge(f"{name}{a}{b}", a, b, changes_variable=name != "Pos", fence=fence) for a, b in ends]


_EVERY_EDGE = (
    Edge("Rfe", "W", "R", is_external=True),
    Edge("Fre", "R", "W", is_external=True),
    Edge("Coe", "W", "W", is_external=True),
    *_pairs("Pod"),
    *_pairs("Pos"),
    *_pairs("MFenced", "mfence"),
    *_pairs("SFenced", "sfence"),
    Edge("LockedWR", "W", "R", changes_variable=True, locked="source"),
    Edge("LockedWW", "W", "W", changes_variable=True, locked="source"),
    Edge("WWLocked", "W", "W", changes_variable=True, locked="target"),
    Edge("RWLocked", "R", "W", changes_variable=True, locked="target"),
    Edge("RfiPodRR", "W", "R", changes_variable=True, forwarded=True),
    Edge("RfiPodRW", "W", "W", changes_variable=True, forwarded=True),
    Edge("RfiMFencedRR", "W", "R", changes_variable=True, fence="mfence", forwarded=True),
    Edge("RfiSFencedRW", "W", "W", changes_variable=True, fence="sfence", forwarded=True),
)
EDGES = {edge.name: edge for edge in _EVERY_EDGE}


@dataclass(frozen=True, slots=True)
class Access:
    """A read that sees `value`, or a write of it; an atomic exchange also sees `seen`. `fence` stands behind it."""

    kind: Kind
    variable: int
    value: int
    seen: int | None = None
    fence: FenceKind | None = None

    @property
    def observed(self) -> tuple[int, ...]:
        """What ends up in a register."""
        return (self.value,) if self.kind == "R" else () if self.seen is None else (self.seen,)


@dataclass(frozen=True, slots=True)
class Cycle:
    """Edges that fit together; the last one leads to another process, so that the first access begins one."""

    edges: tuple[Edge, ...]

    @property
    def name(self) -> str:
        return "+".join(edge.name for edge in self.edges)

    @property
    def variables(self) -> int:
        return max(1, sum(edge.changes_variable for edge in self.edges))

    def is_allowed(self, model: ModelName) -> bool:
        """The prediction."""
        return any(edge.is_relaxed(model) for edge in self.edges)

    def accesses(self) -> list[list[Access]]:
        """What each process does, with the values that witness the cycle."""
        found = self._by_position()
        processes: list[list[Access]] = [[]]
        for position, edge in enumerate(self.edges):
            processes[-1] += found[position]
            if edge.is_external:
                processes.append([])
        return processes[:-1]

    def _by_position(self) -> dict[int, list[Access]]:
        """The access that each edge leaves, and the own read behind a forwarded one.

        Along a variable's part of the cycle every write stores the next value, and every read sees the last one.
        """
        count = len(self.edges)
        starts = [n for n, edge in enumerate(self.edges) if edge.changes_variable]
        start = (starts or [n for n, edge in enumerate(self.edges) if not edge.is_external])[0] + 1
        variable, last = 0, 0
        found: dict[int, list[Access]] = {}
        for position in (n % count for n in range(start, start + count)):
            edge, before = self.edges[position], self.edges[position - 1]
            is_locked = edge.locked == "source" or before.locked == "target"
            seen = last if is_locked else None
            last += edge.source == "W"
            fence = None if edge.forwarded else edge.fence
            found[position] = [Access(edge.source, variable, last, seen, fence)]
            if edge.forwarded:
                found[position].append(Access("R", variable, last, fence=edge.fence))
            if edge.changes_variable:
                variable, last = variable + 1, 0
        return found

    def witness(self) -> Outcome:
        """The outcome in which every edge of the cycle holds."""
        memory = [0] * self.variables
        for access in (access for accesses in self.accesses() for access in accesses):
            if access.kind == "W":
                memory[access.variable] = max(memory[access.variable], access.value)
        registers = tuple(tuple(v for access in accesses for v in access.observed) for accesses in self.accesses())
        return registers, tuple(memory)

    def program(self) -> Program:
        """The test in the tool's own terms."""
        variables = tuple(SharedVar(f"x{n}", VALUES) for n in range(self.variables))
        processes = tuple(_process(f"P{n}", accesses) for n, accesses in enumerate(self.accesses()))
        return Program(self.name, variables, processes)

    @property
    def is_seen_by_reads(self) -> bool:
        """Whether the values read determine the outcome: nobody has to look at memory in the end."""
        writes = [a.variable for accesses in self.accesses() for a in accesses if a.kind == "W"]
        return len(writes) == len(set(writes))

    def looping_program(self) -> Program:
        """The test with buffers that grow without bound: all processes come to their end if the outcome is possible.

        A read waits for the value of the witness. Somewhere on its way each process may store to a variable of its own,
        again and again; nobody reads that, so the prediction stays.
        """
        count = self.variables + len(self.accesses())
        variables = tuple(SharedVar(f"x{n}", VALUES) for n in range(count))
        processes = []
        for n, accesses in enumerate(self.accesses()):
            process = _process(f"P{n}", accesses, waits=True)
            here = (len(self.name) + n) % len(process.locations)
            again = Transition(here, here, (Store(variable_address(self.variables + n), Const(1)),))
            processes.append(replace(process, transitions=(*process.transitions, again)))
        return Program(f"{self.name} with loops", variables, tuple(processes))

    def litmus(self) -> str:
        """The test as x86 litmus text, its condition the witness."""
        columns = [_instructions(accesses) for accesses in self.accesses()]
        rows = [[column[n] if n < len(column) else "" for column in columns] for n in range(max(map(len, columns)))]
        heads = [f"P{n}" for n in range(len(columns))]
        table = "".join(f" {' | '.join(f'{cell:14}' for cell in row)} ;\n" for row in (heads, *rows))
        registers, memory = self.witness()
        atoms = [f"{p}:{REGISTERS[n]}={v}" for p, values in enumerate(registers) for n, v in enumerate(values)]
        atoms += [f"x{n}={value}" for n, value in enumerate(memory)]
        condition = " /\\ ".join(atoms)
        return f"X86 {self.name}\n{{ }}\n{table}exists ({condition})\n"


def _process(name: str, accesses: Iterable[Access], *, waits: bool = False) -> Process:
    builder = ProcessBuilder(name, name)
    here = builder.location()
    for access in accesses:
        address = variable_address(access.variable)
        loads: list[Op] = []
        for value in access.observed:
            register = builder.register(f"r{len(builder.registers)}", VALUES)
            loads.append(Load(register, address))
            loads += [Assume(Binary("==", Register(register), Const(value)))] if waits else []
        stores = [Store(address, Const(access.value))] if access.kind == "W" else []
        there = builder.location()
        builder.emit(here, there, *loads, *stores, locked=access.seen is not None)
        here = there
        if access.fence is not None:
            there = builder.location()
            builder.emit(here, there, Fence(access.fence))
            here = there
    return builder.build(0)


def _instructions(accesses: Iterable[Access]) -> list[str]:
    lines: list[str] = []
    registers = iter(REGISTERS)
    for access in accesses:
        place = f"[x{access.variable}]"
        if access.seen is not None:
            register = next(registers)
            lines += [f"MOV {register},${access.value}", f"XCHG {place},{register}"]
        elif access.kind == "W":
            lines.append(f"MOV {place},${access.value}")
        else:
            lines.append(f"MOV {next(registers)},{place}")
        if access.fence is not None:
            lines.append(access.fence.upper())
    return lines


def cycles(size: int, edges: Iterable[Edge] = _EVERY_EDGE) -> Iterator[Cycle]:
    """Every cycle of so many edges, each once, whichever of its processes comes first."""
    edges = tuple(edges)
    seen: set[tuple[str, ...]] = set()
    for chain in _chains(size, edges, ()):
        names = tuple(edge.name for edge in chain)
        if names not in seen and _is_cycle(chain):
            seen.update(names[n:] + names[:n] for n in range(size))
            yield Cycle(chain)


def looping_cycles(size: int) -> list[Program]:
    """The cycles that reads alone can see, with loops."""
    return [cycle.looping_program() for cycle in cycles(size) if cycle.is_seen_by_reads]


def _chains(size: int, edges: tuple[Edge, ...], chain: tuple[Edge, ...]) -> Iterator[tuple[Edge, ...]]:
    """Edges that fit; of two that follow each other, one at least leads to another process."""
    if len(chain) == size:
        yield chain
        return
    for edge in edges:
        fits = not chain or (chain[-1].target == edge.source and (chain[-1].is_external or edge.is_external))
        if fits:
            yield from _chains(size, edges, (*chain, edge))


def _is_cycle(chain: tuple[Edge, ...]) -> bool:
    """Whether the ends meet, in a cycle that is possible in some execution without regard to order."""
    externals = sum(edge.is_external for edge in chain)
    changes = sum(edge.changes_variable for edge in chain)
    closed = chain[-1].is_external and chain[-1].target == chain[0].source
    if not closed or externals < 2 or externals == len(chain) or changes == 1:
        return False
    writes: dict[int, int] = {}
    variable = 0
    for edge in chain:
        writes[variable % max(1, changes)] = writes.get(variable % max(1, changes), 0) + (edge.source == "W")
        variable += edge.changes_variable
    return max(writes.values()) <= MOST_WRITES
