"""Accesses to several variables at once that C promises to be one: an atomic word of which somebody stores a part.

A step reads and writes as many variables as it likes, at one moment. But stores that wait in a buffer leave it one by
one, and to a model of events each access is an event of its own. There the program would mean something else: it is
refused.
"""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label
from memfence.program.ir import Program

HINT = "use --model sc, a seq_cst store or an exchange, or store to it always with the same size"


def refuse_torn_stores(program: Program, *, has_buffers: bool) -> None:
    """InputError where a store buffer would let other processes see half of a store."""
    torn = [access for access in program.split_accesses if access.is_torn]
    if not has_buffers or not torn:
        return
    raise InputError(
        [Diagnostic(Code.UNSUPPORTED, _message(access.name), Label(access.span), hint=HINT) for access in torn]
    )


def _message(name: str) -> str:
    return (
        f"`{name}` is stored to as a whole by a store that may wait in a buffer, while other threads access parts of it"
    )
