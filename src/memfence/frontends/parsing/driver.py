"""Runs the tables of a grammar over a text: the trees that lark makes, several times as fast.

lark stays the judge of mistakes: where the tables do not allow to go on, `parse` gives up, and lark says what is wrong.
What is read here is read as lark does it (tests/differential/frontends/test_parser_vs_lark.py):

* Tokens. lark looks for those kinds that may follow. Here one expression for all kinds is tried first: if the kind that
  it finds may follow, no kind before it in lark's order matches, so lark finds the same. If it may not follow, the
  state gets an expression of its own.
* Places. A tree goes from its first to its last token, punctuation included. A rule that is folded into its single part
  leaves that part's place alone, but what contains it begins at the parenthesis before: hence the places beside the
  parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from memfence.frontends.parsing.nodes import Node, Token, Tree
from memfence.frontends.parsing.tables import END, SCAN, Rule, State, Tables

Shift = Callable[[str, str, int, int], State | None]
Finish = Callable[[], Tree | None]

_BLANKS = " \t\r\n\f\v\ufeff"


def parse(tables: Tables, text: str, start: str) -> Tree | None:
    """The tree of `text`, which has to be a `start` of the grammar; None where it is not."""
    shift, finish = _machine(tables, start)
    kinds, words, ignored, match_any = tables.kinds, tables.words, tables.ignored, tables.match_any
    at = 0
    state: State | None = tables.start(start)[0]
    while state is not None:
        found = state.get(SCAN, match_any)(text, at)
        if found is None:
            if tables.match_end(text, at):
                return finish()
            kind, piece = None, ""
        elif (kind := found.lastgroup) is None:
            piece = found[0].lstrip(_BLANKS)
            kind = kinds.get(piece)
        elif kind in ignored:
            at = found.end()
            continue
        else:
            piece = found[kind]
            if kind in words:
                word = words[kind].get(piece)
                if word in state:
                    kind = word
        if kind in state:
            to = found.end()
            state = shift(kind, piece, to - len(piece), to)
            at = to
        elif not tables.narrow(state):
            return None
    return None


class GivenToken(Protocol):
    """A token that a language has read by itself."""

    @property
    def kind(self) -> str: ...

    @property
    def text(self) -> str: ...


def parse_tokens(tables: Tables, tokens: Iterable[GivenToken], start: str) -> Tree | None:
    """The same for tokens that somebody else has read. Places are their numbers."""
    shift, finish = _machine(tables, start)
    for number, token in enumerate(tokens):
        if shift(token.kind, token.text, number, number + 1) is None:
            return None
    return finish()


def _machine(tables: Tables, start: str) -> tuple[Shift, Finish]:
    """`shift` takes a token (its kind, text and place) and gives the state behind it, or None; `finish` the tree."""
    kept = tables.kept
    first, last = tables.start(start)
    states: list[State] = [first]
    parts: list[Any] = []
    starts: list[int] = []
    ends: list[int] = []
    reduce = _reducer(states, parts, starts, ends)

    def shift(kind: str, piece: str, at: int, to: int) -> State | None:
        action: State | Rule | None = states[-1].get(kind)
        while isinstance(action, Rule):
            action = reduce(action).get(kind)
        if action is None:
            return None
        states.append(action)
        if kind in kept:
            token = Token(piece)
            token.type, token.start_pos, token.end_pos = kind, at, to
            parts.append(token)
        else:
            parts.append(None)
        starts.append(at)
        ends.append(to)
        return action

    def finish() -> Tree | None:
        while (rule := states[-1].get(END)).__class__ is Rule:
            if reduce(rule) is last:
                break
        else:
            return None
        (tree,) = parts
        return tree if isinstance(tree, Tree) else None

    return shift, finish


def _reducer(states: list[State], parts: list[Any], starts: list[int], ends: list[int]) -> Callable[[Rule], State]:
    """What makes one part of the last ones, by a rule, on these stacks, and gives the state behind it."""

    def reduce(rule: Rule) -> State:
        size = rule.size
        if size == 1:
            del states[-1]
            if rule.kept is None:
                if not rule.is_chain:
                    parts[-1] = Tree(rule.name, [parts[-1]], starts[-1], ends[-1])
                state: State = states[-1][rule.origin]
                states.append(state)
                return state
        elif size:
            del states[-size:]
        bottom = len(parts) - size
        begin, stop = _extent(starts, ends, bottom)
        children = parts[bottom:]
        del parts[bottom:], starts[bottom:], ends[bottom:]
        if rule.kept is not None:
            children = _selected(rule, children)
        part = children[0] if rule.folds and len(children) == 1 else Tree(rule.name, children, begin, stop)
        if rule.folds:
            begin, stop = _folded(part, begin, stop)
        parts.append(part)
        starts.append(begin)
        ends.append(stop)
        state = states[-1][rule.origin]
        states.append(state)
        return state

    return reduce


def _extent(starts: list[int], ends: list[int], bottom: int) -> tuple[int, int]:
    """Where the parts from number `bottom` on begin and end; -1 if all of them are empty."""
    if bottom == len(starts):
        return -1, -1
    begin, stop = starts[bottom], ends[-1]
    if begin < 0:
        begin = next((start for start in starts[bottom:] if start >= 0), -1)
    if stop < 0:
        stop = next((end for end in reversed(ends[bottom:]) if end >= 0), -1)
    return begin, stop


def _selected(rule: Rule, parts: list[Any]) -> list[Any]:
    """What becomes of the parts in the tree."""
    selected: list[Any] = []
    for place, inner, absent in rule.kept or ():
        if absent:
            selected += [None] * absent
        part = parts[place]
        if not inner:
            selected.append(part)
        elif selected:
            selected += part.children
        else:
            selected = part.children  # nobody else has them: no need to copy a long list
    return selected + [None] * rule.absent if rule.absent else selected


def _folded(part: Node | None, begin: int, stop: int) -> tuple[int, int]:
    """The place that counts for what contains a part that stands for its rule; a token knows only its own."""
    if part is None:
        return -1, -1
    if isinstance(part, Token):
        return part.start_pos, part.end_pos
    if part.start_pos < 0:
        part.start_pos, part.end_pos = begin, stop
    return begin, stop
