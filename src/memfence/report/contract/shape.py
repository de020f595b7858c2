"""What types alone do not say of a value: bounds, patterns, sizes, and whether there may be more keys."""

from __future__ import annotations

from typing import TypeVar

from memfence.records import Record

Shape = TypeVar("Shape", bound=type)
CLOSED: set[str] = set()
"""The classes that have no keys but their own, by module and name."""


class Least(Record):
    """The smallest number that it can be."""

    value: int


class Pattern(Record):
    """A regular expression that the text matches."""

    text: str


class Size(Record):
    """How many items there are."""

    least: int
    most: int | None = None


def closed(shape: Shape) -> Shape:
    """There are no keys but these."""
    CLOSED.add(f"{shape.__module__}.{shape.__name__}")
    return shape
