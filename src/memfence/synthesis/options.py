"""What can be asked of fence synthesis, typed; the command line and the Python API fill this in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from memfence.frontends.frontend import EditKind, EditStyle
from memfence.tasks.options import CheckOptions

Minimise = Literal["first", "count", "cost"]

DEFAULT_COSTS: Mapping[EditKind, int] = {"mfence": 10, "sfence": 2, "locked": 10}
COST_OF_A_LOOP = 10
"""A fence inside a loop costs this many times as much, for each loop around it."""
MOST_LEVELS = 9
"""Loops that count; where control jumps about, there may be any number of them."""


class FixOptions(CheckOptions, kw_only=True):
    """Every option of `memfence fix`, under the same name.

    `minimise`: `count` edits, their `cost`, or take the `first` set that the papers' greedy loops give. `all`: list
    every minimal set. `via`: with "tso", mfences for TSO first, then sfences for PSO. `kinds`: what may be written;
    without it, fences where the language has them, and locked writes where no fence helps. `style`: how C writes them.
    """

    minimise: Minimise = "count"
    all: bool = False
    via: Literal["tso"] | None = None
    kinds: tuple[EditKind, ...] | None = None
    style: EditStyle = "fence"
    costs: Mapping[EditKind, int] = field(default_factory=lambda: dict(DEFAULT_COSTS))
