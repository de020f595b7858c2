"""`errno`: a variable of each thread, which functions that return -1 set."""

from __future__ import annotations

from memfence.frontends.c.library.registry import Handler
from memfence.frontends.c.llvm.instructions import Call
from memfence.frontends.c.machine.arithmetic import choose
from memfence.frontends.c.machine.atomically import Atomically, returned
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.values import Known, Scalar, Value

AGAIN, INVALID, TIMED_OUT = Known(11), Known(22), Known(110)


def _address(path: Path) -> int:
    return path.world.space.place(("errno", path.process.number), 4, "errno", "global").start


def _location(path: Path, call: Call, arguments: list[Value]) -> None:
    returned(path, call, Known(_address(path)))


def failed_with(step: Atomically, succeeded: Scalar, error: Known) -> None:
    """Set `errno`, unless the function has succeeded."""
    address = _address(step.path)
    step.write(address, choose(succeeded, step.read(address), error))


FUNCTIONS: dict[str, Handler] = {"__errno_location": _location}
