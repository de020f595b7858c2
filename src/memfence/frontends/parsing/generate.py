"""Writes `grammar.tables` beside every `grammar.lark`: what lark makes of it, in lines. `make tables` runs it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from memfence.frontends.parsing.grammar import STARTS, make_lark
from memfence.frontends.parsing.tables import folder_of

if TYPE_CHECKING:
    from lark import Lark

_ESCAPES = {ord(c): escape for c, escape in zip("\n\r\t\f\v", (r"\n", r"\r", r"\t", r"\f", r"\v"), strict=True)}
_HEADER = """\
Made from grammar.lark by `make tables`: terminals (name, use, words that are others, texts if it has only these,
pattern), rules (origin, tree, size, whether a single part stands for it, absent parts at the end, parts kept), states,
starts."""


def render_tables(grammar: Lark) -> str:
    """The tables of `grammar`, in the form that `tables.Tables` reads. The same grammar yields the same text."""
    table = _parse_table(grammar)
    rules = _rules_used(table)
    numbers = {state: number for number, state in enumerate(_states_in_order(table))}
    rule_numbers = {rule: number for number, rule in enumerate(rules)}
    rows = [_row(table.states[state], numbers, rule_numbers) for state in numbers]
    starts = [
        f"{name} {numbers[table.start_states[name]]} {numbers[table.end_states[name]]}"
        for name in sorted(table.start_states)
    ]
    return (
        "\n%%\n".join(
            "\n".join(part) for part in ([_HEADER], _terminals(grammar, rules), map(_rule, rules), rows, starts)
        )
        + "\n"
    )


def _parse_table(grammar: Any) -> Any:
    return grammar.parser.parser._parse_table


def _rules_used(table: Any) -> list[Any]:
    reduced = {what[1] for row in table.states.values() for what in row.values() if not _is_shift(what)}
    return sorted(reduced, key=lambda rule: (rule.origin.name, [symbol.name for symbol in rule.expansion], rule.order))


def _is_shift(what: Any) -> bool:
    return str(what[0]) == "Shift"


def _states_in_order(table: Any) -> list[Any]:
    """All states, as they are met from the starts on: lark's own numbers depend on the order of its sets."""
    found: dict[Any, None] = dict.fromkeys(table.start_states[name] for name in sorted(table.start_states))
    waiting = list(found)
    while waiting:
        row = table.states[waiting.pop(0)]
        for symbol in sorted(row):
            if _is_shift(row[symbol]) and row[symbol][1] not in found:
                found[row[symbol][1]] = None
                waiting.append(row[symbol][1])
    return list(found)


def _row(row: dict[str, Any], numbers: dict[Any, int], rules: dict[Any, int]) -> str:
    return " ".join(
        f"{symbol}={numbers[row[symbol][1]] if _is_shift(row[symbol]) else f'r{rules[row[symbol][1]]}'}"
        for symbol in sorted(row)
    )


def _rule(rule: Any) -> str:
    """As lark's `ParseTreeBuilder` reads its options."""
    folds = rule.options.expand1 and not rule.alias
    kept, absent = _kept(rule)
    is_all = not absent and kept == [(place, False, 0) for place in range(len(rule.expansion))]
    parts = (
        ["all"] if is_all else [f"{place},{'inner' if inner else 'whole'},{before}" for place, inner, before in kept]
    )
    name = rule.alias or rule.origin.name
    return " ".join(
        [rule.origin.name, name, str(len(rule.expansion)), "folds" if folds else "stays", str(absent), *parts]
    )


def _kept(rule: Any) -> tuple[list[tuple[int, bool, int]], int]:
    empty = rule.options.empty_indices or [False] * len(rule.expansion)
    absent_before = [len(ones) for ones in "".join(str(int(is_empty)) for is_empty in empty).split("0")]
    kept, absent = [], 0
    for place, symbol in enumerate(rule.expansion):
        absent += absent_before[place]
        if rule.options.keep_all_tokens or not (symbol.is_term and symbol.filter_out):
            kept.append((place, not symbol.is_term and symbol.name.startswith("_"), absent))
            absent = 0
    return kept, absent + absent_before[len(rule.expansion)]


def _terminals(grammar: Any, rules: list[Any]) -> list[str]:
    """In the order in which lark's lexer tries them."""
    kept = {rule.expansion[place].name for rule in rules for place, _, _ in _kept(rule)[0]}
    ordered = sorted(
        grammar.terminals, key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name)
    )
    doubtful = _sharing_texts(ordered)
    lines = []
    for terminal in ordered:
        use = "ignored" if terminal.name in grammar.ignore_tokens else "kept" if terminal.name in kept else "dropped"
        words = [f"{other.pattern.value}={other.name}" for other in ordered if _is_word_of(other, terminal)]
        pattern = terminal.pattern.to_regexp().translate(_ESCAPES)
        texts = [] if terminal.name in doubtful else _texts(pattern)
        lines.append("\t".join([terminal.name, use, " ".join(words), " ".join(texts), pattern]))
    written = {terminal.name for terminal in ordered}
    declared = {symbol.name for rule in rules for symbol in rule.expansion if symbol.is_term} - written
    return lines + [f"{name}\t{'kept' if name in kept else 'dropped'}\t\t\t" for name in sorted(declared)]


def _sharing_texts(terminals: list[Any]) -> set[str]:
    """Terminals with a text that is one of another terminal, too: then the text does not tell the kind."""
    owners: dict[str, list[str]] = {}
    for terminal in terminals:
        for text in _texts(terminal.pattern.to_regexp()):
            owners.setdefault(text, []).append(terminal.name)
    return {name for names in owners.values() if len(names) > 1 for name in names}


def _texts(pattern: str) -> list[str]:
    """All texts that the expression matches, where it is nothing but a list of them: the first that fits counts."""
    texts = pattern.removeprefix("(?:").removesuffix(")") if pattern.startswith("(?:") else pattern
    if not re.fullmatch(r"(?:[^\\\s.^$*+?{}\[\]()]|\\\W)+", texts):
        return []
    return [re.sub(r"\\(.)", r"\1", text) for text in re.split(r"(?<!\\)\|", texts)]


def _is_word_of(word: Any, terminal: Any) -> bool:
    """Whether a fixed text is matched by an expression of the same priority, as lark's lexer asks."""
    if word.pattern.type != "str" or terminal.pattern.type != "re" or word.priority != terminal.priority:
        return False
    found = re.match(terminal.pattern.to_regexp(), word.pattern.value)
    return found is not None and found[0] == word.pattern.value


def main() -> None:
    """Write all tables again."""
    for language in STARTS:
        (folder_of(language) / "grammar.tables").write_text(
            render_tables(make_lark(language, cache=False)), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
