"""Abridged sets: states that differ in nothing that matters are one; where a process only passes, there is none.

A section may name *dead* registers, which nothing reads from a location on before they are set, and *passing*
locations, which a process leaves by work on its own registers. In its states dead registers have the value next to 0,
and no process stands where it only passes. Theorem 12 of `docs/theory/certificates.md`: if the conditions below are
met, such a set proves what the whole one does. It may also name processes that are *alike*: of several states that
exchanging them makes equal, it has the one in which they are sorted (Theorem 18).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import inf

from memfence.certificates.checker.refusal import Condition, Refused
from memfence.certificates.format.abridged import Abridgement
from memfence.models.buffering import Buffering
from memfence.models.readings import is_locked
from memfence.models.state import Buffer, Failure, ProcessStep, State, Step
from memfence.models.steps import MemoryModel, set_at, take
from memfence.program.expressions import FOREIGN, At, BufferEmpty, Expr, RegisterOf, Shared, registers_of, walk
from memfence.program.facts.effects import op_expressions, register_written, registers_read
from memfence.program.ir import Assert, Assign, Assume, Fence, Load, Op, Process, Program, Rmw, Transition
from memfence.program.traversal import transition_expressions
from memfence.records import Record

MOST_PASSED = 100_000
"""Places in one walk by local steps."""
_LOCAL, _QUIET, _SETTING = (Assign, Assume, Assert), (Load, Assign, Assume, Assert), (Load, Rmw, Assign)
"""Kinds of operations: those on own registers; those that leave no trace elsewhere; those that set a register."""


class Ends(Record):
    """Where local steps come to an end. `quiet`: steps, by process, behind which a process that waits for ever at one
    of its locations in `forgotten` may be left out."""

    program: Program
    model: MemoryModel
    left_out: Abridgement
    quiet: tuple[frozenset[Step], ...]
    forgotten: tuple[frozenset[int], ...]

    def of(self, state: State, step: Step | None = None) -> Iterator[State | Failure]:
        """The states of the set that `state`, which `step` led to, stands for."""
        waiting, seen = [state], set[State]()
        for here in waiting:  # grows while it is gone through
            after = self._after(here, step)
            if after is None:
                yield self._sorted(self._reset(here)) if self.left_out.passing else here
            for one in after or ():
                if isinstance(one, Failure):
                    yield one
                elif one not in seen:
                    seen.add(one)
                    waiting.append(one)
            if len(waiting) > MOST_PASSED:
                raise _refused("local steps lead to too many places")

    def _after(self, state: State, step: Step | None) -> list[State | Failure] | None:
        """What the first process that can leave where it passes comes to; None if there is none, at an end."""
        for p, at in enumerate(state.locations) if self.left_out.passing else ():
            if at in self.left_out.passing[p]:
                steps = (ProcessStep(p, number) for number, _ in self.program.processes[p].leaving(at))
                possible = [one for run in steps if (one := take(self.program, self.model, state, run)) is not None]
                if possible or (at in self.forgotten[p] and step in self.quiet[p]):
                    return possible
        return None

    def _reset(self, state: State) -> State:
        for p, at in enumerate(state.locations):
            for n in self.left_out.dead[p][at]:
                domain = self.program.processes[p].registers[n].domain
                value = max(domain.lo, min(domain.hi, 0))
                state = replace(state, registers=set_at(state.registers, p, set_at(state.registers[p], n, value)))
        return state

    def _sorted(self, state: State) -> State:
        """`state` with the processes of each class in the order of their columns; the bus stays with its owner."""
        owns = (p == state.lock_owner for p, _ in enumerate(state.locations))
        parts = list(zip(state.locations, state.registers, state.buffers, owns, strict=True))
        for members in self.left_out.alike:
            for p, part in zip(members, sorted((parts[p] for p in members), key=_in_numbers), strict=True):
                parts[p] = part
        locations, registers, buffers, is_owner = zip(*parts, strict=True)
        return State(locations, registers, state.memory, buffers, is_owner.index(True) if any(is_owner) else None)


def _in_numbers(part: tuple[int, tuple[int, ...], tuple[Buffer, ...], bool]) -> tuple[object, ...]:
    """What local parts are sorted by. A separator is greater than any value."""
    location, registers, buffers, is_owner = part
    return location, registers, [(len(buffer), [e or (inf,) for e in buffer]) for buffer in buffers], is_owner


def ends_of(
    program: Program, model: MemoryModel, left_out: Abridgement, exprs: Sequence[Expr] = (), *, deadlock: bool = False
) -> Ends:
    """The ends of an abridged set, for a question that looks at `exprs`; Refused where too much is left out."""
    if not left_out.passing:
        return Ends(program, model, left_out, (), ())
    if any(location.committed for process in program.processes for location in process.locations):
        raise _refused("a committed location makes others wait")
    if deadlock and any(left_out.passing):
        raise _refused("a deadlock may be where a process passes")
    first = {p: members[0] for members in left_out.alike for p in members}  # what is true of it is true of all of them
    apart = {p: process for p, process in enumerate(program.processes) if first.get(p, p) == p}
    steps = (transition for process in apart.values() for transition in process.transitions)
    inside, asked = _looks(expr for step in steps for expr in transition_expressions(step)), _looks(exprs)
    _check_alike(program.processes, left_out, {node.process for node in (*inside, *asked)})
    parts = dict[int, _Part]()
    for p, process in apart.items():
        leaving = {at: [t for t in process.transitions if t.source == at] for at in left_out.passing[p]}
        parts[p] = _Part(process, model, _Seen.of(p, inside), _Seen.of(p, asked), leaving, left_out.dead[p])
        parts[p].check()
    found = {p: (part.quiet(), part.forgotten()) for p, part in parts.items()}
    each = [(p, *found[first.get(p, p)]) for p, _ in enumerate(program.processes)]
    quiet = tuple(frozenset[Step](ProcessStep(p, number) for number in numbers) for p, numbers, _ in each)
    return Ends(program, model, left_out, quiet, tuple(forgotten for _, _, forgotten in each))


def _refused(detail: str) -> Refused:
    return Refused(Condition.KIND, detail)


def _check_alike(processes: Sequence[Process], left_out: Abridgement, looked_at: set[int]) -> None:
    """Condition d: nothing but where they start tells the processes of a class apart, and nobody looks at them."""
    shapes = [([(r.domain, r.transient) for r in p.registers], [at.may_end for at in p.locations]) for p in processes]
    codes = list(zip((p.transitions for p in processes), shapes, left_out.passing, left_out.dead, strict=True))
    for members in left_out.alike:
        if looked_at.intersection(members) or any(codes[p] != codes[members[0]] for p in members):
            raise _refused("processes are said to be alike that can be told apart")


def _looks(exprs: Iterable[Expr]) -> list[At | RegisterOf | BufferEmpty]:
    """Where the expressions look at processes."""
    return [node for expr in exprs for node in walk(expr) if isinstance(node, FOREIGN)]


class _Seen(Record):
    """What is looked at from outside, of one process."""

    locations: frozenset[int]
    registers: frozenset[int]

    @staticmethod
    def of(process: int, looks: Sequence[At | RegisterOf | BufferEmpty]) -> _Seen:
        own = [node for node in looks if node.process == process]
        at = [node.locations for node in own if isinstance(node, At)]
        return _Seen(frozenset().union(*at), frozenset([node.register for node in own if isinstance(node, RegisterOf)]))

    def has(self, transition: Transition) -> bool:
        is_written = bool(self.registers) and any(register_written(op) in self.registers for op in transition.ops)
        return is_written or not self.locations.isdisjoint((transition.source, transition.target))


class _Part(Record):
    """One process. `others`, `question`: what other processes, and the question, see of it. `leaving`: by passing
    location, the steps from there."""

    process: Process
    model: MemoryModel
    others: _Seen
    question: _Seen
    leaving: dict[int, list[Transition]]
    dead: tuple[frozenset[int], ...]

    def check(self) -> None:
        passed = {at: self._passed(at) for at in self.leaving}
        for location, leaving in self.leaving.items():  # Condition a: leaving it is work on own registers, which ends.
            if not leaving or location in self.question.locations or location in passed[location]:
                raise _refused("a location that is passed is looked at, or never left")
            if not all(self._is_local(t) and not self.others.has(t) for t in leaving):
                raise _refused("a location that is passed has a step that concerns others")
        seen = {at for at, leaving in self.leaving.items() if any(map(self.question.has, leaving))}
        before = {at for at, behind in passed.items() if at in seen or seen & behind}
        arriving = [t for t in self.process.transitions if t.target in before]
        if self.process.initial in before or not all(map(self._is_quiet, arriving)):  # Condition b.
            raise _refused("a step that is not quiet leads to local steps that the question sees")
        looked_at = self.others.registers | self.question.registers
        lasting = {n for n, register in enumerate(self.process.registers) if not register.transient}
        if not all(registers <= lasting - looked_at for registers in self.dead):
            raise _refused("a register that is looked at, or lasts for one step only, is said to be dead")
        for transition in self.process.transitions:
            self._check_dead(transition)

    def quiet(self) -> list[int]:
        """The steps to passing locations of which nobody can tell that they were taken."""
        return [n for n, t in enumerate(self.process.transitions) if t.target in self.leaving and self._is_quiet(t)]

    def forgotten(self) -> frozenset[int]:
        """The passing locations but for those that a step which the question sees leads to, within local steps."""
        targets = {t.target for leaving in self.leaving.values() for t in leaving if self.question.has(t)}
        return frozenset(self.leaving) - targets.union(*(self._passed(at) for at in targets & self.leaving.keys()))

    def _is_quiet(self, transition: Transition) -> bool:
        reads = all(isinstance(op, _QUIET) or self._only_waits(op) for op in transition.ops)
        return reads and transition.sync is None and not (self.others.has(transition) or self.question.has(transition))

    def _check_dead(self, transition: Transition) -> None:
        """Condition c: what is dead is not read before it is set, and stays dead unless it is set."""
        unknown, sync = set(self.dead[transition.source]), transition.sync
        for position, op in enumerate((*transition.ops, None)) if unknown else ():
            if sync is not None and position == sync.guard_ops:
                if any(registers_of(value) & unknown for value in sync.values):
                    raise _refused("a dead register is sent")
                unknown -= set(sync.registers)
            if op is not None and registers_read(op) & unknown:
                raise _refused("a dead register is read")
            unknown -= {op.register} if isinstance(op, _SETTING) else set()
        if not unknown <= self.dead[transition.target]:
            raise _refused("a register comes to life again")

    def _passed(self, location: int) -> set[int]:
        """The passing locations that local steps lead to from there."""
        found, waiting = set[int](), [location]
        while waiting:
            targets = ({t.target for t in self.leaving[waiting.pop()]} & self.leaving.keys()) - found
            found |= targets
            waiting += targets
        return found

    def _is_local(self, transition: Transition) -> bool:
        nodes = [node for op in transition.ops for expr in op_expressions(op) for node in walk(expr)]
        return (
            all(isinstance(op, _LOCAL) or self._is_idle(op) for op in transition.ops)
            and not any(isinstance(node, (Shared, *FOREIGN)) for node in nodes)
            and not is_locked(self.model, transition)
            and transition.sync is None
        )

    def _only_waits(self, op: Op) -> bool:
        """Whether it is a fence that puts nothing into buffers."""
        return isinstance(op, Fence) and (op.kind == "mfence" or self.model.buffering is not Buffering.PER_VARIABLE)

    def _is_idle(self, op: Op) -> bool:
        """Whether it is a fence that does nothing here."""
        is_known = isinstance(op, Fence) and (op.kind == "sfence" or self.model.buffering is Buffering.NOWHERE)
        return is_known and self.model.buffering is not Buffering.PER_VARIABLE
