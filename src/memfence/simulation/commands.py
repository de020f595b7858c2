"""What one can say to a simulation, a line each; `parse_command` reads it, `HELP` lists it."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Literal, assert_never

from memfence.records import Record

Word = Literal["undo", "jump", "random", "break", "until", "table", "state", "why", "save", "html", "help", "quit"]

HELP: dict[Word | Literal["NUMBER"], tuple[str, str]] = {
    "NUMBER": ("NUMBER...", "take these choices, one after the other"),
    "undo": ("undo [N]", "take back the last choice, or the last N"),
    "jump": ("jump N", "go to step N of the walk, back or forward again"),
    "random": ("random [N]", "take N choices at random (10), up to a breakpoint"),
    "break": ("break EXPR", "stop random steps where this holds: P0@cs && x == 1"),
    "until": ("until EXPR", "take the fewest steps after which this holds"),
    "table": ("table", "show the whole walk as a table"),
    "state": ("state", "show the state and the choices again"),
    "why": ("why", "tell which load overtook which store, if one did"),
    "save": ("save OUT", "write the walk as a schedule: memfence explore FILE --replay OUT"),
    "html": ("html OUT", "write the walk as a page to step through"),
    "help": ("help", "this list"),
    "quit": ("quit", "end the simulation; so does the end of the input"),
}
"""Every command: how it is written, and what it does."""

SHORT = {"u": "undo", "j": "jump", "r": "random", "b": "break", "t": "table", "s": "state", "q": "quit", "?": "help"}
NEEDS_NUMBER = ("jump",)
NEEDS_TEXT = ("break", "until", "save", "html")
MAY_HAVE_NUMBER = ("undo", "random")
LARGEST = 1_000_000


class NoCommand(ValueError):
    """The line is no command; `hint` is something to type."""

    def __init__(self, problem: str, hint: str = "`help` lists all commands") -> None:
        super().__init__(problem)
        self.hint = hint


class Choose(Record):
    """Take these choices."""

    numbers: tuple[int, ...]


class Command(Record):
    """A word with its number or its text."""

    word: Word
    number: int | None = None
    text: str = ""


def parse_command(line: str) -> Choose | Command | None:
    """The command in `line`; None for an empty line or one that begins with `#`. NoCommand if it is none."""
    words = line.split()
    if not words or words[0].startswith("#"):
        return None
    if all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        return Choose(tuple(map(int, words)))
    found, rest = _word(words[0]), line.strip()[len(words[0]) :].strip()
    match found:
        case "jump" | "undo" | "random":
            return Command(found, _number(found, rest))
        case "break" | "until" | "save" | "html":
            if not rest:
                raise NoCommand(f"`{found}` needs more", f"write `{HELP[found][0]}`")
            return Command(found, text=rest)
        case "table" | "state" | "why" | "help" | "quit":
            if rest:
                raise NoCommand(f"`{found}` stands alone, without `{rest}`")
            return Command(found)
        case _:
            assert_never(found)


def _word(typed: str) -> Word:
    name = SHORT.get(typed, typed)
    for known in HELP:
        if known == name and known != "NUMBER":
            return known
    near = get_close_matches(name, [word for word in HELP if word != "NUMBER"], n=1)
    raise NoCommand(f"`{typed}` is no command", f"did you mean `{near[0]}`?" if near else "`help` lists all commands")


def _number(word: Word, text: str) -> int | None:
    if not text and word in MAY_HAVE_NUMBER:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 9 or int(text) > LARGEST:
        raise NoCommand(f"`{word}` takes a number up to {LARGEST}, not `{text}`", f"write `{HELP[word][0]}`")
    return int(text)
