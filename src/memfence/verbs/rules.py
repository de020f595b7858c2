"""What options need of the models, of the text and of each other: the reasons for refusals.

A rule takes the usage and the value of its option. It says what is wrong and what to use instead; None: nothing is, as
far as is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memfence.failures import allowed_words
from memfence.models.catalogue import WITHOUT_STATES, states_of
from memfence.tasks.options import GRAPHS
from memfence.verbs.models import AS_GRAPHS, BY_STATES, TO_RUN, WITH_ROBUSTNESS
from memfence.verbs.names import CHECKING
from memfence.verbs.option import Rule
from memfence.verbs.usage import Usage, is_more_than_absence

# Values.


def ends_that_are_normal(usage: Usage, value: Any) -> str | None:
    """Words that the table of failures knows."""
    try:
        allowed_words(value if isinstance(value, str) else ",".join(value))
    except ValueError as error:
        return str(error)
    return None


# Models.


def _either(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"


def states(usage: Usage, value: Any) -> str | None:
    """For models that have states; `check` asks several of them, `fix` and `why` one."""
    if usage.said.get("engine") == GRAPHS:
        return f"it is about searching states, and --engine {GRAPHS} looks at executions; leave one of the two out"
    others = [name for name in usage.models if name not in BY_STATES]
    if others:
        return f"it is about searching states, and `{others[0]}` has none; use --model {_either(BY_STATES)}"
    return None if usage.verb == "check" else one_with_states(usage, value)


def one_with_states(usage: Usage, value: Any) -> str | None:
    """For one model that has states."""
    if len(usage.models) > 1:
        return f"it is for one model at a time, not for {','.join(usage.models)}; use --model {_either(BY_STATES)}"
    if usage.models and usage.models[0] not in BY_STATES:
        return f"not for `{usage.models[0]}`, which has no states; use --model {_either(BY_STATES)}"
    return None


def for_models(usage: Usage, value: Any) -> str | None:
    """Engines search the states of one model, but for one that takes executions, under the models that it knows."""
    if value != GRAPHS:
        return None if value == "auto" else states(usage, value)
    if usage.verb != "check":
        return "it looks at executions one by one, and that is for `check`"
    others = [name for name in usage.models if name not in AS_GRAPHS]
    return f"it does not know {', '.join(others)}; use --model {_either(AS_GRAPHS)}" if others else None


def runs_with_states(usage: Usage, value: Any) -> str | None:
    """For `run` under models with states: it is about the order of steps, and graphs have none."""
    others = [model for model in _models_to_run(usage) if model in TO_RUN and model not in BY_STATES]
    if usage.verb != "run" or not others or not is_more_than_absence(value):
        return None
    return f"not for `{others[0]}`, whose executions are graphs; use --model {_either(BY_STATES)}"


def known_to_run(usage: Usage, value: Any) -> str | None:
    """Models of compiled programs, one or a list with commas between."""
    wrong = [model for model in _models_to_run(usage) if model not in TO_RUN]
    return f"{wrong[0]!r} is not one of {', '.join(map(repr, TO_RUN))}, nor a list of them" if wrong else None


def one_to_run(usage: Usage, value: Any) -> str | None:
    """Schedules are those of one model."""
    if not is_more_than_absence(value) or len(_models_to_run(usage)) < 2:
        return None
    return "a schedule is one of one model: name one by --model"


def _models_to_run(usage: Usage) -> list[str]:
    return [name.strip() for name in str(usage.said.get("model") or "").split(",") if usage.said.get("model")]


def more_with_states(usage: Usage, value: Any) -> str | None:
    """The same for numbers of which one is what happens anyway."""
    return None if value == 1 else runs_with_states(usage, value)


def executions(usage: Usage, value: Any) -> str | None:
    """For models that are answered by the executions of unrolled loops."""
    if usage.said.get("engine") == GRAPHS:
        return None
    if usage.models and all(name in BY_STATES for name in usage.models):
        need = "needs" if len(usage.models) == 1 else "need"
        other = f"leave it out, or use --model {_either(WITHOUT_STATES)}"
        return f"{' and '.join(usage.models)} {need} no bound on loops: {other}"
    return None


def safety_of_models(usage: Usage, value: Any) -> str | None:
    """A criterion other than safety compares runs, which needs one model that has states."""
    chosen = [str(one) for one in (value if isinstance(value, list | tuple) else [value])]
    other = next((one for one in chosen if one != "safety"), None)
    if other is None or one_with_states(usage, value) is None:
        return None
    if usage.verb in CHECKING and chosen == ["robust"] and set(usage.models) <= set(WITH_ROBUSTNESS):
        return None
    if len(usage.models) > 1:
        instead = "`memfence compare` asks every criterion under TSO and PSO"
        return f"`{other}` is asked of one model at a time, not of {','.join(usage.models)}; {instead}"
    return f"`{other}` is not defined for `{usage.models[0]}` here, only safety is; use --model {_either(BY_STATES)}"


def fences_do_something(usage: Usage, value: Any) -> str | None:
    """Under SC there is nothing to fix and nothing to weaken."""
    return "under sc no fence does anything" if usage.models == ("sc",) else None


def sequential_consistency(usage: Usage, value: Any) -> str | None:
    """SV-COMP knows no other model."""
    if not usage.models or usage.models == ("sc",):
        return None
    return "SV-COMP's witnesses are runs under SC: use --model sc"


def statistics(usage: Usage, value: Any) -> str | None:
    """`check` has some for every model."""
    return None if usage.verb == "check" else one_with_states(usage, value)


def needs_model(model: str, *, because: str) -> Rule:
    """For models with these states alone."""

    def rule(usage: Usage, value: Any) -> str | None:
        return because if is_more_than_absence(value) and [*map(states_of, usage.models)] not in ([], [model]) else None

    return rule


def orders_by_count_or_cost(usage: Usage, value: Any) -> str | None:
    """The papers' greedy loops are about fences."""
    if value != "first" or one_with_states(usage, value) is None:
        return None
    return f"for the memory orders of {','.join(usage.models)} it is count or cost"


