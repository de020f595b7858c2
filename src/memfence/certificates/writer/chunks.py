"""What the writers of sections have in common."""

from __future__ import annotations

from collections.abc import Iterator

Chunks = Iterator[tuple[bytes, bytes]]
"""Kinds and contents, in order."""


class NoCertificate(Exception):
    """No certificate could be made; the text says why. The answer may be right all the same."""
