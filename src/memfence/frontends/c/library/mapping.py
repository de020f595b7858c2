"""Memory that a program gets from the system by itself: blocks of whole pages, as of the heap, full of zeros."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.library.arguments import known, nothing, number
from memfence.frontends.c.library.heap import PAGE, allocate, free
from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.atomically import returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import ZERO, Known, Value

READ_AND_WRITE, FIXED, ANONYMOUS = 3, 0x10 | 0x100000, 0x20
FAILED = Known(-1)
"""MAP_FAILED."""
KEEPING_ADVICE = (0, 1, 2, 3, 14, 15)
"""What only tells the system how the memory will be used."""


def _map(path: Path, call: Call, arguments: list[Value]) -> None:
    size = known(path, arguments, 1, "the size of memory of `mmap`")
    protection = known(path, arguments, 2, "the protection of memory of `mmap`")
    flags = known(path, arguments, 3, "the flags of `mmap`")
    if not flags & ANONYMOUS:
        raise path.refuse(Code.UNSUPPORTED, "`mmap` of a file is not supported")
    if flags & FIXED:
        raise path.refuse(Code.UNSUPPORTED, "`mmap` at an address of its own is not supported")
    if protection != READ_AND_WRITE:
        raise path.refuse(Code.UNSUPPORTED, "`mmap` of memory that is not to be read and written is not supported")
    if size == 0:
        returned(path, call, FAILED)
    else:
        allocate(path, call, -(-size // PAGE) * PAGE, zero=True, alignment=PAGE)


def _unmap(path: Path, call: Call, arguments: list[Value]) -> None:
    """The whole block goes; parts of it are not followed."""
    begin, size = number(path, arguments, 0), known(path, arguments, 1, "the size of memory of `munmap`")
    start = begin.value if isinstance(begin, Known) else 0
    placed = path.world.space.at(start)
    if placed is None or placed.start != start or placed.size != -(-size // PAGE) * PAGE:
        raise path.refuse(Code.UNSUPPORTED, "`munmap` of a part of what `mmap` returned is not supported")
    free(path, call, arguments)


def _advise(path: Path, call: Call, arguments: list[Value]) -> None:
    if known(path, arguments, 2, "the advice of `madvise`") not in KEEPING_ADVICE:
        raise path.refuse(Code.UNSUPPORTED, "`madvise` that drops memory is not supported")
    nothing(path, call, arguments)


def _poll(path: Path, call: Call, arguments: list[Value]) -> None:
    """Without files it sleeps for a while, and no time passes here."""
    if number(path, arguments, 1) != ZERO:
        raise path.refuse(Code.UNSUPPORTED, "`poll` of files is not supported")
    nothing(path, call, arguments)


FUNCTIONS: dict[str, Handler] = {"mmap": _map, "munmap": _unmap, "madvise": _advise, "poll": _poll}
