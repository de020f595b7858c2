"""The memory models as users write them."""

from __future__ import annotations

from collections.abc import Sequence

from memfence.models.catalogue import MODELS, NAMES, name_meant, states_of
from memfence.tasks.options import GRAPHS
from memfence.tasks.usage import WrongUsage

ALL_MODELS = NAMES
BY_STATES = {model.name: model.states for model in MODELS if model.states}
"""Models that have states, and the rules whose states these are."""
AS_GRAPHS = tuple(model.name for model in MODELS if model.graphs)
"""Models whose executions can be explored one by one."""
WITH_ROBUSTNESS = tuple(model.name for model in MODELS if model.robust == "everywhere")
"""Models without states that have a notion of robustness all the same."""
TO_RUN = tuple(model.name for model in MODELS if model.states or model.graphs)
"""Models under which compiled programs are run: with their states, or with executions as graphs."""
WITH_RULES = tuple(name for name, states in BY_STATES.items() if name == states)
RELAXED = tuple(name for name in WITH_RULES if name != "sc")


def models_in(models: str | Sequence[str]) -> tuple[str, ...]:
    """The names in a list, or in a text with commas; WrongUsage for one that is none."""
    listed = models.split(",") if isinstance(models, str) else models if isinstance(models, Sequence) else (models,)
    names = tuple(str(name).strip() for name in listed)
    for name in names:
        if name not in NAMES and not name.endswith(".cat"):
            meant = name_meant(name)
            near = f"; did you mean {meant!r}?" if meant else ""
            known = ", ".join(map(repr, NAMES))
            raise WrongUsage("model", f"{name!r} is not one of {known}, nor a file NAME.cat{near}")
    return tuple(dict.fromkeys(names))


def has_runs(model: object, engine: object = None) -> bool:
    """Whether one model is named, or none, whose runs are searched where nothing else is asked for."""
    return engine != GRAPHS and (model is None or (isinstance(model, str) and model in BY_STATES))


def is_answered_by_states(models: Sequence[str], engine: object = None) -> bool:
    """Whether this is one model whose runs are searched: then there is more to ask, and no bound on loops."""
    return len(models) == 1 and states_of(models[0]) == models[0] and engine != GRAPHS
