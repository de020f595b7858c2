"""The end of `main` is the end of the process: that other threads wait then is no deadlock.

A run in which all threads have ended is over, and its last state is a final one. Where `main` returns while a thread
may still be running, the run goes to a location of its own, "quit", at which nobody waits for anything any more. `main`
looks at the flags that joining a thread looks at; where all threads were joined, nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from memfence.digraph import is_acyclic
from memfence.frontends.c.machine.process import SCRATCH, Process
from memfence.frontends.c.machine.residual import Cell, Guard, Op, Read, Step
from memfence.frontends.c.machine.world import DONE
from memfence.program.expressions import Binary, Const, Expr, Register, conjunction, negate

FIRST_SCRATCH = SCRATCH + 200
Steps = dict[int, list[Step]]


def end_with_main(processes: Sequence[Process], steps: Mapping[int, Steps]) -> frozenset[int]:
    """Change the steps of `main`, which is the first of the processes; `steps` are those of each, by its number.

    Returns the numbers of the threads that the end of `main` may cut off.
    """
    flags = {
        process.thread.block.start + DONE: process.number for process in processes if process.thread.block is not None
    }
    waiting = frozenset(p.number for p in processes[1:] if _may_wait(p, steps[p.number]))
    cut_off: frozenset[int] = frozenset()
    if not waiting:
        return cut_off
    ended = {p.number: _ended_before_its_end(p, steps[p.number], flags) for p in processes}
    main = processes[0]
    over = main.special("quit")
    steps[0].setdefault(over, [])
    known = _ended(main, steps[0], flags)
    for number, leaving in steps[0].items():
        found: list[Step] = []
        for step in leaving:
            if main.locations[step.target].kind != "exit":
                found.append(step)
                continue
            left = waiting - _with_their_own(known.get(number, frozenset()) | _joins(step, flags), ended)
            cut_off |= left
            found += _parted(step, over, [flag for flag, thread in flags.items() if thread in left])
        steps[0][number] = found
    return cut_off


def _may_wait(process: Process, steps: Steps) -> bool:
    """Whether some step after the first waits for others, or the thread may be stuck or go round for ever."""
    if any(location.kind == "stuck" for location in process.locations) or goes_round(steps):
        return True
    waits = (
        any(isinstance(op, Guard) for op in step.ops) and step.locked
        for number, leaving in steps.items()
        if process.locations[number].kind != "start"
        for step in leaving
    )
    return any(waits)


def goes_round(steps: Mapping[int, Sequence[Step]]) -> bool:
    """Whether some location is reached again: a loop may wait for others."""
    return not is_acyclic(max(steps, default=-1) + 1, lambda n: (step.target for step in steps.get(n, ())))


def _joins(step: Step, flags: Mapping[int, int]) -> frozenset[int]:
    """The threads that have ended where this step is possible."""
    read = {op.register: op.target.address for op in step.ops if isinstance(op, Read) and isinstance(op.target, Cell)}
    found = set()
    for op in step.ops:
        match op:
            case Guard(Binary("==", Register(register), Const(1))) if read.get(register) in flags:
                found.add(flags[read[register]])
    return frozenset(found)


def _ended(process: Process, steps: Steps, flags: Mapping[int, int]) -> dict[int, frozenset[int]]:
    """For each location the threads that have ended, by whichever way the process came there."""
    found: dict[int, frozenset[int]] = {0: frozenset()}
    waiting = [0]
    while waiting:
        here = waiting.pop()
        for step in steps.get(here, ()):
            after = found[here] | _joins(step, flags)
            before = found.get(step.target)
            met = after if before is None else before & after
            if met != before:
                found[step.target] = met
                waiting.append(step.target)
    return found


def _ended_before_its_end(process: Process, steps: Steps, flags: Mapping[int, int]) -> frozenset[int]:
    known = _ended(process, steps, flags)
    ends = [found for number, found in known.items() if process.locations[number].kind in ("end", "exit")]
    return frozenset.intersection(*ends) if ends else frozenset()


def _with_their_own(joined: frozenset[int], ended: Mapping[int, frozenset[int]]) -> frozenset[int]:
    """The joined threads, and those that these have joined before."""
    grown = joined.union(*(ended[thread] for thread in joined))
    return joined if grown == joined else _with_their_own(grown, ended)


def _parted(step: Step, over: int, flags: Collection[int]) -> list[Step]:
    """The step where all these threads have ended, and where one has not."""
    if not flags:
        return [step]
    registers = {FIRST_SCRATCH + n: flag for n, flag in enumerate(sorted(flags))}
    reads: list[Op] = [Read(register, Cell(flag, 4)) for register, flag in registers.items()]
    all_ended: Expr = conjunction(*(Binary("==", Register(register), Const(1)) for register in registers))
    return [
        replace(step, ops=(*step.ops, *reads, Guard(all_ended))),
        replace(step, target=over, ops=(*step.ops, *reads, Guard(negate(all_ended)))),
    ]
