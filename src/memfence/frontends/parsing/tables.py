"""The LALR tables of a grammar, as lark makes them, in a file beside it: `frontends/LANGUAGE/grammar.tables`.

A command that reads a small text would spend most of its time on making these tables, or on importing who made them.
So `make tables` writes them (`generate.py`), one line a terminal, a rule and a state, and a test compares them with the
grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from memfence.records import Record

Match = Callable[[str, int], re.Match[str] | None]
State = dict[str, Any]
"""What to do before a terminal: the next state, or the rule that ends here. With the name of a rule: the next state."""

SCAN = "scan"
"""The entry of a state that reads the next token; rules are not called so."""
END = "$END"

_BLANKS = re.compile(r"(\[.*\]|\(\?:\[.*\]\))\+")
"""How a terminal for white space looks. No other terminal begins with white space: so it may be skipped before each."""


class Terminal(Record):
    """One kind of token.

    `words`: fixed texts that its expression matches, too, and what they are instead. `texts`: all that it matches, if
    it is a list of fixed texts.
    """

    name: str
    use: str
    words: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    pattern: str


class Rule:
    """`size` parts become one tree called `name`.

    `kept`: which of them (place, whether its own parts stand for it, how many absent ones come before it); None: all.
    `absent`: how many absent parts come last. `folds`: a single part stands for the tree. `is_chain`: the one part
    stays as it is.
    """

    __slots__ = ("absent", "folds", "is_chain", "kept", "name", "origin", "size")

    def __init__(self, line: str) -> None:
        self.origin, self.name, size, folds, absent, *kept = line.split()
        self.size, self.folds, self.absent = int(size), folds == "folds", int(absent)
        self.kept = None if kept == ["all"] else tuple(_part(*part.split(",")) for part in kept)
        self.is_chain = self.folds and self.size == 1 and self.kept is None


class Tables:
    """The tables of one grammar. A state reads tokens of any kind until that was wrong once, see `narrow`."""

    def __init__(self, text: str) -> None:
        sections = text.removesuffix("\n").split("\n%%\n")
        terminals, rules, rows, starts = (section.split("\n") for section in sections[1:])
        self._terminals = tuple(_terminal(line) for line in terminals)
        self._rules = [Rule(line) for line in rules]
        self._states: list[State] = [{} for _ in rows]
        for state, row in zip(self._states, rows, strict=True):
            state.update((symbol, self._entry(what)) for symbol, what in (entry.split("=") for entry in row.split()))
        self._starts = {name: (int(first), int(last)) for name, first, last in (line.split() for line in starts)}
        self._narrowed: dict[tuple[Terminal, ...], Match] = {}
        self.kinds = {text: each.name for each in self._terminals for text in each.texts}
        self.words = {each.name: dict(each.words) for each in self._terminals if each.words}
        self.ignored = frozenset(each.name for each in self._terminals if each.use == "ignored")
        self.kept = frozenset(each.name for each in self._terminals if each.use == "kept")

    def _entry(self, text: str) -> State | Rule:
        return self._rules[int(text[1:])] if text[0] == "r" else self._states[int(text)]

    def start(self, rule: str) -> tuple[State, State]:
        """Where a text that is a `rule` begins, and where it has been read."""
        first, last = self._starts[rule]
        return self._states[first], self._states[last]

    @cached_property
    def match_end(self) -> Match:
        """Finds that nothing but white space follows."""
        return re.compile(rf"{_blanks(self._terminals)}\Z").match

    @cached_property
    def match_any(self) -> Match:
        """Reads a token of any kind."""
        return _matcher(self._terminals)

    def narrow(self, state: State) -> bool:
        """From now on read only tokens that may follow in `state`, as lark does; False if that is so already."""
        if SCAN in state:
            return False
        possible = tuple(each for each in self._terminals if each.use == "ignored" or each.name in state)
        state[SCAN] = self._narrowed[possible] = self._narrowed.get(possible) or _matcher(possible)
        return True


def load_tables(language: str) -> Tables:
    """The tables beside the grammar of `frontends/LANGUAGE`."""
    return Tables((folder_of(language) / "grammar.tables").read_text(encoding="utf-8"))


def folder_of(language: str) -> Path:
    """Where the front end of a language is."""
    return Path(__file__).parent.parent / language


def _matcher(terminals: tuple[Terminal, ...]) -> Match:
    """Reads one token of these kinds, with the white space before it.

    The kind is the name of the group, or is told by the text itself where there is no group: groups are slow, and most
    tokens are punctuation. Words are read by the expression that matches them, too.
    """
    names = {each.name for each in terminals}
    spelled = {kind for each in terminals for _, kind in each.words if kind in names}
    read = [each for each in terminals if each.pattern and each.name not in spelled and not _is_blank(each)]
    choices = [each.pattern if each.texts else f"(?P<{each.name}>{each.pattern})" for each in read]
    return re.compile(f"{_blanks(terminals)}(?:{'|'.join(choices)})").match


def _is_blank(terminal: Terminal) -> bool:
    return terminal.use == "ignored" and _BLANKS.fullmatch(terminal.pattern) is not None


def _blanks(terminals: tuple[Terminal, ...]) -> str:
    """White space, all that there is: taking less would not help, and trying that takes long."""
    return "".join(f"{each.pattern.removesuffix('+')}*+" for each in terminals if _is_blank(each))


def _terminal(line: str) -> Terminal:
    name, use, words, texts, pattern = line.split("\t")
    pairs = [word.rpartition("=") for word in words.split()]
    return Terminal(name, use, tuple((text, kind) for text, _, kind in pairs), tuple(texts.split()), pattern)


def _part(place: str, inner: str, before: str) -> tuple[int, bool, int]:
    return int(place), inner == "inner", int(before)
