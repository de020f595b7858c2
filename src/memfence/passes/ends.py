"""Does every process end? A program that says so with its places, for fair runs.

* A process has ended where no step leads on, or where it may stay for ever: a thread that nobody starts. Where the
  whole run is over (`exit`), all have.
* A run that fails is over, too: failures are a question of their own. So each assertion gets a way out to a place of
  its own, and is true on every other way.
* A step by chance (a compare-exchange that fails spuriously, a wait that wakes up without a signal) passes a place of
  its own, so that runs in which nothing but chance keeps a thread from ending can be told apart.
"""

from __future__ import annotations

from dataclasses import replace

from memfence.program.expressions import FALSE, At, Expr, conjunction, disjunction, negate
from memfence.program.facts.over import ends_the_run
from memfence.program.ir import Assert, Assume, Location, Op, Process, Program, Transition
from memfence.records import Record


class EndingProgram(Record):
    """`ended`: every process has ended, or the run is over. `by_chance`: a process is in the middle of such a step."""

    program: Program
    ended: Expr
    by_chance: Expr


def with_ends(program: Program) -> EndingProgram:
    """The program with places for failures and for what happens by chance."""
    made = [_Places(process) for process in program.processes]
    over = [At(n, places.over) for n, places in enumerate(made) if places.over]
    ended = conjunction(*(At(n, places.ends) for n, places in enumerate(made)))
    chances = [At(n, places.chances) for n, places in enumerate(made) if places.chances]
    return EndingProgram(
        replace(program, processes=tuple(places.process for places in made)),
        disjunction(ended, *over),
        disjunction(*chances) if chances else FALSE,
    )


class _Places:
    """A process with the new places, and what each is for."""

    def __init__(self, process: Process) -> None:
        self.locations = list(process.locations)
        self.transitions: list[Transition] = []
        self.failed: int | None = None
        chances = set()
        for transition in process.transitions:
            if transition.sync is None:
                transition = self.without_failures(transition)
            if transition.by_chance and transition.sync is None:
                between = self.place(f"{process.locations[transition.source].name} by chance")
                chances.add(between)
                self.transitions.append(replace(transition, target=between))
                transition = Transition(between, transition.target, span=transition.span)
            self.transitions.append(transition)
        if self.failed is not None:
            self.transitions.append(Transition(self.failed, self.failed))
        self.process = replace(process, locations=tuple(self.locations), transitions=tuple(self.transitions))
        left = {transition.source for transition in self.process.transitions}
        numbered = enumerate(self.locations)
        self.ends = frozenset(n for n, location in numbered if location.may_end or n not in left)
        self.over = ends_the_run(self.process)
        self.chances = frozenset(chances)

    def without_failures(self, transition: Transition) -> Transition:
        """The step where its assertions are true; ways out, where one is not, are added."""
        ops: list[Op] = []
        for op in transition.ops:
            if isinstance(op, Assert):
                self.failed = self.place("failed", may_end=True) if self.failed is None else self.failed
                failing = (*ops, Assume(negate(op.condition)))
                self.transitions.append(replace(transition, target=self.failed, ops=failing, by_chance=False))
                ops.append(Assume(op.condition))
            else:
                ops.append(op)
        return replace(transition, ops=tuple(ops))

    def place(self, name: str, *, may_end: bool = False) -> int:
        self.locations.append(Location(name, may_end=may_end))
        return len(self.locations) - 1
