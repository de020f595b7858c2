"""The names that every cat text may use: the sets and relations that executions come with."""

from __future__ import annotations

EVENT_SETS = ("_", "R", "W", "F", "M", "IW")
C11_TAGS = ("NA", "RLX", "ACQ", "REL", "ACQ_REL", "SC")
"""Cumulative: whoever is `SC` is `ACQ` (loads, fences), `REL` (stores, fences) and `RLX`, too; only `NA` is alone."""

ARMV8_TAGS = ("A", "Q", "L", "X", "DMB.SY", "DMB.LD", "DMB.ST", "ISB")
X86_TAGS = ("LOCKED", "MFENCE", "SFENCE")

SETS = (*EVENT_SETS, *C11_TAGS, *ARMV8_TAGS, *X86_TAGS, "emptyset")
RELATIONS = (
    "po", "rf", "co", "loc", "int", "ext", "addr", "data", "ctrl", "rmw", "amo", "lxsx", "step", "together", "id",
)  # fmt: skip
