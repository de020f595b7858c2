"""Flattening: one abstract program per process; if all are persistent, so is the program (persistence paper, sec. 10).

For a process p the others keep their first k steps. After that they keep what p can notice, stores and locked steps on
the variables that p reads, and skip everything else: reads, guards, register work.

As printed, the abstraction forgets runs. A kept store `x = $r` needs the value of `$r`, and a kept read needs the
stores to its variable, which other processes may have dropped. So the variables that count are closed under what kept
steps read, and the register work that leads to a kept value is kept. Guards are dropped still: every run of the program
is a run of the abstract one, as far as p can see.

Only attacks of p matter in its abstract program: the other processes' stores are locked there, which under SC means the
same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import replace

from memfence.models.spec import TSO
from memfence.passes.lock_regions import has_lock_regions
from memfence.passes.orders import for_hardware
from memfence.program.facts.effects import has_torn_steps, registers_read
from memfence.program.ir import Assign, Assume, Fence, Load, Location, Op, Process, Program, Store, Transition


def can_be_flattened(program: Program) -> bool:
    """Whether `flatten` knows what to make of it: no lock regions, and no plain step that makes several stores."""
    return not has_torn_steps(program) and not has_lock_regions(program)


def flatten(program: Program, process: int, steps: int) -> Program:
    """The abstract program for `process`, the others flattened after their first `steps` steps.

    Whenever an attack of `process` shows that `program` is not persistent, one shows it for the abstract program. Needs
    a program that `can_be_flattened`.
    """
    program = for_hardware(program, TSO)
    kept = _Kept(program, process, steps)
    processes = tuple(
        owner if number == process else _flattened(owner, kept, number, steps)
        for number, owner in enumerate(program.processes)
    )
    return replace(program, name=f"{program.name}, flattened", processes=processes, properties=())


def distinct_processes(program: Program) -> Iterator[int]:
    """The processes, without those that have the same code as one before: their abstract programs are the same."""
    seen: set[tuple[object, ...]] = set()
    for number, process in enumerate(program.processes):
        code = (process.registers, process.initial, process.transitions, len(process.locations))
        if code not in seen:
            seen.add(code)
            yield number


class _Kept:
    """What stays of the other processes: the least that includes what kept steps read, variables and registers."""

    def __init__(self, program: Program, process: int, steps: int) -> None:
        self.variables = {v for t in program.processes[process].transitions for v in _loaded(t.ops)}
        others = [(n, p) for n, p in enumerate(program.processes) if n != process]
        for _, other in others:
            for transition in _first_transitions(other, steps):
                self.variables.update(_loaded(transition.ops))
        self.registers: dict[int, set[int]] = {n: set() for n, _ in others}
        before = -1
        while before != (before := self._size()):
            for number, other in others:
                for transition in other.transitions:
                    self._follow(number, transition)

    def _size(self) -> int:
        return len(self.variables) + sum(len(registers) for registers in self.registers.values())

    def _follow(self, number: int, transition: Transition) -> None:
        ops = self.ops(number, transition)
        for op in ops:
            self.registers[number].update(registers_read(op))
        self.variables.update(_loaded(ops))

    def ops(self, number: int, transition: Transition) -> tuple[Op, ...]:
        """The ops of a flattened transition; none: it is skipped."""
        stores = any(
            isinstance(op, Store) and self.variables.intersection(op.address.variables) for op in transition.ops
        )
        return tuple(op for op in transition.ops if self._stays(number, op, transition.locked and stores))

    def _stays(self, number: int, op: Op, is_locked_store: bool) -> bool:
        match op:
            case Store(address):
                return bool(self.variables.intersection(address.variables))
            case Load(register) | Assign(register):
                return register in self.registers[number]
            case Assume():
                return is_locked_store
            case _:
                return False


def _flattened(process: Process, kept: _Kept, number: int, steps: int) -> Process:
    """The process, its locations told apart by how many steps it has made, up to the number after which it is flat."""
    places: dict[tuple[int, int], int] = {(process.initial, 0): 0}
    transitions: list[Transition] = []
    waiting = [(process.initial, 0)]
    while waiting:
        location, count = place = waiting.pop()
        for _, t in process.leaving(location):
            ops = kept.ops(number, t) if count == steps else tuple(op for op in t.ops if not isinstance(op, Fence))
            after = (t.target, min(count + 1, steps))
            if after not in places:
                places[after] = len(places)
                waiting.append(after)
            is_locked = bool(ops) and (t.locked or any(isinstance(op, Store) for op in ops))
            transitions.append(replace(t, source=places[place], target=places[after], ops=ops, locked=is_locked))
    return _small(process, len(places), transitions)


def _small(process: Process, places: int, transitions: list[Transition]) -> Process:
    """The process with locations merged that nobody can tell apart: those between which it goes back and forth without
    doing anything, then those that the same steps leave."""
    skips: dict[int, set[int]] = {place: {place} for place in range(places)}
    for t in transitions:
        if not t.ops:
            skips[t.source].add(t.target)
    reaches = _closed(skips)
    merged = _numbered({n: frozenset(m for m in reaches[n] if n in reaches[m]) for n in range(places)})
    steps = {step for t in transitions if (step := _step(t, merged)).ops or step.source != step.target}
    blocks = dict.fromkeys(merged.values(), 0)
    while True:
        leaving: dict[int, set[Hashable]] = {place: set() for place in blocks}
        for step in steps:
            leaving[step.source].add((step.ops, step.locked, blocks[step.target]))
        finer = _numbered({place: (blocks[place], frozenset(leaving[place])) for place in blocks})
        if len(set(finer.values())) == len(set(blocks.values())):
            break
        blocks = finer
    final = {_step(step, blocks) for step in steps}
    ordered = sorted(
        (s for s in final if s.ops or s.source != s.target), key=lambda s: (s.source, s.target, repr(s.ops))
    )
    locations = tuple(Location(f"flat{n}") for n in range(len(set(blocks.values()))))
    return replace(process, locations=locations, initial=blocks[merged[0]], transitions=tuple(ordered))


def _step(t: Transition, places: Mapping[int, int]) -> Transition:
    return Transition(places[t.source], places[t.target], t.ops, t.locked)


def _closed(successors: Mapping[int, set[int]]) -> dict[int, set[int]]:
    """What can be reached along any number of successors."""
    reached = {place: set(after) for place, after in successors.items()}
    changed = True
    while changed:
        changed = False
        for after in reached.values():
            more = set[int]().union(*(reached[n] for n in after))
            changed = changed or not more <= after
            after |= more
    return reached


def _numbered(keys: Mapping[int, Hashable]) -> dict[int, int]:
    """Every place with the number of its key, keys numbered as they come."""
    numbers: dict[Hashable, int] = {}
    return {place: numbers.setdefault(key, len(numbers)) for place, key in keys.items()}


def _first_transitions(process: Process, steps: int) -> Iterator[Transition]:
    """The transitions that can be among the first `steps`."""
    places = {process.initial}
    for _ in range(steps):
        leaving = [t for t in process.transitions if t.source in places]
        yield from leaving
        places = {t.target for t in leaving}


def _loaded(ops: Iterable[Op]) -> Iterator[int]:
    for op in ops:
        if isinstance(op, Load):
            yield from op.address.variables
