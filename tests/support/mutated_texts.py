"""Broken texts of every language: a file of the corpus, of `examples/` or of the golden cases after a few seeded edits.

`mutant("rmm", 17)` makes the same text again. A front end joins with one line in `INPUTS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from support.corpus import CORPUS

TESTS = Path(__file__).resolve().parents[1]

# Where the texts of each language are: patterns below the corpus; examples and golden cases are found by suffix.
INPUTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "dve": (".dve", ("beem/*/*.[12].dve", "beem/*/*.prop?.dve")),
    "persist": (".pst", ()),
    "promela": (".pml", ()),
    "trencher": (".txt", ("persist/**/*[!x].txt", "trencher/*.txt")),
    "litmus": (".litmus", ("litmus/dat3m/*.litmus",)),
    "aarch64": (".litmus", ("portable/AARCH64/*/*.litmus",)),
    "clitmus": (".litmus", ("portable/C11/*/*.litmus",)),
    "rmm": (".rmm", ("memorax/*.rmm", "persist/**/*.rmm")),
    "remmex": (".remmex", ("persist/**/*_Remmex.txt",)),
}

SPICE = (
    "0", "1", "-", "99999999999999999999", "(", ")", "((((", "[", "]", "{", "}", ":", ";", ",", "=", "==", "!", "$",
    "#", "//", "/*", '"', "'", "\\", "\0", "\r\n", "\t", "é", "😀", "goto", "end", "begin", "process", "thread", "lock",
)  # fmt: skip

Edit = Callable[[str, Random], str]


def _pieces(text: str) -> list[str]:
    return re.findall(r"\w+|\s+|.", text)


def _place(random: Random, pieces: list[str]) -> int:
    return random.randrange(len(pieces)) if pieces else 0


def delete_token(text: str, random: Random) -> str:
    pieces = _pieces(text)
    del pieces[(at := _place(random, pieces)) : at + 1]
    return "".join(pieces)


def duplicate_token(text: str, random: Random) -> str:
    pieces = _pieces(text)
    at = _place(random, pieces)
    return "".join([*pieces[:at], *pieces[at : at + 1], " ", *pieces[at:]])


def swap_tokens(text: str, random: Random) -> str:
    pieces = _pieces(text)
    i, j = sorted((_place(random, pieces), _place(random, pieces)))
    return "".join([*pieces[:i], *pieces[j : j + 1], *pieces[i + 1 : j], *pieces[i : i + 1], *pieces[j + 1 :]])


def insert_token(text: str, random: Random) -> str:
    pieces = _pieces(text)
    pieces.insert(_place(random, pieces), random.choice(SPICE))
    return "".join(pieces)


def change_character(text: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(("", chr(random.randrange(128)), random.choice(SPICE))) + text[at + 1 :]


def truncate(text: str, random: Random) -> str:
    return text[: random.randrange(len(text) + 1)]


def splice_lines(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    at, start = _place(random, lines), _place(random, lines)
    return "".join([*lines[:at], *lines[start : start + random.randrange(6)], *lines[at + random.randrange(3) :]])


EDITS: tuple[Edit, ...] = (
    delete_token, duplicate_token, swap_tokens, insert_token, change_character, truncate, splice_lines,
)  # fmt: skip


@cache
def originals(language: str) -> tuple[str, ...]:
    """The texts to mutate: never none, since the golden cases of a language belong to the project."""
    suffix, patterns = INPUTS[language]
    paths = [*TESTS.glob(f"golden/*/{language}/*{suffix}"), *TESTS.parent.glob(f"examples/**/*{suffix}")]
    paths += [path for pattern in patterns for path in CORPUS.glob(pattern)]
    return tuple(path.read_bytes().decode("utf-8", "replace") for path in sorted(set(paths)))


def mutant(language: str, number: int) -> str:
    """The mutated text of that number: always the same one for the same inputs."""
    random = Random(f"{language} {number}")
    text = random.choice(originals(language))
    for _ in range(random.randint(1, 3)):
        text = random.choice(EDITS)(text, random)
    return text
