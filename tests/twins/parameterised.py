"""The slow twin of the search for any number of threads: the rules of `twins.dual` over multisets of single parts.

A configuration has one part for each fixed process, then any number of others. Nothing is dropped that could be at its
start, and a process that nobody mentioned so far is tried in every control state with every sequence of own messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import permutations, product

from memfence.program.expressions import Expr
from memfence.program.ir import Program
from memfence.program.parameterised import fixed_processes, instances_of
from twins.dual import Action, Configuration, Control, Fifo, Message, _Search, cut, initial_controls, is_subword


@dataclass(frozen=True, slots=True, order=True)
class Instances(Configuration):
    """`kinds`: of each part, the process that it is like."""

    kinds: tuple[int, ...]


def can_reach(program: Program, bad: Expr | None, *, most: int = 2_000) -> bool | None:
    """Whether some number of instances reaches a `bad` state or a failure under TSO; None after `most` configurations.

    `bad` may name any instance that the program has.
    """
    return _ParameterisedSearch(program, bad).run(most)


class _ParameterisedSearch(_Search):
    def __init__(self, program: Program, bad: Expr | None) -> None:
        super().__init__(program, bad, failures=True)
        self.all_arriving, self.all_writes = self.arriving, self.writes
        self.fixed = fixed_processes(program)
        self.templates = [instances_of(program, template) for template in program.any_number]

    def run(self, most: int) -> bool | None:
        minimal: dict[object, list[Instances]] = {}
        queue: list[tuple[int, int, Instances]] = []

        def key(c: Instances) -> object:
            return c.memory, c.controls[: len(self.fixed)]

        def add(c: Instances) -> None:
            known = minimal.setdefault(key(c), [])
            if any(self.is_below(other, c) for other in known):
                return
            known[:] = [other for other in known if not self.is_below(c, other)] + [c]
            heappush(queue, (c.size + len(c.controls), len(queue), c))

        for start in self.starts():
            add(start)
        for _ in range(most):
            if not queue:
                return False
            *_, c = heappop(queue)
            if self.is_initial(c):
                return True
            if c in minimal[key(c)]:
                for before in self.predecessors(c):
                    add(before)
        return None

    def starts(self) -> Iterator[Instances]:
        """Bad states of the processes that the program has, and failures of each kind beside the fixed processes."""
        everybody = (*self.fixed, *(n for members in self.templates for n in members))
        for controls in product(*(self.all_arriving[n] for n in everybody)):
            placed = tuple(control for _, control in sorted(zip(everybody, controls, strict=True)))
            if self.bad is not None and not any(c.location == -1 for c in controls) and self.is_bad(placed):
                yield from self.anywhere(everybody, controls)
        for members in (self.fixed, *((*self.fixed, first) for first, *_ in self.templates)):
            for controls in product(*(self.all_arriving[n] for n in members)):
                if any(c.location == -1 for c in controls):
                    yield from self.anywhere(members, controls)

    def anywhere(self, members: tuple[int, ...], controls: tuple[Control, ...]) -> Iterator[Instances]:
        kinds = tuple(self.kind_of(number) for number in members)
        for memory in self.memories:
            yield Instances(controls, memory, tuple(() for _ in members), kinds)

    def kind_of(self, number: int) -> int:
        return next((members[0] for members in self.templates if number in members), number)

    def is_initial(self, c: Instances) -> bool:
        return (
            c.size == 0
            and all(
                control in initial_controls(self.program.processes[kind])
                for control, kind in zip(c.controls, c.kinds, strict=True)
            )
            and all(value in v.init for value, v in zip(c.memory, self.program.variables, strict=True))
        )

    def predecessors(self, c: Instances) -> Iterator[Instances]:
        self.look_at(c)
        yield from super().predecessors(c)
        for kind, *_ in self.templates:
            for control, arriving in self.all_arriving[kind].items():
                for source, action in arriving:
                    if action.stores:
                        yield from self.before_newcomer(c, kind, control, source, action)

    def look_at(self, c: Instances) -> None:
        self.arriving = [self.all_arriving[kind] for kind in c.kinds]
        self.writes = [self.all_writes[kind] for kind in c.kinds]

    def before_newcomer(
        self, c: Instances, kind: int, after: Control, source: Control, action: Action
    ) -> Iterator[Instances]:
        """The last step was a store of a process of which `c` says nothing."""
        part = len(c.controls)
        sequences = [()] if action.locked else self.own_sequences(kind, action.stores[0])
        for fifo in sequences:
            moved = Instances((*c.controls, source), c.memory, (*c.fifos, fifo), (*c.kinds, kind))
            self.look_at(moved)
            yield from self.before_locked(moved, part, action) if action.locked else self.before(moved, part, action)

    def own_sequences(self, kind: int, newest: tuple[int, int]) -> Iterator[Fifo]:
        """Own messages of different variables, the newest one last."""
        others = [store for store in self.all_writes[kind] if store[0] != newest[0]]
        for length in range(len({x for x, _ in others}) + 1):
            for chosen in permutations(others, length):
                if len({x for x, _ in chosen}) == length:
                    yield tuple(Message((store,), True) for store in (*chosen, newest))

    def is_below(self, a: Instances, b: Instances) -> bool:
        """For configurations with equal memory and equal controls of the fixed processes."""
        count = len(self.fixed)
        if not all(_is_part_below(a, i, b, i) for i in range(count)):
            return False
        return self.embeds(a, b, count, frozenset(range(count, len(b.controls))))

    def embeds(self, a: Instances, b: Instances, part: int, free: frozenset[int]) -> bool:
        if part == len(a.controls):
            return True
        return any(_is_part_below(a, part, b, i) and self.embeds(a, b, part + 1, free - {i}) for i in free)


def _is_part_below(a: Instances, i: int, b: Instances, j: int) -> bool:
    if (a.kinds[i], a.controls[i]) != (b.kinds[j], b.controls[j]):
        return False
    (mine, words), (theirs, others) = cut(a.fifos[i]), cut(b.fifos[j])
    return mine == theirs and all(is_subword(w, o) for w, o in zip(words, others, strict=True))
