"""Every step that accesses memory as a locked one: what a program is under SC, said in terms of TSO."""

from __future__ import annotations

from dataclasses import replace

from memfence.program.facts.effects import is_local
from memfence.program.ir import Process, Program


def with_locked_steps(program: Program) -> Program:
    """A program whose runs under TSO are the runs of `program` under SC."""
    return replace(program, processes=tuple(_locked(process) for process in program.processes))


def _locked(process: Process) -> Process:
    steps = (t if all(map(is_local, t.ops)) else replace(t, locked=True) for t in process.transitions)
    return replace(process, transitions=tuple(steps))
