"""What can be asked of a check, typed; the command line and the Python API fill this in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Literal, Self, assert_never

from memfence.deadline import Deadline
from memfence.models.fairness import Fairness
from memfence.models.spec import SPECS, ModelName, ModelSpec
from memfence.program.facts.labels import no_acceptance_cycle, no_non_progress_cycle
from memfence.program.ir import (
    Ends,
    Final,
    Forbidden,
    Invariant,
    Ltl,
    NoDeadlock,
    Program,
    Property,
    PropertyAutomaton,
    Temporal,
)
from memfence.records import Record
from memfence.tasks.criterion import Criterion
from memfence.tasks.limits import Limits, all_processors
from memfence.tasks.task import ALL_REDUCTIONS

CycleKind = Literal["acceptance", "non-progress"]
EngineName = Literal["auto", "explicit", "symbolic", "dual", "graphs"]
GRAPHS = "graphs"
"""The engine that looks at executions, not at states."""
BoundPer = Literal["variable", "process"]

COMPACT_FROM = 50_000
"""States that a search keeps with the way to them, compact or not: as many as cost next to nothing."""

Progress = Callable[[int, int, int, float, float], None]
"""Called now and then with: states, transitions, queue, seconds, megabytes."""


class CheckOptions(Record, kw_only=True):
    """Every option of `memfence check`, under the same name.

    `forbid`, `invariant`, `final`, `ltl` and `deadlock` replace what the program itself states; assertions are always
    checked, unless `ltl` is all that is asked.
    `ends` asks, beside the rest, that every process ends in weakly fair runs.
    `buffer_bound` is a limit on each buffer; for temporal properties under TSO on each process and variable, unless
    `bound_per` is "process". `define` names predicates for `ltl`; `fair` assumes that a process that can always move
    eventually does.
    `abstract` (persistence only): try to prove it process by process, the others flattened after so many steps; where
    that is not enough, the program itself decides. `reduce` lists reductions of `ALL_REDUCTIONS`. `threads` 0 means as
    many as there are processors, from 50,000 states on; the answer is the same for any number. `compact`: visited
    states take less memory, and runs are found by a second search.
    `cluster` (`local`, `local:N`, HOST:PORT): the machines of a Ray cluster share the search. `deadline`: a time limit
    that runs already, in place of `timeout_seconds`.
    """

    model: ModelName = "tso"
    criterion: Criterion | None = None
    forbid: tuple[Forbidden, ...] = ()
    invariant: tuple[Invariant, ...] = ()
    final: tuple[Final, ...] = ()
    ltl: Ltl | None = None
    deadlock: bool = False
    ends: bool = False
    define: tuple[tuple[str, str], ...] = ()
    fair: bool = False
    strongly_fair: bool = False
    cycles: CycleKind | None = None
    buffer_bound: int | None = None
    bound_per: BoundPer = "variable"
    abstract: int | None = None
    engine: EngineName = "auto"
    reduce: tuple[str, ...] = ALL_REDUCTIONS
    timeout_seconds: float | None = None
    memory_megabytes: int | None = None
    threads: int = 0
    compact: bool = False
    cluster: str | None = None
    progress: Progress | None = field(default=None, compare=False)
    deadline: Deadline | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.criterion is not None:  # a plain text will do
            object.__setattr__(self, "criterion", Criterion(self.criterion))

    @property
    def spec(self) -> ModelSpec:
        """The model, unbounded."""
        return SPECS[self.model]

    @property
    def limits(self) -> Limits:
        """The limits that the user set."""
        return Limits(
            deadline=self.deadline or Deadline(self.timeout_seconds),
            memory_megabytes=self.memory_megabytes,
            threads=self.threads or all_processors(),
            compact_from=COMPACT_FROM if self.compact else 0,
            progress=self.progress,
            cluster=self.cluster,
        )

    def started(self) -> Self:
        """These options with their time running from now on, unless it runs already."""
        return self if self.deadline is not None else replace(self, deadline=Deadline(self.timeout_seconds))

    def afresh(self) -> Self:
        """These options with their whole time: for one question of a list."""
        return replace(self, deadline=Deadline(self.timeout_seconds))

    @property
    def fairness(self) -> Fairness:
        """What is assumed of processes that can move."""
        return Fairness.STRONG if self.strongly_fair else Fairness.WEAK if self.fair else Fairness.NONE

    @property
    def given_properties(self) -> tuple[Property, ...]:
        """The properties asked for here, in a fixed order."""
        ltl = () if self.ltl is None else (self.ltl,)
        deadlock = (NoDeadlock(),) if self.deadlock else ()
        return (*self.forbid, *self.invariant, *self.final, *ltl, *deadlock)


def properties_to_check(program: Program, options: CheckOptions) -> tuple[Property, ...]:
    """The properties given in `options`, else those that the program states; a deadlock keeps processes from ending."""
    stated = options.given_properties or program.properties
    if options.cycles is not None:
        stated = (*options.given_properties, no_cycle(program, options.cycles))
    return (*(p for p in stated if not isinstance(p, NoDeadlock)), Ends()) if options.ends else stated


def no_cycle(program: Program, kind: CycleKind) -> PropertyAutomaton:
    """What `--cycles` asks of a program with labels."""
    match kind:
        case "acceptance":
            return no_acceptance_cycle(program)
        case "non-progress":
            return no_non_progress_cycle(program)
        case _:
            assert_never(kind)


def criterion_to_check(program: Program, options: CheckOptions) -> Criterion:
    """The criterion asked for; without one: safety where there is something to check, else robustness."""
    if options.criterion is not None:
        return options.criterion
    is_stated = properties_to_check(program, options) or program.has_assertions
    return Criterion.SAFETY if is_stated else Criterion.ROBUST


class Asked(Record):
    """What a check of safety is about: properties of `states`, `asks_states` where there are any or assertions count,
    and `temporal` ones, about infinite runs."""

    states: tuple[Property, ...]
    temporal: tuple[Temporal, ...]
    asks_states: bool


def what_is_asked(program: Program, options: CheckOptions) -> Asked:
    """The one place that tells temporal properties from others. A formula given in `options` is asked alone."""
    stated = properties_to_check(program, options)
    temporal = tuple(p for p in stated if isinstance(p, Temporal))
    states = tuple(p for p in stated if not isinstance(p, Temporal))
    has_assertions = program.has_assertions and options.ltl is None
    return Asked(states, temporal, bool(states) or has_assertions or not temporal)
