"""The axiomatic models that memfence knows by name, and those of users' cat files: how they see C's memory orders.

On ARMv8 a compiler chooses: an acquire load is LDAR or LDAPR, a read-modify-write one instruction (LSE) or a pair of
exclusives. What holds must hold for each choice, so `armv8` is four models. A program in assembly has made the choice.
"""

from __future__ import annotations

from functools import cache

from memfence.axiomatic.code import Barrier, EventItem, Read, Thread, Write
from memfence.axiomatic.model import AxiomaticModel, Tags
from memfence.models.cat.polarity import reached
from memfence.models.cat.reader import library_text, parse
from memfence.models.cat.syntax import Base, Cat
from memfence.models.spec import SPECS
from memfence.pipeline import read_source
from memfence.program.orders import MemoryOrder

NAMES = ("sc", "tso", "pso", "x86", "rc11", "armv8")
WITH_STATES = frozenset({*SPECS, "x86"})
"""Models that have states and locked steps as well."""
ASSEMBLY = "aarch64"
"""The language of programs that say which instruction they mean."""

IN_C = ("c", "clitmus")
LANGUAGES = {**dict.fromkeys(WITH_STATES, None), "rc11": IN_C, "armv8": (*IN_C, ASSEMBLY)}
"""The languages whose accesses a model knows; None: all but assembly of other processors."""


def knows(name: str, language: str) -> bool:
    """Whether programs in this language mean something under the model; users know what their own files are for."""
    languages = LANGUAGES.get(name, (language,))
    return language != ASSEMBLY if languages is None else language in languages or not language


def models_named(name: str, *, language: str = "") -> tuple[AxiomaticModel, ...]:
    """The models that `name` stands for, which may be a file; `language`: the program's.

    InputError if the file cannot be read or is not a model; KeyError if there is no such name.
    """
    if name.endswith(".cat"):
        return _of_text(name, parse(read_source(name)), language)
    if name not in NAMES:
        raise KeyError(name)
    cat = _library("tso" if name == "x86" else name)
    match name:
        case "armv8":
            return _choices(name, cat, language)
        case "rc11":
            return (AxiomaticModel(name, cat, c11_tags),)
        case _:
            return (AxiomaticModel(name, cat, x86_tags),)


def is_coherent(model: AxiomaticModel) -> bool:
    """Whether the model is known to allow only executions in which each variable by itself is sequential, and its
    read-modify-writes are atomic."""
    return any(model.cat == _library(name) for name in NAMES if name != "x86")


@cache
def _library(name: str) -> Cat:
    return parse(library_text(f"{name}.cat"))


def _of_text(name: str, cat: Cat, language: str) -> tuple[AxiomaticModel, ...]:
    """A text may use the names of all architectures."""
    used = {found.node.name for axiom in cat.axioms for found in reached(cat, axiom) if isinstance(found.node, Base)}
    if used & {"A", "Q", "amo", "lxsx"}:
        return tuple(
            AxiomaticModel(name, cat, _all_of(c11_tags, x86_tags, model.tags), model.variant, model.rmw_by_pair)
            for model in _choices(name, cat, language)
        )
    return (AxiomaticModel(name, cat, _all_of(c11_tags, x86_tags, _armv8_tags(ldapr=False))),)


def _choices(name: str, cat: Cat, language: str) -> tuple[AxiomaticModel, ...]:
    if language == ASSEMBLY:
        return (AxiomaticModel(name, cat, _armv8_tags(ldapr=True)),)
    return tuple(
        AxiomaticModel(name, cat, _armv8_tags(ldapr=load == "ldapr"), f"{load}, {rmw}", rmw == "llsc")
        for load in ("ldar", "ldapr")
        for rmw in ("lse", "llsc")
    )


def _all_of(*parts: Tags) -> Tags:
    return lambda thread, item: frozenset().union(*(tags(thread, item) for tags in parts))


