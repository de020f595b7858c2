"""Whether Rust programs can be compiled here."""

from __future__ import annotations

import pytest

from memfence.binary.rust_toolchain import find_rust
from memfence.diagnostics import InputError


def _why_not() -> str | None:
    try:
        find_rust()
    except InputError as error:
        return error.diagnostics[0].message
    return None


needs_rust = pytest.mark.skipif(_why_not() is not None, reason=_why_not() or "")
