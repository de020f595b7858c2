"""Frames of functions that begin empty, in the assembler text.

A thread that comes back to where it was is told by its stack. What earlier calls have left there would look like a
difference, in variables that are not set yet and between them. So every function clears its frame when it is entered,
and the registers that it saves there for its caller.
What the program does with variables that it has set does not change; those that it has not set are 0, in every
execution.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

BEGINS = re.compile(r"\s*\.cfi_startproc\b")
ROOM = re.compile(r"\s*subq\s+\$(?P<bytes>\d+), %rsp\s*")
SAVED = re.compile(r"\s*pushq?\s+%(?P<register>rbx|r1[2-5])\s*")
HARMLESS = re.compile(r"\s*(?:\.|endbr64|push|mov|lea|and|xor)")
WORD = 8
MOST_BYTES = 4096
"""Larger frames stay as they are: clearing them at every call takes too long."""


def with_clean_frames(lines: Iterable[str]) -> Iterator[str]:
    """The lines, with a loop behind the instruction that makes room for the frame. `%r11` is free at that point."""
    in_prologue = False
    for line in lines:
        yield line
        if BEGINS.match(line):
            in_prologue = True
        elif in_prologue and (saved := SAVED.fullmatch(line)):
            yield f"\tmovq\t$0, %{saved['register']}"
        elif in_prologue and (room := ROOM.fullmatch(line)):
            in_prologue = False
            yield from _clearing(int(room["bytes"]))
        elif not HARMLESS.match(line) or "%r11" in line:
            in_prologue = False


def _clearing(size: int) -> Iterator[str]:
    if size % WORD != 0 or not 0 < size <= MOST_BYTES:
        return
    yield f"\tleaq\t{size}(%rsp), %r11"
    yield f"1:\tsubq\t${WORD}, %r11"
    yield "\tmovq\t$0, (%r11)"
    yield "\tcmpq\t%rsp, %r11"
    yield "\tja\t1b"
