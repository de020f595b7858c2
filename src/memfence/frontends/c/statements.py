"""Statements of C and C++ text, found by tree-sitter: the innermost one at a place, and where a fence can follow it."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from memfence.frontends.endings import is_c as is_c_path
from memfence.frontends.endings import is_cpp as is_cpp_path
from memfence.records import Record
from memfence.source import SourceText

SIMPLE = frozenset(("expression_statement", "declaration"))
LISTS = frozenset(("compound_statement", "case_statement", "translation_unit"))
DECIDING = ("if_statement", "switch_statement")
BODIES = ("if_statement", "else_clause", "while_statement", "for_statement", "do_statement")
"""What a statement without braces may be the body of."""
WRAPPERS = frozenset(("labeled_statement", "attributed_statement"))


class Statement(Record):
    """A simple statement, by offsets in the text. `is_lone`: it is the whole body of an `if` or a loop."""

    start: int
    end: int
    is_lone: bool


class Call(Record):
    """A call: the text of what is called and where that ends, and the offsets of its arguments and of its `)`."""

    function: str
    arguments: tuple[tuple[int, int], ...]
    function_end: int = 0
    closing: int = 0


class Statements:
    """The statements of one text; whether that is C++ is told by its path, unless it is said."""

    def __init__(self, source: SourceText, is_cpp: bool | None = None) -> None:
        self.source = source
        self.data = source.text.encode()
        in_cpp = is_cpp_path(source.path) if is_cpp is None else is_cpp
        self.tree = _parser(in_cpp).parse(self.data)
        if is_cpp is None and not in_cpp and not is_c_path(source.path) and self.tree.root_node.has_error:
            self.tree = _parser(True).parse(self.data)  # a header of C++
        self.is_ascii = len(self.data) == len(source.text)

    def at(self, line: int, column: int) -> Statement | None:
        """The innermost statement at the place, if it is simple: nothing else runs between its end and what follows."""
        row = line - 1
        point = (row, max(0, column - 1))
        node: Any = self.tree.root_node.descendant_for_point_range(point, point)
        while node is not None and not _is_statement(node):
            node = node.parent
        if node is None or node.type not in SIMPLE:
            return None
        parent = node.parent
        while parent is not None and parent.type in WRAPPERS:
            node, parent = parent, parent.parent
        if parent is None or parent.type == "translation_unit" or parent.type == "for_statement":
            return None
        return Statement(self._offset(node.start_byte), self._offset(node.end_byte), parent.type not in LISTS)

    def before(self, line: int, column: int) -> Statement | None:
        """The statement that evaluates what is at the place once whenever control comes to it: not a loop.

        A fence before the statement is one before what is evaluated.
        """
        point = (line - 1, max(0, column - 1))
        node: Any = self.tree.root_node.descendant_for_point_range(point, point)
        inner = node
        while node is not None and not _is_statement(node):
            inner, node = node, node.parent
        if node is None or node.type not in (*SIMPLE, "return_statement", *DECIDING):
            return None
        if node.type in DECIDING and node.child_by_field_name("condition") != inner:
            return None
        parent = node.parent
        if parent is None or parent.type not in (*LISTS, *BODIES) or parent.type == "translation_unit":
            return None
        return Statement(self._offset(node.start_byte), self._offset(node.end_byte), parent.type not in LISTS)

    def expression_at(self, line: int, column: int) -> tuple[int, int] | None:
        """The expression that debug information means by a place: what an operator, call or name there belongs to."""
        point = (line - 1, max(0, column - 1))
        node: Any = self.tree.root_node.descendant_for_point_range(point, point)
        if node is None:
            return None
        if not node.is_named:
            node = node.parent
        parent = node.parent
        while parent is not None and _is_named_by(parent, node):
            node, parent = parent, parent.parent
        if node is None or (_is_statement(node) and node.type not in SIMPLE and node.type != "return_statement"):
            return None
        return self._offset(node.start_byte), self._offset(node.end_byte)

    def call_at(self, start: int) -> Call | None:
        """The call that the statement at this offset consists of."""
        line = self.source.line_of(start)
        column = len(self.source.text[self.source.start_of_line(line) : start].encode())
        node: Any = self.tree.root_node.descendant_for_point_range((line - 1, column), (line - 1, column))
        while node is not None and not _is_statement(node):
            node = node.parent
        calls = [child for child in node.named_children if child.type != "comment"] if node is not None else []
        if len(calls) != 1 or calls[0].type != "call_expression":
            return None
        return self._call(calls[0])

    def calls_within(self, start: int, end: int) -> list[Call]:
        """The calls whose text lies between two offsets, outer ones first."""
        first, last = (len(self.source.text[:offset].encode()) for offset in (start, end))
        waiting, found = [self.tree.root_node], list[Call]()
        while waiting:
            node: Any = waiting.pop()
            if node.end_byte <= first or node.start_byte >= last:
                continue
            if node.type == "call_expression" and first <= node.start_byte and node.end_byte <= last:
                found.append(self._call(node))
            waiting += reversed(node.named_children)
        return found

    def _call(self, node: Any) -> Call:
        function, arguments = (node.child_by_field_name(name) for name in ("function", "arguments"))
        places = [(child.start_byte, child.end_byte) for child in arguments.named_children if child.type != "comment"]
        called = self.data[function.start_byte : function.end_byte].decode("utf-8", "replace")
        arguments_at = tuple((self._offset(a), self._offset(b)) for a, b in places)
        return Call(called, arguments_at, self._offset(function.end_byte), self._offset(arguments.end_byte) - 1)

    def _offset(self, byte: int) -> int:
        return byte if self.is_ascii else len(self.data[:byte].decode("utf-8", "replace"))


@lru_cache(64)
def statements_of(source: SourceText, is_cpp: bool | None = None) -> Statements:
    """The statements of the text, found once."""
    return Statements(source, is_cpp)


def _is_named_by(parent: Any, node: Any) -> bool:
    """Whether debug information means `parent` by the place of `node`: `f` of `f(x)`, `n` of `n::f(x)`, `a` of `a[i]`,
    `b` of `a->b`."""
    if parent.type == "field_expression" and parent.child_by_field_name("field") == node:
        return True
    starts = parent.type in ("call_expression", "field_expression", "subscript_expression", "qualified_identifier")
    return bool(starts and parent.start_byte == node.start_byte)


def _is_statement(node: Any) -> bool:
    return node.type.endswith("_statement") or node.type in ("declaration", "for_range_loop", "lambda_expression")


@cache
def _parser(is_cpp: bool) -> Any:
    import tree_sitter

    grammar = import_module("tree_sitter_cpp" if is_cpp else "tree_sitter_c")
    return tree_sitter.Parser(tree_sitter.Language(grammar.language()))
