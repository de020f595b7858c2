"""The verbs, in the order in which one needs them, and those that share options."""

from __future__ import annotations

CHECKING = frozenset({"check", "fix"})
"""Ask about one program, with every way to ask and to report."""
BY_MODELS = frozenset({"check", "fix", "why"})
"""Take any model, or a list of them."""
ABOUT_STATES = frozenset({*BY_MODELS, "relax", "compare", "reproduce"})
"""Know properties of states."""
COMPILING = frozenset({*ABOUT_STATES, "explore", "simulate"})
"""Read programs in C from several files, with macros and headers."""
READING = frozenset({*COMPILING, "translate"})
"""Read programs in every language."""
IN_JSON = frozenset(
    {*ABOUT_STATES, "test", "explore", "simulate", "run", "monitor", "verify", "conform", "cost"},
)
"""Print an object."""
MEASURING = frozenset({"reproduce", "conform", "cost"})
"""Measure what the processor at hand does."""
