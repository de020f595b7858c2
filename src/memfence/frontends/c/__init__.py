"""C and C++: clang compiles, we read its IR, run what is known, and lower the rest. Fences go back into the source."""

from __future__ import annotations

from memfence.frontends.c.load import load

__all__ = ["load"]
