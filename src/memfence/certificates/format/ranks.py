"""Ranked pairs in certificates: the row of a state, the number of a node, the rank; 4 bytes each, the highest first."""

from __future__ import annotations

from collections.abc import Iterable

from memfence.certificates.format.columns import Columns, planes
from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import read_object
from memfence.models.state import State

NUMBER = 4
"""Bytes of the number of a node, and of a rank."""


def read_ranks(columns: Columns, blocks: Iterable[bytes], *, most: int) -> dict[tuple[State, int], int]:
    """The rank of each pair. Rows stand in ascending order: no pair has two. MemoryError for more than `most`."""
    ranks, last = dict[tuple[State, int], int](), b""
    for block in blocks:
        for row in planes(block, columns.width + 2 * NUMBER):
            pair = row[: columns.width + NUMBER]
            if pair <= last:
                raise NotACertificate("ranked pairs are not in order, each once")
            state, node = columns.state(row[: columns.width]), int.from_bytes(pair[columns.width :])
            ranks[state, node] = int.from_bytes(row[len(pair) :])
            last = pair
        if len(ranks) > most:
            raise MemoryError
    return ranks


def read_marks(content: bytes) -> list[int]:
    """The mark of each rank."""
    marks = read_object(content).get("marks")
    if not isinstance(marks, list) or not all(type(mark) is int for mark in marks):
        raise NotACertificate("the marks of ranks are a list of numbers")
    return marks
