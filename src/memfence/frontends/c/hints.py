"""What to do about something that memfence does not follow: a help for every refusal, by what its message says."""

from __future__ import annotations

import re

from memfence.codes import Code

HINTS: tuple[tuple[str, str], ...] = (
    (r"setjmp", "return an error code instead, at least in the code under test"),
    (r"pieces of different size|part of a larger object", "access it always with the same type and size"),
    (r"must be known before|not known before", "use a constant there, or a macro that -D sets"),
    (r"size of a heap block", "allocate a constant number of bytes"),
    (r"function of the new thread", "define the thread's function in this file, or as a stub"),
    (r"handle of a thread|result of a thread", "create fewer threads, each with a handle of its own"),
    (r"vectors", "use scalars in the code under test"),
    (r"access of \d+ bytes", "use objects of at most 8 bytes for single accesses"),
    (r"computes too long", "give loops that run before the first thread a smaller bound, with a macro and -D"),
    (r"whole shared struct|whole struct|choice between whole structs", "access the members one by one"),
    (r"exceptions", "return an error code instead, at least in the code under test"),
    (r"compiler's function|instruction `", "keep it out of the code under test: #ifdef it out with a macro and -D"),
    (r"variadic", "write it with a fixed number of arguments"),
    (r"string", "use a string literal"),
    (r"signal handler", "call the handler yourself where the signal may come, or #ifdef it out with a macro and -D"),
)
BY_CODE: dict[Code, str] = {
    Code.UNSUPPORTED: "keep it out of the code under test: #ifdef it out with a macro and -D",
    Code.TOO_LARGE: "check a smaller instance: fewer threads, rounds or elements, set by a macro and -D",
    Code.UNKNOWN_CALL: "define it in this file, or write a stub for it",
    Code.UNKNOWN_VARIABLE: "define it in this file",
}


def hint_for(code: Code, message: str) -> str | None:
    """The help for a message; None where nothing is known that helps."""
    found = next((hint for pattern, hint in HINTS if re.search(pattern, message)), None)
    return found or BY_CODE.get(code)
