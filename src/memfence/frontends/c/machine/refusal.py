"""What cannot be read, as data: a code, a message, a place, something to type."""

from __future__ import annotations

from memfence.codes import Code
from memfence.frontends.c.llvm.metadata import Place


class Refused(Exception):
    """The program uses something that memfence does not follow. `inside`: where a library does so that it calls."""

    def __init__(
        self,
        code: Code,
        message: str,
        place: Place | None,
        hint: str | None = None,
        label: str = "",
        inside: Place | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.place = place
        self.hint = hint
        self.label = label
        self.inside = inside
