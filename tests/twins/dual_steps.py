"""The slow twin of the checkers of backward searches: the steps of Dual-TSO, forwards, over single configurations.

As `docs/theory/certificates.md` defines them: propagate, delete, a plain step, a step with a fence or a locked one. And
what stands above what, by leaving out messages in every way. A single configuration is one that says where each process
is and what memory holds: every set has one place, and every variable a value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations, product

from memfence.certificates.format.dual import FAILED, Configuration, Control, Facts, Fifo, Message
from memfence.models.accesses import accesses
from memfence.models.readings import is_locked
from memfence.models.sc import Sc
from memfence.models.state import ProcessStep, State
from memfence.models.steps import set_at, take
from memfence.models.tso import Tso
from memfence.program.ir import Fence, Program, Transition

SC, TSO = Sc(), Tso()


class DualTso:
    """Processes like `kinds`; FIFOs hold at most `longest` messages. `everything_locked`: every step is locked."""

    def __init__(self, program: Program, kinds: tuple[int, ...], *, longest: int, everything_locked: bool) -> None:
        self.program, self.kinds, self.longest = program, kinds, longest
        self.everything_locked = everything_locked
        self.variables = range(len(program.variables))

    def starts(self) -> Iterator[Configuration]:
        """Every initial configuration."""
        places = []
        for process in (self.program.processes[kind] for kind in self.kinds):
            values = product(*((0,) if register.transient else register.init for register in process.registers))
            places.append([frozenset({Control(process.initial, registers)}) for registers in values])
        for memory in product(*(variable.init for variable in self.program.variables)):
            for controls in product(*places):
                yield Configuration(controls, memory, ((),) * len(self.kinds), self.kinds)

    def after(self, d: Configuration) -> Iterator[Configuration]:
        """Where one step leads from `d`, while FIFOs are not too long."""
        for p, fifo in enumerate(d.fifos):
            yield from (d.with_fifo(p, (*fifo, message)) for message in self._of_memory(d))
            if fifo:
                yield d.with_fifo(p, fifo[1:])
            for number, transition in self._leaving(d, p):
                if self.everything_locked or is_locked(TSO, transition):
                    yield from self._locked(d, p, number)
                else:
                    yield from self._plain(d, p, number, has_fence=any(map(_drains, transition.ops)))

    def is_short(self, d: Configuration) -> bool:
        return all(len(fifo) <= self.longest for fifo in d.fifos)

    def _of_memory(self, d: Configuration) -> Iterator[Message]:
        """Values that memory has now, of any variables."""
        for count in self.variables:
            for chosen in combinations(self.variables, count + 1):
                yield Message(tuple((x, _known(d.memory[x])) for x in chosen))

    def _leaving(self, d: Configuration, p: int) -> Iterator[tuple[int, Transition]]:
        (control,) = d.controls[p]
        if control.location != FAILED:
            yield from self.program.processes[d.kinds[p]].leaving(control.location)

    def _locked(self, d: Configuration, p: int, number: int) -> Iterator[Configuration]:
        state = self._state(d, p, tuple(map(_known, d.memory)), ())
        after = take(self.program, SC, state, ProcessStep(d.kinds[p], number))
        if not d.fifos[p] and after is not None:
            memory = after.memory if isinstance(after, State) else d.memory
            yield replace(self._moved(d, p, after), memory=memory)

    def _plain(self, d: Configuration, p: int, number: int, *, has_fence: bool) -> Iterator[Configuration]:
        """The process sees its own messages as if they were its buffer, and the oldest message as if it were memory."""
        fifo, run = d.fifos[p], ProcessStep(d.kinds[p], number)
        if has_fence and fifo:
            return
        own = tuple(message.facts[0] for message in fifo if message.own)
        oldest = dict(enumerate(d.memory)) if has_fence else dict(fifo[0].facts) if fifo and not fifo[0].own else {}
        seen = tuple(_known(oldest.get(x, d.memory[x])) for x in self.variables)
        state = self._state(d, p, seen, own)
        after = take(self.program, TSO, state, run)
        if after is None:
            return
        loads = {access.variable for access in accesses(self.program, TSO, state, run) if access.kind == "load"}
        if loads and loads != set(oldest) and not has_fence:
            return
        reached, pending = self._moved(d, p, after), list(own)
        if isinstance(after, State):
            pending = [entry for entry in after.buffers[run.process][0] if entry is not None]
        for x, v in pending[len(own) :]:
            stored = replace(reached, memory=set_at(reached.memory, x, v))
            reached = stored.with_fifo(p, (*stored.fifos[p], Message(((x, v),), True)))
        yield reached

    def _state(self, d: Configuration, p: int, memory: tuple[int, ...], own: Facts) -> State:
        (control,), kind, processes = d.controls[p], d.kinds[p], self.program.processes
        locations = tuple(process.initial for process in processes)
        registers = tuple(tuple(0 for _ in process.registers) for process in processes)
        return State(
            set_at(locations, kind, control.location),
            set_at(registers, kind, control.registers),
            memory,
            set_at(TSO.empty_buffers(self.program), kind, (own,)),
        )

    def _moved(self, d: Configuration, p: int, after: object) -> Configuration:
        control = Control(FAILED, ())
        if isinstance(after, State):
            control = Control(after.locations[d.kinds[p]], after.registers[d.kinds[p]])
        return replace(d, controls=set_at(d.controls, p, frozenset({control})))


def thinnings(fifo: Fifo) -> set[Fifo]:
    """The FIFO without some messages, in every way that keeps the newest own message of each variable."""
    keys = [message.facts[0][0] if message.own else None for message in fifo]
    free = [n for n, key in enumerate(keys) if key is None or key in keys[n + 1 :]]
    left_out = (set(chosen) for count in range(len(free) + 1) for chosen in combinations(free, count))
    return {tuple(message for n, message in enumerate(fifo) if n not in out) for out in left_out}


def is_above(d: Configuration, c: Configuration, fixed: int) -> bool:
    """Whether the single configuration `d` is above one that `c` stands for; `fixed` processes are there once."""
    if any(value not in (None, known) for value, known in zip(c.memory, d.memory, strict=True)):
        return False
    thinned = [thinnings(fifo) for fifo in d.fifos]
    for others in permutations(range(fixed, len(d.kinds)), len(c.kinds) - fixed):
        places = enumerate((*range(fixed), *others))
        if all(
            d.kinds[q] == c.kinds[p] and d.controls[q] <= c.controls[p] and c.fifos[p] in thinned[q] for p, q in places
        ):
            return True
    return False


def _drains(op: object) -> bool:
    """Whether it waits until nothing of its process is pending."""
    if not isinstance(op, Fence):
        return False
    return (TSO.reading_of_fence(op.order) if op.kind == "thread_fence" else op.kind) == "mfence"


def _known(value: int | None) -> int:
    assert value is not None
    return value
