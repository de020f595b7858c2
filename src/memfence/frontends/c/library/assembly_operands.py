"""Inline assembly with operands: mov, xchg, lock xadd / inc / dec / add / or / cmpxchg."""

from __future__ import annotations

from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.llvm.values import InlineAsm
from memfence.frontends.c.machine.path import Path


def run_pattern(path: Path, call: Call, asm: InlineAsm, lines: list[str]) -> bool:
    """Whether the lines are one of the known patterns, which was then executed."""
    return False
