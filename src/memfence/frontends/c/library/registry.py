"""The table of all library functions, by name; each table is in the module of its subject."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import Value

SLEEPING = ("_ZNSt3__111this_thread9sleep_", "_ZNSt11this_thread9sleep_")
"""`std::this_thread::sleep_for` and `sleep_until`, whose code computes with floating-point numbers."""

Handler = Callable[[Path, Call, list[Value]], None]


@cache
def _tables() -> tuple[dict[str, Handler], dict[str, Handler]]:
    """Functions that are ours even where the program defines them, and those that are ours where it does not."""
    from memfence.frontends.c.library import (
        c11,
        cpp,
        cpp_locks,
        ending,
        error_number,
        heap,
        intrinsics,
        keys,
        locks,
        mapping,
        stubs,
        text,
        threads,
        verifier,
        waiting,
    )

    always: dict[str, Handler] = {**intrinsics.FUNCTIONS, **verifier.ALWAYS}
    otherwise: dict[str, Handler] = {
        **stubs.FUNCTIONS,
        **ending.FUNCTIONS,
        **text.FUNCTIONS,
        **verifier.FUNCTIONS,
        **threads.FUNCTIONS,
        **keys.FUNCTIONS,
        **locks.FUNCTIONS,
        **waiting.FUNCTIONS,
        **heap.FUNCTIONS,
        **mapping.FUNCTIONS,
        **c11.FUNCTIONS,
        **cpp.FUNCTIONS,
        **cpp_locks.FUNCTIONS,
        **error_number.FUNCTIONS,
    }
    return always, otherwise


@cache
def handler_of(name: str, is_defined: bool) -> Handler | None:
    """What a call of `name` does, if that is ours to say."""
    from memfence.frontends.c.library import intrinsics
    from memfence.frontends.c.library.arguments import nothing
    from memfence.frontends.c.library.ending import ending_handler

    always, otherwise = _tables()
    if name.startswith("llvm."):
        return intrinsics.intrinsic(name)
    if name.startswith(SLEEPING):
        return nothing
    found = always.get(name)
    if found is not None or is_defined:
        return found
    return otherwise.get(name) or ending_handler(name)


def known_names() -> list[str]:
    always, otherwise = _tables()
    return sorted((*always, *otherwise))
