"""The memory models, one row each. What lists models, or asks what one of them knows, reads this table.

Every model has a text in `cat/library`, which judges executions. Those that have `states` can be searched state by
state as well, by the rules of `models.spec`.
"""

from __future__ import annotations

from typing import Literal

from memfence.records import Record


class OrderCosts(Record, kw_only=True):
    """What stronger orders cost: rough figures of one execution, in the units of `fix --costs`.

    `access`: acquire or release at an access; `store`, `load`: what seq_cst adds to that; `fence`: one that acquires or
    releases; `full_fence`: what seq_cst adds to that; `update`: a read-modify-write, beside what its order costs.
    """

    access: int
    store: int
    load: int
    fence: int
    full_fence: int
    update: int


class Model(Record, kw_only=True):
    """A memory model that users can name.

    `title`: for people. `aliases`: names that people try. `states`: the rules with store buffers that say the same;
    none: it is known by its text alone. `text`: in `cat/library`. `reading`: how it sees C's memory orders, a module of
    `axiomatic.readings`. `sets`: those of this reading, which cat texts may name; `told_apart`: of these, the ones that
    differ between the instructions that a compiler may choose. `assembly`: the language of programs in this processor's
    instructions. `graphs`: what the explorer of execution graphs calls it; nothing where it does not know the model.
    `robust`: where a search of SC states can prove that the model allows no more: everywhere, or where loads acquire.
    `is_usual`: asked about where users name no models.
    """

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    states: str = ""
    text: str
    reading: str
    sets: tuple[str, ...]
    told_apart: tuple[str, ...] = ()
    assembly: str = ""
    graphs: str = ""
    costs: OrderCosts
    robust: Literal["", "everywhere", "where loads acquire"] = ""
    is_usual: bool = False

    def knows(self, language: str) -> bool:
        """Whether programs in this language mean something under the model.

        Assembly has a meaning on its own processor. A model without states reads memory orders, which only C has.
        """
        if language in ASSEMBLIES:
            return language == self.assembly
        return bool(self.states) or not language or language in WITH_ORDERS


WITH_ORDERS = ("c", "clitmus")
"""Languages whose programs name memory orders."""

_OF_X86 = ("LOCKED", "MFENCE", "SFENCE")
_ON_X86 = OrderCosts(access=0, store=10, load=0, fence=0, full_fence=10, update=10)
"""Acquire and release are free; a seq_cst store is a locked exchange, and so is every read-modify-write."""
_IN_C = OrderCosts(access=1, store=2, load=2, fence=2, full_fence=4, update=3)
"""There is no processor: a weaker order is better than a stronger one, and an order better than a fence."""

MODELS = (
    Model(
        name="sc", title="sequential consistency",
        states="sc", text="sc", reading="x86", sets=_OF_X86, assembly="litmus", graphs="sc", costs=_ON_X86,
    ),
    Model(
        name="tso", title="total store order",
        states="tso", text="tso", reading="x86", sets=_OF_X86, assembly="litmus", graphs="tso", costs=_ON_X86,
    ),
    Model(
        name="pso", title="partial store order",
        states="pso", text="pso", reading="x86", sets=_OF_X86, assembly="litmus", costs=_ON_X86,
    ),
    Model(
        name="x86", title="x86: total store order", aliases=("x86-64", "x86_64", "amd64", "x64"),
        states="tso", text="tso", reading="x86", sets=_OF_X86, assembly="litmus", graphs="tso", costs=_ON_X86,
        is_usual=True,
    ),
    Model(
        name="rc11", title="C11 and C++20, as RC11 defines them",
        aliases=("c", "c11", "c++", "c++11", "cpp", "c20", "c++20"),
        text="rc11", reading="c11", sets=("NA", "RLX", "ACQ", "REL", "ACQ_REL", "SC"), graphs="rc11", costs=_IN_C,
        robust="everywhere", is_usual=True,
    ),
    Model(
        name="armv8", title="ARMv8 (AArch64)", aliases=("arm", "armv8-a", "arm64", "aarch64"),
        text="armv8", reading="armv8", sets=("A", "Q", "L", "X", "DMB.SY", "DMB.LD", "DMB.ST", "ISB"),
        told_apart=("A", "Q"), assembly="aarch64",
        costs=OrderCosts(access=2, store=1, load=1, fence=5, full_fence=5, update=4), robust="where loads acquire",
        is_usual=True,
    ),
    Model(
        name="riscv", title="RISC-V (RVWMO)", aliases=("risc-v", "rvwmo", "rv64", "riscv64", "riscv32"),
        text="riscv", reading="riscv",
        sets=(
            "AQ", "RL", "Then.r.rw", "After.rw.w", "After.rw.rw",
            "Fence.r.rw", "Fence.rw.w", "Fence.rw.rw", "Fence.w.w",
        ),
        told_apart=("AQ", "RL"), costs=OrderCosts(access=4, store=0, load=5, fence=4, full_fence=6, update=6),
    ),
)  # fmt: skip

ASSEMBLIES = frozenset(model.assembly for model in MODELS if model.assembly)
"""Languages whose programs are for one processor."""
NAMES = tuple(model.name for model in MODELS)
USUAL = ",".join(model.name for model in MODELS if model.is_usual)
"""What C code should work under: the list to ask about, as users write it."""
WITHOUT_STATES = tuple(model.name for model in MODELS if not model.states)
COSTS_OF_OTHERS: OrderCosts = _IN_C
"""For models of users."""

_BY_NAME = {model.name: model for model in MODELS}
_BY_ALIAS = {alias: model.name for model in MODELS for alias in model.aliases}


def model_of(name: str) -> Model | None:
    """The model with this name; None for others, such as files of users."""
    return _BY_NAME.get(name)


def model_titled(name: str) -> str:
    """The model as people call it."""
    model = model_of(name)
    return name if model is None else model.title


def name_meant(word: str) -> str | None:
    """The name of a model that people also call so."""
    return _BY_ALIAS.get(word.lower())


def states_of(name: str) -> str:
    """The rules whose states the model has; nothing where it has none."""
    model = model_of(name)
    return "" if model is None else model.states


def is_x86(name: str) -> bool:
    """Whether instructions of x86 mean something under the model; users know what their own files are for."""
    model = model_of(name)
    return model is None or model.assembly == "litmus"


def knows(name: str, language: str) -> bool:
    """Whether programs in this language mean something under the model; users know what their own files are for."""
    model = model_of(name)
    return model is None or model.knows(language)
