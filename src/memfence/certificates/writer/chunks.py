"""What the writers of sections have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Chunks = Iterator[tuple[bytes, bytes]]
"""Kinds and contents, in order."""


class NoCertificate(Exception):
    """No certificate could be made; the text says why. The answer may be right all the same."""


def first_that_works(attempts: Iterable[Chunks]) -> Chunks:
    """The chunks of the first attempt that gives any; NoCertificate with the reasons of all if none does.

    An attempt that fails does so before its first chunk.
    """
    reasons: list[str] = []
    for attempt in attempts:
        try:
            first = next(attempt)
        except NoCertificate as reason:
            reasons.append(str(reason))
            continue
        yield first
        yield from attempt
        return
    raise NoCertificate("; ".join(dict.fromkeys(reasons)))
