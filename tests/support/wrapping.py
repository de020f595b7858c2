"""Reports without their line breaks: where a sentence wraps depends on the length of the paths in it."""

from __future__ import annotations


def unwrapped(text: object) -> str:
    """The text on one line, with single blanks."""
    return " ".join(str(text).split())
