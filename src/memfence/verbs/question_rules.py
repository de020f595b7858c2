"""What options need of the question that is asked: the criterion, whether it is temporal, and the engine.

All of it is known once the program is read: what the program states takes part in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from memfence.records import Record
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import GRAPHS
from memfence.verbs.option import Rule
from memfence.verbs.usage import Usage

if TYPE_CHECKING:
    from memfence.tasks.options import CheckOptions

UNBOUNDED = ("symbolic", "dual")
"""Engines that answer safety questions only, with buffers of any length."""
NOTHING = ("false", "0")
"""`--forbid false` asks for everything to be explored; it says nothing that another criterion could leave out."""
ON_CLUSTER = (Criterion.SAFETY, Criterion.PERSISTENT, Criterion.ROBUST, Criterion.TRF, Criterion.DRF)
"""Criteria whose search the machines of a cluster can share."""


class Question(Record):
    """`is_temporal`: about infinite runs; `asks_states`: about states as well, or only."""

    criterion: Criterion
    is_temporal: bool
    asks_states: bool
    options: CheckOptions

    @property
    def is_safety(self) -> bool:
        return self.criterion is Criterion.SAFETY


def question_of(usage: Usage) -> Question | None:
    """What is asked; None before the program is read, and where a verb asks no question."""
    if usage.program is None or usage.options is None:
        return None
    from memfence.tasks.options import criterion_to_check, what_is_asked

    criterion = criterion_to_check(usage.program, usage.options)
    asked = what_is_asked(usage.program, usage.options)
    is_temporal = criterion is Criterion.SAFETY and bool(asked.temporal)
    return Question(criterion, is_temporal, asked.asks_states, usage.options)


def defined_for_model(usage: Usage, value: Any) -> str | None:
    """Most criteria are about TSO; `drf` implies robustness under every model."""
    asked = question_of(usage)
    if asked is None or not asked.criterion.is_about_tso or not asked.options.spec.reorders_stores:
        return None
    other = "`robust` or `state-robust`"
    return f"`{asked.criterion}` is defined for TSO only; for --model {asked.options.model} ask {other}"


def persistence(usage: Usage, value: Any) -> str | None:
    asked = question_of(usage)
    if asked is None or asked.criterion is Criterion.PERSISTENT:
        return None
    return "an abstraction exists for --criterion persistent only"


def safety(usage: Usage, value: Any) -> str | None:
    """A property is part of the question where that is safety."""
    asked = question_of(usage)
    if asked is None or asked.is_safety or not value or _is_nothing(value):
        return None
    return f"a property is for --criterion safety; `{asked.criterion}` asks about every run as it is"


def _is_nothing(value: Any) -> bool:
    several = value if isinstance(value, list | tuple) else (value,)
    return all(str(getattr(one, "text", one)).strip() in NOTHING for one in several)


def infinite_runs(usage: Usage, value: Any) -> str | None:
    asked = question_of(usage)
    if asked is None or asked.is_temporal:
        return None
    return "it needs a temporal property: --ltl, or one that FILE states"


def for_engine(usage: Usage, value: Any) -> str | None:
    asked = question_of(usage)
    if asked is not None and value in UNBOUNDED and asked.options.model == "sc":
        return f"the {value} engine is about store buffers, and sc has none; use --engine explicit"
    if asked is not None and value == GRAPHS and asked.options.criterion not in (None, Criterion.SAFETY):
        return f"the graphs engine answers safety questions only; leave --engine out for `{asked.criterion}`"
    if asked is None or value in ("auto", GRAPHS) or (asked.is_safety and asked.asks_states):
        return None
    if asked.is_safety and value not in UNBOUNDED:
        return None  # what decides temporal properties searches states one by one
    what = "a temporal property" if asked.is_safety else f"`{asked.criterion}`"
    return f"the {value} engine answers safety questions only; leave --engine out for {what}"


def states_one_by_one(usage: Usage, value: Any) -> str | None:
    asked = question_of(usage)
    if asked is None or not value:
        return None
    if asked.options.cluster is not None:
        return "machines of a cluster keep the way to each state; use more of them, or no --cluster"
    if asked.options.engine in UNBOUNDED or (asked.is_temporal and not asked.asks_states):
        return "it is for searches of states one by one, not for temporal properties, --engine symbolic or dual"
    return None


def buffers(usage: Usage, value: Any) -> str | None:
    asked = question_of(usage)
    if asked is None or asked.is_temporal:
        return None
    if asked.options.engine in UNBOUNDED:
        engine = asked.options.engine
        return f"the {engine} engine takes buffers of any length; use --engine explicit, or leave the bound out"
    if asked.options.model == "sc":
        return "sc has no buffers"
    if asked.criterion.is_about_accesses:
        return (
            f"`{asked.criterion}` is decided for buffers of any length; a bound goes with safety, state-robust or --ltl"
        )
    return None


def shared_by_machines(usage: Usage, value: Any) -> str | None:
    """A cluster shares explicit searches; what needs another engine is asked without it."""
    asked = question_of(usage)
    if asked is None or usage.program is None:
        return None
    if usage.program.any_number:
        return "a search for any number of threads is not shared between machines"
    if asked.options.engine not in ("auto", "explicit"):
        return f"machines share explicit searches; the {asked.options.engine} engine works on one"
    if asked.criterion not in ON_CLUSTER:
        return f"the search that decides `{asked.criterion}` is not shared between machines"
    return None


def fixed_by_checks(usage: Usage, value: Any) -> str | None:
    """`fix`: one search after the other, each of which machines can share; for safety, and by fences."""
    asked = question_of(usage)
    if asked is None:
        return None
    if asked.is_temporal:
        return "atomic writes are looked for on one machine"
    if not asked.is_safety:
        return f"fences for `{asked.criterion}` are chosen on one machine; `check` shares its search"
    return None


def edits(*, atomic: bool) -> Rule:
    """`fix`: for edits that are atomic writes, which a temporal property asks for, or for those that are fences."""

    def rule(usage: Usage, value: Any) -> str | None:
        if usage.verb != "fix" or usage.program is None or usage.options is None:
            return None
        from memfence.synthesis import asks_for_atomic_writes

        if asks_for_atomic_writes(usage.program, usage.options) == atomic:
            return None
        if atomic:
            return "it is about atomic writes, which a temporal property asks for: --ltl, or one that FILE states"
        return "it is about fences, but the property is temporal, and is met by atomic writes"

    return rule
