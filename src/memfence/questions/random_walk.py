"""A few walks through a program under SC, on its executable definition: what they take, some run takes for sure."""

from __future__ import annotations

from random import Random

from memfence.models.replay import nth_start
from memfence.models.spec import SC
from memfence.models.state import ProcessStep, Rendezvous, State, Step
from memfence.models.steps import successors
from memfence.program.ir import Program

WALKS = 6
STEPS = 60
"""A walk ends once so many steps in a row were nothing new."""


def taken_on_walks(program: Program) -> set[tuple[int, int]]:
    """Transitions, by process and number, that walks came to take. A step that is new is preferred to others."""
    taken: set[tuple[int, int]] = set()
    model, chance = SC.definition, Random(0)
    first = nth_start(program, model, 0)
    for _ in range(WALKS):
        state, known = first, 0
        while known < STEPS:
            ways = [(step, after) for step, after in successors(program, model, state) if isinstance(after, State)]
            if not ways:
                break
            new = [way for way in ways if not _transitions(way[0]) <= taken]
            step, state = chance.choice(new or ways)
            known = 0 if new else known + 1
            taken |= _transitions(step)
    return taken


def _transitions(step: Step) -> set[tuple[int, int]]:
    match step:
        case ProcessStep(process, transition):
            return {(process, transition)}
        case Rendezvous(sender, receiver):
            return {(sender.process, sender.transition), (receiver.process, receiver.transition)}
        case _:
            return set()
