"""Runs in certificates: the number of an initial state, and steps as short lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from memfence.certificates.format.container import NotACertificate
from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, Step


def steps_as_lists(steps: Iterable[Step]) -> list[list[Any]]:
    return [_as_list(step) for step in steps]


def _as_list(step: Step) -> list[Any]:
    match step:
        case ProcessStep(process, transition):
            return ["run", process, transition]
        case Rendezvous(ProcessStep(p, m), ProcessStep(q, n)):
            return ["meet", p, m, q, n]
        case Commit(process, buffer):
            return ["commit", process, buffer]
        case DropSeparator(process):
            return ["drop", process]
        case _:
            assert_never(step)


def steps_from_lists(found: object) -> tuple[Step, ...]:
    """The steps; NotACertificate where they cannot be read. Whether they are possible is another matter."""
    if not isinstance(found, Sequence):
        raise NotACertificate("a run is not a list of steps")
    return tuple(step_from_list(step) for step in found)


def step_from_list(found: object) -> Step:
    """The step; NotACertificate where it cannot be read."""
    match found:
        case ["run", int(process), int(transition)]:
            return ProcessStep(process, transition)
        case ["meet", int(p), int(m), int(q), int(n)]:
            return Rendezvous(ProcessStep(p, m), ProcessStep(q, n))
        case ["commit", int(process), int(buffer)]:
            return Commit(process, buffer)
        case ["drop", int(process)]:
            return DropSeparator(process)
        case _:
            raise NotACertificate("a step of a run cannot be read")
