"""The names that every cat text may use: the sets and relations that executions come with."""

from __future__ import annotations

from memfence.models.catalogue import MODELS

EVENT_SETS = ("_", "R", "W", "F", "M", "IW")
TAGS = tuple(dict.fromkeys(name for model in MODELS for name in model.sets))
"""How models see C's orders. C11's own are cumulative: whoever is `SC` is `ACQ` (loads, fences), `REL` (stores, fences)
and `RLX`, too; only `NA` is alone."""

SETS = (*EVENT_SETS, *TAGS, "emptyset")
RELATIONS = (
    "po", "rf", "co", "loc", "int", "ext", "addr", "data", "ctrl", "rmw", "amo", "lxsx", "step", "together", "id",
)  # fmt: skip
