"""Numbers in litmus tests."""

from __future__ import annotations

import re

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.source import Span

_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)\Z", re.ASCII)
_LARGEST, _WORD = 2**31, 2**64


def read_number(text: str, span: Span, errors: list[Diagnostic], sign: str = "") -> int | None:
    """The value of a decimal or hexadecimal number, with or without `sign` before it; None if `text` is not one.

    Values are signed and have 32 bits. A 64-bit word with the bits of such a value, `0xffffffffffffffff`, is that one.
    """
    digits = text.removeprefix(sign)
    if not _NUMBER.match(digits):
        return None
    # A number with many digits is refused by its length: converting it would take quadratic time.
    value = int(digits, 0 if "x" in digits.lower() else 10) if len(digits) <= 21 else _WORD
    if _WORD - _LARGEST <= value < _WORD:
        return value - _WORD
    if -_LARGEST <= value < _LARGEST:
        return value
    hint = "values are signed here, with 32 bits"
    if _LARGEST <= value < 2 * _LARGEST:
        hint = f"values are signed here: write `{value - 2 * _LARGEST}` for the 32-bit word with these bits"
    what = f"`{digits[:40]}` does not fit in 32 bits"
    errors.append(Diagnostic(Code.TOO_LARGE, what, Label(span), hint=hint))
    return 0
