"""The places of a program where a fence can be written."""

from __future__ import annotations

from memfence.program.ir import FencePoint, Program, Store


def every_point(program: Program) -> list[FencePoint]:
    """Each point once, in a fixed order."""
    points = [place.point for process in program.processes for place in process.locations]
    points += [transition.point for process in program.processes for transition in process.transitions]
    return list(dict.fromkeys(point for point in points if point is not None))


def store_points(program: Program) -> list[FencePoint]:
    """The points right after a store that is not locked."""
    transitions = [t for process in program.processes for t in process.transitions if not t.locked]
    stores = [t.point for t in transitions if any(isinstance(op, Store) for op in t.ops)]
    return list(dict.fromkeys(point for point in stores if point is not None))
