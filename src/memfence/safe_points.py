"""Where an alarm or Ctrl-C may end what is done now: in plain Python, never in the middle of foreign code.

Python calls the handler of a signal between two steps of whatever runs. An exception from there is fine in a loop of
ours. In `delete` of a SAT solver, between freeing the memory and forgetting it, the memory is freed twice; in a
destructor the exception is lost; in an import or at the end of a `with` something stays half done. So handlers ask
here first, and try again a moment later where the answer is no.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])

FOREIGN = frozenset(
    (
        "pysat", "importlib", "_frozen_importlib", "_frozen_importlib_external", "weakref", "_weakrefset", "tempfile",
    )
)  # fmt: skip
"""Packages whose functions are not ended half way, nor what they call."""
ITSELF = "contextlib"
"""Not ended half way, but what it calls may be: the beginning of a `with` can take long."""
WAITING = {
    "threading": frozenset(("wait", "wait_for", "join", "_wait_for_tstate_lock")),
    "concurrent.futures._base": frozenset(("wait", "result", "result_iterator", "_result_or_cancel", "__exit__")),
    "concurrent.futures.thread": frozenset(("shutdown",)),
}
"""Modules of which only these functions are ended: they wait, and clean up behind themselves."""
DESTRUCTOR = "__del__"

_shielded: set[CodeType] = set()


def uninterrupted(function: F) -> F:
    """Mark a function of ours as one that is not ended half way, nor what it calls. It must be short."""
    _shielded.add(function.__code__)
    return function


def may_end(frame: FrameType | None, begin: FrameType | None = None) -> bool:
    """Whether an exception may come out of `frame`, which runs now; who called `begin` does not matter."""
    if frame is not None and frame.f_globals.get("__name__") == ITSELF:
        return False
    while frame is not None:
        if frame.f_code in _shielded or _is_foreign(frame):
            return False
        if frame is begin:
            return True
        frame = frame.f_back
    return True


def _is_foreign(frame: FrameType) -> bool:
    module = str(frame.f_globals.get("__name__"))
    waiting = WAITING.get(module)
    if waiting is not None:
        return frame.f_code.co_name not in waiting
    return frame.f_code.co_name == DESTRUCTOR or module.partition(".")[0] in FOREIGN
