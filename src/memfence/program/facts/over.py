"""Where a process ends the whole run, or takes it out of what is looked at: there is no deadlock from there on."""

from __future__ import annotations

from memfence.program.ir import Process


def ends_the_run(process: Process) -> frozenset[int]:
    """Locations where the process may stay for ever, and where all it can do is nothing, again and again.

    Front ends put a thread there that calls `exit`, or whose assumption is false. There is always a step then, so no
    state of the run is a deadlock, whoever waits.
    """
    may_end = {number for number, location in enumerate(process.locations) if location.may_end}
    idle = {number for number in may_end if any(True for _ in process.leaving(number))}
    for transition in process.transitions:
        if transition.source != transition.target or transition.ops or transition.sync is not None:
            idle.discard(transition.source)
    return frozenset(idle)
