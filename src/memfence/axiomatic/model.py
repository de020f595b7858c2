"""Axiomatic memory models as values: a cat text, and how a program's accesses look to it."""

from __future__ import annotations

from collections.abc import Callable

from memfence.axiomatic.code import EventItem, Thread
from memfence.models.cat.syntax import Cat
from memfence.records import Record

Tags = Callable[[Thread, EventItem], frozenset[str]]
"""The sets of the model's cat text that an event is in, besides `R`, `W`, `F`, `M` and `IW`."""


class Variant(Record):
    """One reading of C's orders, of those that a compiler may choose; `name`: which, such as `ldapr, lse`.

    `rmw_by_pair`: a read-modify-write of C is a load-exclusive and a store-exclusive, `lxsx` (else it is `amo`).
    """

    tags: Tags
    name: str = ""
    rmw_by_pair: bool = False


class AxiomaticModel(Record):
    """`name`: as users write it; `variant` and `rmw_by_pair`: of the reading of C's orders."""

    name: str
    cat: Cat
    tags: Tags
    variant: str = ""
    rmw_by_pair: bool = False
