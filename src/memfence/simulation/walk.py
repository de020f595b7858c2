"""A walk: a run that grows by one chosen step at a time, with everything that could happen next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

from memfence.execution.trace import Trace
from memfence.models.accesses import accesses
from memfence.models.replay import Taken, is_start, nth_start
from memfence.models.state import Failure, ProcessStep, State, Step
from memfence.models.steps import MemoryModel, error_state, successors
from memfence.program.facts.split_accesses import refuse_torn_stores
from memfence.program.ir import Fence, Program

LONGEST_QUIET = 10_000
"""So many steps that nobody else sees are taken at once at most: a thread may compute for ever."""


class NotPossible(ValueError):
    """The step, or the number of a choice, is none that the rules allow now."""


@dataclass(frozen=True)
class Walk:
    """A possible run of `program` from `start`, and what may come next. Every method gives a new walk.

    `skips_quiet`: after a chosen step its process goes on by itself as long as nobody else could tell the difference.
    """

    program: Program
    memory_model: MemoryModel
    start: State
    taken: tuple[Taken, ...] = ()
    skips_quiet: bool = False

    @property
    def state(self) -> State:
        return self.taken[-1].state if self.taken else self.start

    @property
    def failure(self) -> Failure | None:
        """The failure that the last step caused."""
        return self.taken[-1].failure if self.taken else None

    @cached_property
    def _next(self) -> tuple[tuple[Step, State | Failure], ...]:
        if self._has_ended:
            return ()
        return tuple(successors(self.program, self.memory_model, self.state))

    @property
    def _has_ended(self) -> bool:
        """A failure ends the run, except in a language with an error state."""
        failure = self.failure
        return failure is not None and (failure.is_assertion or error_state(self.program, self.memory_model) is None)

    @property
    def choices(self) -> tuple[Step, ...]:
        """Every step that is possible now, always in the same order: process by process, commits first."""
        return tuple(step for step, _ in self._next)

    def choose(self, number: int) -> Walk:
        """The walk with choice `number`, counted from 1. NotPossible if there is none of that number."""
        if not 1 <= number <= len(self._next):
            raise NotPossible(f"there is no choice {number}")
        return self.take(self.choices[number - 1])

    def take(self, step: Step) -> Walk:
        """The walk with `step`, which must be one of the choices. NotPossible if it is not."""
        after = dict(self._next).get(step)
        if after is None:
            raise NotPossible(f"the rules of {self.memory_model.name} do not allow {step} here")
        walk = self._with(step, after)
        return walk._past_quiet(step.process) if self.skips_quiet and isinstance(step, ProcessStep) else walk

    def _with(self, step: Step, after: State | Failure) -> Walk:
        if isinstance(after, Failure):
            error = None if after.is_assertion else error_state(self.program, self.memory_model)
            return replace(self, taken=(*self.taken, Taken(step, error or self.state, after)))
        return replace(self, taken=(*self.taken, Taken(step, after)))

    def _past_quiet(self, process: int) -> Walk:
        """On while `process` has one way to go, which nobody else can see."""
        walk = self
        for _ in range(LONGEST_QUIET):
            mine = [(s, after) for s, after in walk._next if isinstance(s, ProcessStep) and s.process == process]
            if len(mine) != 1 or isinstance(mine[0][1], Failure) or not walk.is_quiet(mine[0][0]):
                break
            walk = walk._with(*mine[0])
        return walk

    def settled(self) -> Walk:
        """The walk after every process did what nobody else can see, where quiet steps are skipped."""
        walk = self
        for process in range(len(self.program.processes)) if self.skips_quiet else ():
            walk = walk._past_quiet(process)
        return walk

    def is_quiet(self, step: Step) -> bool:
        """Whether the step neither touches a variable that the author wrote nor orders anything."""
        if not isinstance(step, ProcessStep):
            return False
        transition = self.program.processes[step.process].transitions[step.transition]
        if transition.locked or any(isinstance(op, Fence) for op in transition.ops):
            return False
        seen = accesses(self.program, self.memory_model, self.state, step)
        return all(self.program.variables[access.variable].is_bookkeeping for access in seen)

    def follow(self, steps: Sequence[Step]) -> Walk:
        """The walk with exactly these steps, nothing skipped. NotPossible at the first that the rules refuse."""
        walk = replace(self, skips_quiet=False)
        for step in steps:
            walk = walk.take(step)
        return replace(walk, skips_quiet=self.skips_quiet)

    def back_to(self, position: int) -> Walk:
        """The walk after its first `position` steps."""
        if not 0 <= position <= len(self.taken):
            raise NotPossible(f"the walk has {len(self.taken)} steps")
        return replace(self, taken=self.taken[:position])

    def at_random(self, random: Random, steps: int, stops: Callable[[State], bool] = lambda _: False) -> Walk:
        """At most `steps` more choices, each of the possible ones as likely as the others; ends where `stops` says."""
        walk = self
        for _ in range(steps):
            if not walk._next:
                break
            walk = walk.take(random.choice(walk.choices))
            if stops(walk.state):
                break
        return walk

    @property
    def trace(self) -> Trace:
        """The run so far, replayed once more from its start by the judge of all runs."""
        return Trace(self.program, self.memory_model, self.start, [taken.step for taken in self.taken])


def begin(program: Program, model: MemoryModel, start: int = 0, *, skips_quiet: bool = False) -> Walk:
    """An empty walk from initial state number `start`. NotPossible if the program has fewer of them."""
    refuse_torn_stores(program, has_buffers=model.buffering.delays_stores)
    try:
        state = nth_start(program, model, start)
    except IndexError:
        raise NotPossible(f"the program has no initial state {start}") from None
    assert is_start(program, model, state)
    return Walk(program, model, state, skips_quiet=skips_quiet).settled()
