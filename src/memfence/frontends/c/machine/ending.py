"""The end of the whole process: a failure, or a normal end after which nothing more is asked of any thread."""

from __future__ import annotations

from memfence.failures import Ending
from memfence.frontends.c.machine.path import Path
from memfence.frontends.c.machine.undefined import used
from memfence.frontends.c.machine.values import Known, Scalar
from memfence.program.expressions import Binary, Const

MOST_NAMED = 8
"""Statuses that get a finding of their own, with their value."""


def end_process(path: Path, ending: Ending, text: str) -> None:
    """The thread ends the process in this way; `text` is what the finding says, if it is one."""
    if path.world.reading.fails(ending):
        path.fail(text)
    else:
        path.stop("quit")


def end_with_status(path: Path, ending: Ending, name: str, status: Scalar, kind: str = "quit") -> None:
    """The thread ends the process with a status. `kind`: where it stands after a normal end."""
    if not path.world.reading.is_normal(ending):
        _check_status(path, ending, name, used(status))
    if not path.ended:
        path.stop(kind)


def _check_status(path: Path, ending: Ending, name: str, status: Scalar) -> None:
    """The failures; what is left of the path has the status 0."""
    if isinstance(status, Known):
        if path.world.reading.fails(ending, status.value):
            path.fail(ending.text(name, status.value))
        return
    members = status.values.members(MOST_NAMED)
    for value in members or ():
        if value != 0:
            bad = path.fork(Binary("==", status.expr, Const(value)))
            if bad is not None:
                bad.fail(ending.text(name, value))
                path.forks.remove(bad)
    is_zero = Binary("==", status.expr, Const(0))
    if members is None:
        path.check(is_zero, ending.text(name))
    elif not path.assume(is_zero):
        path.ended = True