# C11. The sets are cumulative, so that a stronger order is in more of them.


def c11_tags(thread: Thread, item: EventItem) -> frozenset[str]:
    """The orders of C11 that an access or fence has."""
    order = item.order
    if isinstance(item, Barrier):
        order = _fence_order(item)
        if order in (MemoryOrder.PLAIN, MemoryOrder.RELAXED):
            return frozenset()
    elif order is MemoryOrder.PLAIN:
        return frozenset({"NA"})
    found = {"RLX"}
    if order.acquires and not isinstance(item, Write):
        found.add("ACQ")
    if order.releases and not isinstance(item, Read):
        found.add("REL")
    if {"ACQ", "REL"} <= found:
        found.add("ACQ_REL")
    if order is MemoryOrder.SEQ_CST:
        found.add("SC")
    return frozenset(found)


def _fence_order(item: Barrier) -> MemoryOrder:
    if item.kind == "thread_fence":
        return item.order
    return MemoryOrder.SEQ_CST if item.kind in ("mfence", "dmb.sy") else MemoryOrder.PLAIN


# x86, with PSO's store fences.


def x86_tags(thread: Thread, item: EventItem) -> frozenset[str]:
    """Locked accesses and fences, as compilers for x86 make them of C's orders."""
    match item:
        case Barrier():
            if _fence_order(item) is MemoryOrder.SEQ_CST:
                return frozenset({"MFENCE"})
            stores = item.kind in ("sfence", "dmb.st") or _fence_order(item).releases
            return frozenset({"SFENCE"}) if stores else frozenset()
        case Read():
            return frozenset({"LOCKED"}) if _is_locked(thread, item) else frozenset()
        case Write():
            released = {"REL"} if item.order.releases else set[str]()
            return frozenset(released | ({"LOCKED"} if _is_locked(thread, item) else set()))


def _is_locked(thread: Thread, item: Read | Write) -> bool:
    """Whether its step is: one access that is locked by itself is enough."""
    if _locks(item):
        return True
    return item.step >= 0 and any(
        isinstance(other, Read | Write) and other.step == item.step and _locks(other) for _, other in thread.events
    )


def _locks(item: Read | Write) -> bool:
    if item.locked:
        return True
    return isinstance(item, Write) and (item.order is MemoryOrder.SEQ_CST or item.reads_by is not None)


# ARMv8.


def _armv8_tags(*, ldapr: bool) -> Tags:
    def tags(thread: Thread, item: EventItem) -> frozenset[str]:
        match item:
            case Barrier():
                return _armv8_fence(item)
            case Read():
                orders = {item.order, item.attempted or item.order}
                modifies = item.exclusive or item.locked or _is_of_pair(thread, item)
                marks = {"X"} if modifies else set[str]()
                if any(order.acquires for order in orders):
                    weaker = ldapr and not modifies and item.order is not MemoryOrder.SEQ_CST
                    marks.add("Q" if weaker else "A")
                return frozenset(marks)
            case Write():
                exclusive = {"X"} if item.exclusive or item.reads_by is not None else set[str]()
                return frozenset(exclusive | ({"L"} if item.order.releases else set()))

    return tags


def _is_of_pair(thread: Thread, item: Read) -> bool:
    return any(
        isinstance(other, Write) and other.reads_by is not None and thread.items[other.reads_by] == item
        for _, other in thread.events
    )


def _armv8_fence(item: Barrier) -> frozenset[str]:
    match item.kind:
        case "dmb.sy" | "dmb.ld" | "dmb.st" | "isb":
            return frozenset({item.kind.upper()})
        case "mfence":
            return frozenset({"DMB.SY"})
        case "sfence":
            return frozenset({"DMB.ST"})
        case "thread_fence":
            if item.order.releases:
                return frozenset({"DMB.SY"})
            return frozenset({"DMB.LD"}) if item.order.acquires else frozenset()
