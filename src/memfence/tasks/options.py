"""What can be asked of a check, typed; the command line and the Python API fill this in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from memfence.models import ModelName
from memfence.program.ir import Forbidden, Invariant, Ltl, NoDeadlock, Program, Property

Criterion = Literal["safety", "persistent", "robust", "state-robust", "trf", "drf"]
EngineName = Literal["auto", "explicit", "symbolic", "dual"]
BoundPer = Literal["variable", "process"]

Progress = Callable[[int, int, int, float, float], None]
"""Called now and then with: states, transitions, queue, seconds, megabytes."""

ALL_REDUCTIONS = ("dead", "fuse", "order", "slice", "symmetry")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """Every option of `memfence check`, under the same name.

    `forbid`, `invariant`, `ltl` and `deadlock` replace what the program itself states; assertions are always checked,
    unless `ltl` is all that is asked.
    `buffer_bound` is a limit on each buffer; for temporal properties under TSO on each process and variable, unless
    `bound_per` is "process". `define` names predicates for `ltl`; `fair` assumes that no process is able to move for
    ever without moving.
    `abstract` (persistence only): try to prove it process by process, the others flattened after so many steps; where
    that is not enough, the program itself decides. `reduce` lists reductions of `ALL_REDUCTIONS`. `threads` 0 means as
    many as there are processors.
    """

    model: ModelName = "tso"
    criterion: Criterion | None = None
    forbid: tuple[Forbidden, ...] = ()
    invariant: tuple[Invariant, ...] = ()
    ltl: Ltl | None = None
    deadlock: bool = False
    define: tuple[tuple[str, str], ...] = ()
    fair: bool = False
    buffer_bound: int | None = None
    bound_per: BoundPer = "variable"
    abstract: int | None = None
    engine: EngineName = "auto"
    reduce: tuple[str, ...] = ALL_REDUCTIONS
    timeout_seconds: float | None = None
    memory_megabytes: int | None = None
    threads: int = 1
    progress: Progress | None = field(default=None, compare=False)

    @property
    def given_properties(self) -> tuple[Property, ...]:
        """The properties asked for here, in a fixed order."""
        ltl = () if self.ltl is None else (self.ltl,)
        deadlock = (NoDeadlock(),) if self.deadlock else ()
        return (*self.forbid, *self.invariant, *ltl, *deadlock)


def properties_to_check(program: Program, options: CheckOptions) -> tuple[Property, ...]:
    """The properties given in `options`, else those that the program states."""
    return options.given_properties or program.properties


def criterion_to_check(program: Program, options: CheckOptions) -> Criterion:
    """The criterion asked for; without one: safety where there is something to check, else robustness."""
    if options.criterion is not None:
        return options.criterion
    return "safety" if properties_to_check(program, options) or program.has_assertions else "robust"
