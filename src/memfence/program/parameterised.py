"""Programs in which some templates have any number of instances.

Such a program holds a few instances of each of these templates, which stand for all: they are alike, so what is said
about the first two is said about any two. `resized` makes an ordinary program of it, with as many instances as asked
for. Fewer instances never do what more cannot: those that are left over need not move.

A process of which there is one may wait until all instances have come to the same locations (C: `pthread_join`). That
is an `Assume` about all that are here; `resized` makes it one about all that are there then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label, did_you_mean
from memfence.program.expressions import At, BufferEmpty, Expr, RegisterOf, conjunction, rewrite, walk
from memfence.program.ir import Assume, Op, Process, Program, Transition
from memfence.program.traversal import map_property, map_transition, transition_expressions
from memfence.records import Record

REPRESENTATIVES = 3
"""Instances that properties can tell apart."""


class Resized(Record):
    """An ordinary program, and the new numbers of the processes that are still there."""

    program: Program
    numbers: Mapping[int, int]

    def expression(self, expr: Expr) -> Expr:
        """`expr` about the processes by their new numbers."""
        return _renumbered(expr, self.numbers)


def instances_of(program: Program, template: str) -> tuple[int, ...]:
    """The numbers of the processes that are instances of `template`, in order."""
    return tuple(number for number, process in enumerate(program.processes) if process.template == template)


def fixed_processes(program: Program) -> tuple[int, ...]:
    """The numbers of the processes of which there is one."""
    return tuple(n for n, process in enumerate(program.processes) if process.template not in program.any_number)


def alike(program: Program, process: int) -> tuple[int, ...]:
    """The numbers of all instances that are like `process`, where there is any number of these; else just its own."""
    template = program.processes[process].template
    return instances_of(program, template) if template in program.any_number else (process,)


def several(process: Process) -> tuple[Process, ...]:
    """Instances that stand for any number of processes like this one."""
    return tuple(replace(process, name=f"{process.template}_{number}") for number in range(REPRESENTATIVES))


def named_instances(program: Program, expressions: Iterable[Expr]) -> dict[str, int]:
    """How many instances of each template `expressions` need, since they name them."""
    named = {process for expr in expressions for node in walk(expr) for process in _looked_at(node)}
    needed = {}
    for template in program.any_number:
        places = [place for place, number in enumerate(instances_of(program, template)) if number in named]
        needed[template] = max(places, default=-1) + 1
    return needed


def resized(program: Program, counts: Mapping[str, int]) -> Resized:
    """The program with so many instances of each template, which come behind all other processes.

    No property or process may name an instance that is not there any more.
    """
    fixed = fixed_processes(program)
    numbers = {old: new for new, old in enumerate(fixed)}
    processes = [program.processes[n] for n in fixed]
    names = {process.name for process in program.processes}
    for template in program.any_number:
        known = instances_of(program, template)
        for place in range(counts[template]):
            if place < len(known):
                numbers[known[place]] = len(processes)
                processes.append(program.processes[known[place]])
            else:
                processes.append(replace(program.processes[known[0]], name=_fresh(f"{template}_{place}", names)))
    where = {t: [n for n, p in enumerate(processes) if p.template == t] for t in program.any_number}
    placed = tuple(_renumbered_process(program, process, numbers, where) for process in processes)
    properties = tuple(map_property(stated, lambda expr: _renumbered(expr, numbers)) for stated in program.properties)
    return Resized(replace(program, processes=placed, properties=properties, any_number=()), numbers)


def sized_like(program: Program, other: Program) -> Program:
    """The program with as many instances of each template as `other` has, which was made by `resized`."""
    if not program.any_number:
        return program
    return resized(program, {t: len(instances_of(other, t)) for t in program.any_number}).program


def homes(program: Program, other: Program) -> tuple[int, ...]:
    """For each process of `other`, which was made by `resized`: the process of `program` that stands for it."""
    if not program.any_number:
        return tuple(range(len(other.processes)))
    named = {process.name: number for number, process in enumerate(program.processes)}
    return tuple(named[p.name] if p.name in named else instances_of(program, p.template)[0] for p in other.processes)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def _renumbered_process(
    program: Program, process: Process, numbers: Mapping[int, int], where: Mapping[str, list[int]]
) -> Process:
    if not any(_looked_at(node) for t in process.transitions for e in transition_expressions(t) for node in walk(e)):
        return process

    def change(expr: Expr) -> Expr:
        gathered = _gathered(program, expr)
        if gathered is None:
            return _renumbered(expr, numbers)
        template, locations = gathered
        return conjunction(*(At(number, locations) for number in where[template]))

    return replace(process, transitions=tuple(map_transition(t, change) for t in process.transitions))


def without_waits(program: Program) -> Program:
    """The program in which nobody waits until all instances are somewhere: it can do whatever `program` can.

    `program` itself, where nobody does.
    """
    if not any(_waits(program, op) for p in program.processes for t in p.transitions for op in t.ops):
        return program
    processes = tuple(
        replace(
            process,
            transitions=tuple(
                replace(t, ops=tuple(op for op in t.ops if not _waits(program, op))) for t in process.transitions
            ),
        )
        for process in program.processes
    )
    return replace(program, processes=processes)


def _waits(program: Program, op: Op) -> bool:
    return isinstance(op, Assume) and _gathered(program, op.condition) is not None


def _gathered(program: Program, expr: Expr) -> tuple[str, frozenset[int]] | None:
    """The template and locations, where `expr` says that all its instances are at these."""
    found = [node for node in walk(expr) if isinstance(node, At)]
    if not found or expr != conjunction(*found) or len({node.locations for node in found}) > 1:
        return None
    numbers = tuple(node.process for node in found)
    return next(((t, found[0].locations) for t in program.any_number if instances_of(program, t) == numbers), None)


def _renumbered(expr: Expr, numbers: Mapping[int, int]) -> Expr:
    def leaf(node: Expr) -> Expr:
        match node:
            case At() | RegisterOf() | BufferEmpty():
                return replace(node, process=numbers[node.process])
            case _:
                return node

    return rewrite(expr, leaf)


def _looked_at(node: Expr) -> tuple[int, ...]:
    return (node.process,) if isinstance(node, At | RegisterOf | BufferEmpty) else ()


def with_any_number(program: Program, templates: Iterable[str]) -> Program:
    """The program with any number of instances of `templates` and of those that its text says so of.

    InputError where there is no such template, or its instances are not alike.
    """
    wanted = tuple(dict.fromkeys((*program.any_number, *templates)))
    mistakes = [mistake for template in wanted for mistake in _mistakes(program, template)]
    if mistakes:
        raise InputError(mistakes[:1])
    processes = list(program.processes)
    names = {process.name for process in processes}
    for template in wanted:
        known = instances_of(program, template)
        for place in range(len(known), REPRESENTATIVES):
            processes.append(replace(program.processes[known[0]], name=_fresh(f"{template}_{place}", names)))
    return replace(program, processes=tuple(processes), any_number=wanted, meanings=())


def _mistakes(program: Program, template: str) -> Iterator[Diagnostic]:
    known = instances_of(program, template)
    if not known:
        hint = did_you_mean(template, sorted({p.template for p in program.processes}))
        at = Label(program.source.span(0, 1))
        yield Diagnostic(Code.UNKNOWN_PROCESS, f"unknown process `{template}`", at, hint=hint)
        return
    first = program.processes[known[0]]
    if program.error_locations is not None:
        label = Label(first.span, "in DVE, the first process alone tells that a run-time error happened")
        yield Diagnostic(Code.NOT_ALIKE, _message(template), label, hint="write as many processes as there are to be")
    for number in known[1:]:
        yield from _differences(template, first, program.processes[number])
    for process in program.processes:
        for t in process.transitions:
            exprs = [e for e in transition_expressions(t) if _gathered(program, e) is None]
            looks = {n for e in exprs for node in walk(e) for n in _looked_at(node)}
            if t.sync is not None and process.template == template:
                yield _unlike(template, t, "it meets another process at a channel")
            elif looks & set(known) or (looks and process.template == template):
                yield _unlike(template, t, "a process looks at another one here")


def _differences(template: str, first: Process, other: Process) -> Iterator[Diagnostic]:
    if [(r.domain, r.init, r.transient) for r in first.registers] != [
        (r.domain, r.init, r.transient) for r in other.registers
    ]:
        yield Diagnostic(Code.NOT_ALIKE, _message(template), Label(first.span, "the variables of two of them differ"))
    for t, u in zip(first.transitions, other.transitions, strict=False):
        if (t.source, t.target, t.ops, t.locked) != (u.source, u.target, u.ops, u.locked):
            yield _unlike(template, t, "two of them differ here")
    if len(first.transitions) != len(other.transitions) or first.initial != other.initial:
        yield Diagnostic(Code.NOT_ALIKE, _message(template), Label(first.span, "the steps of two of them differ"))


def _unlike(template: str, transition: Transition, why: str) -> Diagnostic:
    hint = "give it a fixed number of instances, or take what tells them apart out of it (`_pid`, own array elements)"
    return Diagnostic(Code.NOT_ALIKE, _message(template), Label(transition.span, why), hint=hint)


def _message(template: str) -> str:
    return f"there cannot be any number of `{template}`: its instances are not alike"
