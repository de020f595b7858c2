"""The Dual-TSO engine for any number of instances of some templates.

A constraint is then a multiset of process parts (core/dual/constraint.hpp); the search still ends. Under SC every step
that accesses memory is a locked one, which leaves nothing pending, so the same search answers; properties may then look
at memory, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from memfence import _core
from memfence.engines.native.dual import location_classes, obstacles
from memfence.engines.native.encode import Encoded, encode
from memfence.engines.native.limits import for_core
from memfence.engines.native.searched import Searched
from memfence.engines.native.unreduce import original_steps
from memfence.execution.trace import Trace, UnreplayableWitness
from memfence.models.spec import TSO, ModelSpec
from memfence.models.state import Commit, ProcessStep, Step
from memfence.models.steps import starts
from memfence.passes.locked_steps import with_locked_steps
from memfence.passes.orders import for_hardware
from memfence.passes.reductions import reduce, with_origins
from memfence.program.expressions import At, Expr, RegisterOf, walk
from memfence.program.facts.observation import observed_by
from memfence.program.ir import Process, Program
from memfence.program.parameterised import Resized, fixed_processes, instances_of, named_instances, resized
from memfence.records import Record
from memfence.tasks.evidence import BadState, Finding, StepFails
from memfence.tasks.limits import Cost, Limits, Stop
from memfence.tasks.obstacle import Obstacle
from memfence.tasks.task import Safety

_FINDINGS: tuple[Finding, ...] = (BadState(), StepFails())
_REDUCTIONS = frozenset({"dead", "fuse", "slice"})
FEWEST = 2
"""Instances that reductions see: what is true of one process alone need not be true of many."""


class ParameterisedResult(Searched):
    """The outcome of one search; `counts`: instances of each template that the run needs, where something was found."""

    model: ModelSpec
    finding: Finding | None
    parts: int
    _native: _core.DualOutcome
    _encoded: Encoded
    _reduced: Program
    _needed: dict[str, int]

    @property
    def complete(self) -> bool:
        return self.stop in (Stop.NOTHING_LEFT, Stop.FOUND)

    def trace(self) -> Trace:
        """A run to the finding, replayed by the reference model, of as many instances as it has."""
        run = self._native.run
        if run is None:
            raise UnreplayableWitness("the dual engine lost the way to its own finding")
        start, steps, kinds, roles, registers = run
        places = _places(self.program, self._encoded.program, kinds, roles, self._needed)
        counts = {t: max(self._needed[t], *places.counts(t), 0) for t in self.program.any_number}
        whole, smaller = resized(self.program, counts), resized(self._reduced, counts)
        numbers = [places.number(whole.program, thread) for thread in range(len(kinds))]
        while steps and steps[-1][1] < 0:  # what happens to pending stores afterwards makes no difference
            steps.pop()
        taken = [self._step(numbers[thread], edge) for thread, edge in steps]
        begin = _start(smaller, self._encoded, start, numbers, registers, self.model)
        first, original = original_steps(whole.program, smaller.program, self.model.definition, begin, taken)
        return Trace(whole.program, self.model.definition, first, original)

    def _step(self, process: int, edge: int) -> Step:
        if edge < 0:
            return Commit(process)
        step = self._encoded.edges[edge]
        assert isinstance(step, ProcessStep)
        return ProcessStep(process, step.transition)


class _Places(Record):
    """For each process of a run: its template ("" for a fixed one) and its place among the instances."""

    of: tuple[tuple[str, int], ...]

    def counts(self, template: str) -> tuple[int, ...]:
        return tuple(place + 1 for name, place in self.of if name == template)

    def number(self, program: Program, thread: int) -> int:
        template, place = self.of[thread]
        return place if not template else instances_of(program, template)[place]


def _places(program: Program, searched: Program, kinds: list[int], roles: list[int], needed: dict[str, int]) -> _Places:
    """Those that the property names keep their places; the others take what is free."""
    taken: dict[str, set[int]] = {template: set() for template in program.any_number}
    found: dict[int, tuple[str, int]] = {}
    for thread, (kind, role) in enumerate(zip(kinds, roles, strict=True)):
        template = searched.processes[kind].template
        if template not in program.any_number:
            found[thread] = ("", kind)
        elif role >= 0:
            place = instances_of(searched, template).index(role)
            taken[template].add(place)
            found[thread] = (template, place)
    for thread, kind in enumerate(kinds):
        if thread not in found:
            template = searched.processes[kind].template
            place = next(n for n in range(len(kinds) + needed[template]) if n not in taken[template])
            taken[template].add(place)
            found[thread] = (template, place)
    return _Places(tuple(found[thread] for thread in range(len(kinds))))


def _start(
    reduced: Resized,
    encoded: Encoded,
    start: int,
    numbers: list[int],
    registers: list[list[int]],
    model: ModelSpec,
) -> int:
    """The number of the initial state of the resized program that the run begins in."""
    memory = starts(encoded.program, TSO.definition)[start].memory
    wanted = {number: tuple(values) for number, values in zip(numbers, registers, strict=True)}
    for number, state in enumerate(starts(reduced.program, model.definition)):
        if state.memory == memory and all(state.registers[p] == values for p, values in wanted.items()):
            return number
    raise UnreplayableWitness("the dual engine begins in a state that is not initial")


def explore_parameterised(
    program: Program,
    goal: Safety,
    model: ModelSpec,
    *,
    limits: Limits | None = None,
    reductions: frozenset[str] = frozenset(),
) -> ParameterisedResult:
    """Decide whether some number of instances reaches a bad state, or a failure, that breaks the `goal`.

    `unsupported` must have found nothing against it.
    """
    limits = limits or Limits()
    needed = named_instances(program, goal.expressions)
    counts = {template: max(FEWEST, count) for template, count in needed.items()}
    arranged = resized(program, counts)
    bad = None if goal.bad is None else arranged.expression(goal.bad)
    expressions = () if bad is None else (bad,)
    reduced = _reduced(replace(arranged.program, any_number=program.any_number), model, expressions, reductions)
    encoded = encode(reduced, expressions)
    fixed = len(fixed_processes(program))
    native = _core.explore_dual(
        encoded.machine,
        -1 if bad is None else encoded.expressions[0],
        -1,
        goal.failures,
        "order" in reductions,
        [location_classes(reduced, p, expressions) for p in range(len(reduced.processes))],
        fixed,
        _kinds(reduced, fixed),
        limits.most_states,
        **for_core(limits),
    )
    stats = native.stats
    return ParameterisedResult(
        program,
        Stop(native.stop),
        Cost(stats.expanded, stats.predecessors, stats.seconds),
        model,
        None if native.finding is None else _FINDINGS[native.finding],
        stats.most_parts,
        native,
        encoded,
        _for_runs(reduced, model, program.any_number),
        needed,
    )


def _kinds(program: Program, fixed: int) -> list[int]:
    first: dict[str, int] = {}
    return [p if p < fixed else first.setdefault(process.template, p) for p, process in enumerate(program.processes)]


def _reduced(program: Program, model: ModelSpec, expressions: tuple[Expr, ...], reductions: frozenset[str]) -> Program:
    """The program to search; instances of one template have the same code there, too."""
    hardware = for_hardware(program, model)
    if not model.has_buffers:
        hardware = with_locked_steps(hardware)
    alike = tuple(_of_all_instances(program, expressions))
    observed = observed_by(hardware, (*expressions, *alike))
    found = reduce(hardware, observed, reductions & _REDUCTIONS, model=TSO)
    return found if _is_uniform(found, program.any_number) else with_origins(hardware)


def _for_runs(reduced: Program, model: ModelSpec, templates: tuple[str, ...]) -> Program:
    return replace(reduced, any_number=templates)


def _of_all_instances(program: Program, expressions: tuple[Expr, ...]) -> Iterator[Expr]:
    """What is looked at in one instance, looked at in all: reductions then treat them alike."""
    for node in (node for expr in expressions for node in walk(expr)):
        if isinstance(node, At | RegisterOf):
            template = program.processes[node.process].template
            if template in program.any_number:
                yield from (replace(node, process=number) for number in instances_of(program, template))


def _is_uniform(program: Program, templates: tuple[str, ...]) -> bool:
    codes = [{_code(program.processes[n]) for n in instances_of(program, template)} for template in templates]
    return all(len(found) == 1 for found in codes)


def _code(process: Process) -> object:
    steps = tuple((t.source, t.target, t.ops, t.locked, t.origin) for t in process.transitions)
    return steps, process.initial, tuple((r.domain, r.init, r.transient) for r in process.registers)


def unsupported(program: Program, goal: Safety, model: ModelSpec) -> Obstacle | None:
    """Why `explore_parameterised` does not answer the question; None if it does."""
    found = obstacles(program, goal)
    if not model.has_buffers:
        found = (one for one in found if one is not Obstacle.LOOKS_AT_MEMORY)
    return next(iter(found), None)
