"""The keywords of the functions of the API, with their types. Written by `memfence.api.typing`: do not edit.

`model` and `modle` differ: a keyword that the function does not have is an error for type checkers, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from memfence.deadline import Deadline
from memfence.frontends.frontend import EditKind
from memfence.program.ir import Final, Forbidden, Invariant, Ltl
from memfence.tasks.criterion import Criterion

CriterionName = Literal["safety", "persistent", "robust", "povso", "po", "state-robust", "trf", "drf"]

__all__ = [
    "CheckKeywords",
    "CheckModelsKeywords",
    "MutateKeywords",
    "FixKeywords",
    "FixModelsKeywords",
    "WhyKeywords",
    "WhyModelsKeywords",
    "RelaxKeywords",
    "CompareKeywords",
    "CompareVariantsKeywords",
    "ReproduceKeywords",
    "ExploreKeywords",
    "ReplayKeywords",
    "SimulateKeywords",
    "TranslateKeywords",
    "TestKeywords",
    "RunKeywords",
    "VerifyKeywords",
    "ConformKeywords",
]


class Reading(TypedDict, total=False):
    """How the program is read."""

    language: str | None
    int_bits: int | None
    split_reads: bool | None
    also: Sequence[str] | None
    macros: Sequence[str] | None
    include: Sequence[str] | None
    std: str | None
    clang: str | None
    entry: str | None
    threads_bound: int | None
    heap_bound: int | None
    recursion_bound: int | None
    assertions_only: bool | None
    allow: str | Sequence[str] | None
    as_compiled: bool | None
    forced_include: Sequence[str] | None
    overflow: bool | None
    progress: Callable[..., Any] | None
    deadline: Deadline | None


class Asking(Reading, total=False):
    """What is asked, and how it is searched."""

    forbid: str | Forbidden | Sequence[str | Forbidden] | None
    invariant: str | Invariant | Sequence[str | Invariant] | None
    final: str | Final | Sequence[str | Final] | None
    ltl: str | Ltl | None
    define: Mapping[str, str] | Sequence[tuple[str, str]] | None
    fair: bool | None
    strongly_fair: bool | None
    deadlock: bool | None
    buffer_bound: int | None
    bound_per: Literal["variable", "process"] | None
    reduce: Sequence[str] | None
    timeout_seconds: float | None
    timeout: float | None
    memory_megabytes: int | None
    memory: int | None
    threads: int | None
    compact: bool | None


class CheckKeywords(Asking, total=False):
    """Of `memfence check`."""

    model: str | None
    criterion: Criterion | CriterionName | None
    unroll: int | None
    cycles: Literal["acceptance", "non-progress"] | None
    ends: bool | None
    abstract: int | None
    engine: Literal["auto", "explicit", "symbolic", "dual", "graphs"] | None
    cluster: str | None
    any_number: Sequence[str] | None


class CheckModelsKeywords(Asking, total=False):
    """Of `memfence check`."""

    criterion: Criterion | CriterionName | None
    cycles: Literal["acceptance", "non-progress"] | None
    ends: bool | None
    abstract: int | None
    engine: Literal["auto", "explicit", "symbolic", "dual", "graphs"] | None
    cluster: str | None
    any_number: Sequence[str] | None


class MutateKeywords(Asking, total=False):
    """Of `memfence check`."""

    criterion: Criterion | CriterionName | None
    cycles: Literal["acceptance", "non-progress"] | None
    ends: bool | None
    abstract: int | None
    engine: Literal["auto", "explicit", "symbolic", "dual", "graphs"] | None
    cluster: str | None
    any_number: Sequence[str] | None


class FixKeywords(Asking, total=False):
    """Of `memfence fix`."""

    model: str | None
    criterion: Criterion | CriterionName | None
    unroll: int | None
    abstract: int | None
    minimise: Literal["count", "cost", "first"] | None
    all: bool | None
    via: Literal["tso"] | None
    kinds: Sequence[EditKind] | None
    style: Literal["fence", "store", "asm"] | None
    costs: Mapping[EditKind, int] | None
    cluster: str | None
    engine: Literal["auto", "explicit", "symbolic", "dual", "graphs"] | None
    any_number: Sequence[str] | None


class FixModelsKeywords(Asking, total=False):
    """Of `memfence fix`."""

    criterion: Criterion | CriterionName | None
    abstract: int | None
    minimise: Literal["count", "cost", "first"] | None
    all: bool | None
    via: Literal["tso"] | None
    kinds: Sequence[EditKind] | None
    style: Literal["fence", "store", "asm"] | None
    costs: Mapping[EditKind, int] | None
    cluster: str | None
    engine: Literal["auto", "explicit", "symbolic", "dual", "graphs"] | None
    any_number: Sequence[str] | None


class WhyKeywords(Asking, total=False):
    """Of `memfence why`."""

    model: str | None
    unroll: int | None
    engine: Literal["auto", "explicit", "symbolic", "dual", "graphs"] | None


class WhyModelsKeywords(Asking, total=False):
    """Of `memfence why`."""

    criteria: Sequence[Criterion | CriterionName] | None
    engine: Literal["auto", "explicit", "symbolic", "dual", "graphs"] | None


class RelaxKeywords(Reading, total=False):
    """Of `memfence relax`."""

    forbid: str | Forbidden | Sequence[str | Forbidden] | None
    invariant: str | Invariant | Sequence[str | Invariant] | None
    final: str | Final | Sequence[str | Final] | None
    timeout_seconds: float | None
    timeout: float | None
    memory_megabytes: int | None
    memory: int | None
    threads: int | None
    compact: bool | None


class CompareKeywords(Asking, total=False):
    """Of `memfence compare`."""


class CompareVariantsKeywords(Asking, total=False):
    """Of `memfence compare`."""


class ReproduceKeywords(Asking, total=False):
    """Of `memfence reproduce`."""

    model: str | None
    criterion: Criterion | CriterionName | None
    engine: Literal["auto", "explicit", "symbolic", "dual", "graphs"] | None


class ExploreKeywords(Reading, total=False):
    """Of `memfence explore`."""

    preemptions: int | None
    cluster: str | None
    depth: int | None
    first: bool | None
    timing: bool | None
    timeout_seconds: float | None
    timeout: float | None
    monitor: bool | None
    save: int | None


class ReplayKeywords(Reading, total=False):
    """Of `memfence explore`."""

    preemptions: int | None
    cluster: str | None
    depth: int | None
    first: bool | None
    timing: bool | None
    timeout: float | None
    monitor: bool | None
    save: int | None


class SimulateKeywords(Reading, total=False):
    """Of `memfence simulate`."""


class TranslateKeywords(Reading, total=False):
    """Of `memfence translate`."""


class TestKeywords(TypedDict, total=False):
    """Of `memfence test`."""

    objects: Sequence[str] | None
    criterion: Literal["serialisable", "linearizable", "quiescent"] | None
    shape: Sequence[str] | None
    clients: int | None
    all: bool | None
    unroll: int | None
    timeout_seconds: float | None
    timeout: float | None
    memory_megabytes: int | None
    memory: int | None
    macros: Sequence[str] | None
    include: Sequence[str] | None
    std: str | None
    clang: str | None
    threads_bound: int | None
    heap_bound: int | None
    recursion_bound: int | None
    assertions_only: bool | None
    allow: str | Sequence[str] | None
    progress: Callable[..., Any] | None
    deadline: Deadline | None


class RunKeywords(TypedDict, total=False):
    """Of `memfence run`."""

    model: str | None
    preemptions: int | None
    random: int | None
    seed: int | None
    threads: int | None
    cluster: str | None
    depth: int | None
    first: bool | None
    leaks: bool | None
    allow: str | Sequence[str] | None
    spurious: int | None
    timeout_seconds: float | None
    timeout: float | None
    macros: Sequence[str] | None
    include: Sequence[str] | None
    std: str | None
    flags: Sequence[str] | None
    edition: Literal["2015", "2018", "2021", "2024"] | None
    cfg: Sequence[str] | None
    arguments: Sequence[str] | None
    hang_seconds: float | None
    reduce: bool | None
    prune: bool | None
    confirm: bool | None
    progress: Callable[..., Any] | None
    deadline: Deadline | None


class VerifyKeywords(TypedDict, total=False):
    """Of `memfence verify`."""

    include: Sequence[str] | None
    clang: str | None
    forced_include: Sequence[str] | None


class ConformKeywords(TypedDict, total=False):
    """Of `memfence conform`."""

    timeout_seconds: float | None