# The text.


def program_in_c(usage: Usage, value: Any) -> str | None:
    """Several files are one program in C; elsewhere each is a program of its own, where the verb takes several."""
    if usage.program is None or usage.several or usage.program.language == "c":
        return None
    return "only programs in C and C++ consist of several files"


def compiled_text(usage: Usage, value: Any) -> str | None:
    """For what a compiler is told: LLVM's own files have been through it."""
    from memfence.frontends.endings import is_from_llvm

    if usage.files and all(map(is_from_llvm, usage.files)):
        return "a compiler reads it, and LLVM's files have been through one already: say it where they are made"
    return None


def text_in_c(usage: Usage, value: Any) -> str | None:
    """For what gcc alone is told."""
    from memfence.frontends.endings import is_rust

    return "gcc is told that; rustc knows --edition and --cfg" if any(map(is_rust, usage.files)) else None


def text_in_rust(usage: Usage, value: Any) -> str | None:
    """For what rustc alone is told."""
    from memfence.frontends.endings import is_rust

    return "only rustc knows it, and the program is not in Rust" if not all(map(is_rust, usage.files)) else None


def standard_input_is_free(usage: Usage, value: Any) -> str | None:
    """There is no file to write back to."""
    return "standard input cannot be written back; use -o" if value and usage.files[:1] == ("-",) else None


# Other options.


def on_one_machine(usage: Usage, value: Any) -> str | None:
    """A proof needs all states in one place."""
    if usage.says("certificate") or usage.says("verify"):
        return "the states of a proof have to be on one machine"
    return None


def certified_weakly(usage: Usage, value: Any) -> str | None:
    """Ranks count the steps to what comes again and again; strong fairness promises that on a condition only."""
    if value and (usage.says("certificate") or usage.says("verify")):
        return "proofs in files know weak fairness only: use --fair, or leave the certificate out"
    if value and usage.says("cluster"):
        return "machines of a cluster search for weakly fair runs only: use --fair, or leave --cluster out"
    return None


def certified_by_formulas(usage: Usage, value: Any) -> str | None:
    """A proof in a file says what it proves as a formula, or as what the program states."""
    if usage.says("certificate") or usage.says("verify"):
        return "a proof in a file is about formulas and `never` claims: state the cycles as one of them"
    return None


def several_sets(usage: Usage, value: Any) -> str | None:
    """The greedy loops give one set."""
    if value and usage.said.get("minimise") == "first":
        return "--minimise first gives the first set, and no other: use --minimise count or cost"
    return None


def replays_own_model(usage: Usage, value: Any) -> str | None:
    """A schedule names the model of its run."""
    return "the schedule that --replay reads names its model" if usage.says("replay") else None


def needs(other: str, *, because: str) -> Rule:
    """It does nothing without the `other` option."""

    def rule(usage: Usage, value: Any) -> str | None:
        return None if usage.says(other) or not is_more_than_absence(value) else because

    return rule


def needs_value(other: str, wanted: str, *, because: str) -> Rule:
    """It does nothing unless the option `other` has this value."""

    def rule(usage: Usage, value: Any) -> str | None:
        return None if usage.said.get(other) == wanted or not is_more_than_absence(value) else because

    return rule


def not_with(other: str, *, because: str) -> Rule:
    """It contradicts the `other` option."""

    def rule(usage: Usage, value: Any) -> str | None:
        return because if is_more_than_absence(value) and usage.says(other) else None

    return rule


def declares_no_ranges(usage: Usage, value: Any) -> str | None:
    """Integers of C have the width of their type."""
    return "integers of C have the width of their type" if usage.program and usage.program.language == "c" else None
