"""A program that says whose turn it is, so that a search can bound the delays from this schedule.

A process goes on until it cannot; then the next one that can is taken, in the order of their numbers, round and round.
A loop that only waits for others gives the turn away. Every input but the first that its place offers is a delay,
too; the core counts the others: `core/search/successors.hpp`.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.digraph import components
from memfence.program import ir
from memfence.program.expressions import Binary, Const, Register, variable_address

ADDED = 2
"""Variables that come last: whose turn it is, and how many delays there were."""


def with_delay_bound(program: ir.Program, most: int) -> ir.Program:
    """`program` with a turn, and inputs that cost up to `most` delays. All numbers stay."""
    turn, spent = len(program.variables), len(program.variables) + 1
    count = len(program.processes)
    added = (ir.SharedVar("(turn)", ir.Domain(0, count - 1)), ir.SharedVar("(delays)", ir.Domain(0, most)))
    processes = tuple(_in_turn(p, n, count, most, turn, spent) for n, p in enumerate(program.processes))
    return replace(program, variables=(*program.variables, *added), processes=processes)


def _in_turn(process: ir.Process, number: int, count: int, most: int, turn: int, spent: int) -> ir.Process:
    scratch = len(process.registers)
    waiting, unusual = _waiting_steps(process), _unusual_inputs(process)
    transitions = []
    for n, transition in enumerate(process.transitions):
        following = (number + 1) % count if n in waiting else number
        ops: list[ir.Op] = [ir.Store(variable_address(turn), Const(following), direct=True)]
        if n in unusual:
            ops += _paying(scratch, most, spent)
        transitions.append(replace(transition, ops=(*ops, *transition.ops)))
    register = ir.RegisterVar("(delays)", ir.Domain(0, most), transient=True)
    return replace(process, registers=(*process.registers, register), transitions=tuple(transitions))


def _paying(scratch: int, most: int, spent: int) -> list[ir.Op]:
    return [
        ir.Load(scratch, variable_address(spent)),
        ir.Assume(Binary("<", Register(scratch), Const(most))),
        ir.Store(variable_address(spent), Binary("+", Register(scratch), Const(1)), direct=True),
    ]


def _waiting_steps(process: ir.Process) -> set[int]:
    """Steps inside a loop that changes nothing that others see, but for attempts to take something."""
    quiet = [n for n, t in enumerate(process.transitions) if all(_is_quiet(op) for op in t.ops)]
    edges: list[list[int]] = [[] for _ in process.locations]
    for n in quiet:
        edges[process.transitions[n].source].append(process.transitions[n].target)
    part = components(len(edges), lambda location: edges[location])
    return {n for n in quiet if part[process.transitions[n].source] == part[process.transitions[n].target]}


def _is_quiet(op: ir.Op) -> bool:
    is_attempt = isinstance(op, ir.Rmw) and op.kind in ("exchange", "compare_exchange")
    return is_attempt or isinstance(op, ir.Load | ir.Assign | ir.Assume | ir.Assert)


def _unusual_inputs(process: ir.Process) -> set[int]:
    """Steps that choose an input: several of one location, under the same condition. All but the first are unusual."""
    inputs: dict[tuple[int, tuple[ir.Op, ...]], list[int]] = {}
    for number, transition in enumerate(process.transitions):
        inputs.setdefault((transition.source, _condition(transition)), []).append(number)
    return {n for numbers in inputs.values() for n in numbers[1:]}


def _condition(transition: ir.Transition) -> tuple[ir.Op, ...]:
    """Everything that decides whether the step is possible."""
    deciding = [n for n, op in enumerate(transition.ops) if isinstance(op, ir.Assume | ir.Lock | ir.Unlock)]
    return transition.ops[: deciding[-1] + 1] if deciding else ()
