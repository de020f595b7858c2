"""How a text is read: everything besides the text that decides which program it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOptions:
    """A changed text, read with the options of the program that it was, differs by the change alone.

    `language`: its name; None: told by the file's suffix or the text. `int_bits`: how wide values without a declared
    range are (see `passes.intervals`). `split_reads`: a statement that reads several shared variables is as many steps;
    in Promela, elsewhere no statement does.
    """

    language: str | None = None
    int_bits: int | None = None
    split_reads: bool = False


DEFAULT_OPTIONS = LoadOptions()
