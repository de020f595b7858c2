"""Debug information: places in the source, names of variables, and what lies at an offset of a type."""

from __future__ import annotations

import os
import re
from functools import cached_property

from memfence.frontends.c.llvm.escapes import text_of
from memfence.records import Record

NODE = re.compile(r"^(?:distinct )?!(DI\w+)\((.*)\)\s*$")
FIELD = re.compile(r'(\w+): ("(?:[^"\\]|\\.)*"|!\{[^}]*\}|!?[-\w.|]+(?:\s*\|\s*\w+)*)')
TUPLE = re.compile(r"^(?:distinct )?!\{(.*)\}\s*$")
BITS = 8
TRANSPARENT = frozenset(
    ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_atomic_type", "DW_TAG_restrict_type")
)
RECORDS = frozenset(("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type"))


class Place(Record):
    """A place in a source file; lines and columns from 1, column 0 where only the line is known."""

    path: str
    line: int
    column: int


class Variable(Record):
    """A variable of the source and the metadata number of its type. `in_block`: it is local to an inner block."""

    name: str
    type: int
    place: Place | None
    in_block: bool = False


class DebugInfo:
    """The metadata of one module, read node by node as needed."""

    def __init__(self, metadata: dict[int, str]) -> None:
        self.texts = metadata
        self._nodes: dict[int, dict[str, str]] = {}
        self._places: dict[int, Place | None] = {}

    def node(self, number: int) -> dict[str, str]:
        """The fields of a node, its kind under `""`; empty for what is no `!DI...`."""
        found = self._nodes.get(number)
        if found is None:
            match = NODE.match(self.texts.get(number, ""))
            found = {} if match is None else {"": match[1], **dict(FIELD.findall(match[2]))}
            self._nodes[number] = found
        return found

    def place(self, number: int) -> Place | None:
        """The place of a `!dbg` attachment, where it has a line."""
        found = self._places.get(number)
        if found is None and number not in self._places:
            node = self.node(number)
            line = int(node.get("line", "0"))
            path = self._file_of(_reference(node.get("scope", "")))
            found = self._places[number] = Place(path, line, int(node.get("column", "0"))) if line and path else None
        return found

    def function(self, number: int) -> Variable | None:
        node = self.node(number)
        return self._variable(node) if node.get("") == "DISubprogram" else None

    def variable(self, number: int) -> Variable | None:
        """The variable of a `!dbg` attachment of a global, or of a declared local."""
        node = self.node(number)
        if node.get("") == "DIGlobalVariableExpression":
            node = self.node(_reference(node.get("var", "")))
        return self._variable(node) if node.get("name") else None

    def _variable(self, node: dict[str, str]) -> Variable:
        path = self._file_of(_reference(node.get("file", "")))
        line = int(node.get("line", "0"))
        place = Place(path, line, 0) if path and line else None
        in_block = self.node(_reference(node.get("scope", ""))).get("", "") == "DILexicalBlock"
        return Variable(_unquoted(node.get("name", "")), _reference(node.get("type", "")), place, in_block)

    def _file_of(self, number: int) -> str:
        for _ in range(100):
            node = self.node(number)
            if node.get("") == "DIFile":
                name, folder = _unquoted(node.get("filename", "")), _unquoted(node.get("directory", ""))
                return os.path.normpath(f"{folder}/{name}" if folder and not name.startswith("/") else name)
            number = _reference(node.get("file", "") or node.get("scope", ""))
            if not number:
                return ""
        return ""

    @cached_property
    def _tuples(self) -> dict[int, list[int]]:
        return {}

    def _elements(self, number: int) -> list[int]:
        if number not in self._tuples:
            match = TUPLE.match(self.texts.get(number, ""))
            parts = match[1].split(",") if match else []
            self._tuples[number] = [_reference(part.strip()) for part in parts]
        return self._tuples[number]

    def path_to(self, type: int, offset: int) -> str:
        """How C writes the part of a value of `type` at `offset` bytes: `.next`, `[3].seq`; empty for the whole."""
        node = self.node(type)
        tag = node.get("tag", "")
        if tag in TRANSPARENT:
            return self.path_to(_reference(node.get("baseType", "")), offset)
        if tag == "DW_TAG_array_type":
            return self._element_path(node, offset)
        if tag in ("DW_TAG_structure_type", "DW_TAG_class_type"):
            return self._member_path(node, offset)
        if tag == "DW_TAG_union_type":
            return self._union_path(node, offset)
        return f"+{offset}" if offset else ""

    def size_of(self, type: int) -> int:
        """Bytes of a value of the type; 0 where unknown."""
        node = self.node(type)
        if "size" in node:
            return int(node["size"]) // BITS
        return self.size_of(_reference(node["baseType"])) if "baseType" in node else 0

    def title(self, type: int) -> str:
        """The name of a struct, union or class, or what it was renamed to; empty for numbers, pointers and the like."""
        node = self.node(type)
        tag, name = node.get("tag", ""), _unquoted(node.get("name", ""))
        if tag in RECORDS:
            return name.partition("<")[0]
        if tag not in TRANSPARENT:
            return ""
        below = _reference(node.get("baseType", ""))
        is_record = self.node(self._bare(below)).get("tag", "") in RECORDS
        return (name if name and is_record else "") or self.title(below)

    def _bare(self, type: int) -> int:
        """The type without new names and qualifiers."""
        while self.node(type).get("tag", "") in TRANSPARENT:
            type = _reference(self.node(type).get("baseType", ""))
        return type

    def scope(self, number: int) -> int:
        """The class that a method belongs to; 0 where there is none."""
        node = self.node(number)
        found = _reference(node.get("scope", ""))
        return found if self.node(found).get("tag", "") in RECORDS else 0

    def pointee(self, type: int) -> int:
        """The type that a value of pointer type points to; 0 for none."""
        node = self.node(type)
        tag = node.get("tag", "")
        if tag in TRANSPARENT:
            return self.pointee(_reference(node.get("baseType", "")))
        return _reference(node.get("baseType", "")) if tag == "DW_TAG_pointer_type" else 0

    def _element_path(self, node: dict[str, str], offset: int) -> str:
        element = _reference(node.get("baseType", ""))
        size = self.size_of(element)
        if not size:
            return f"+{offset}"
        counts = [self._count(n) for n in self._elements(_reference(node.get("elements", "")))]
        index, rest = divmod(offset, size)
        path = ""
        for count in reversed(counts[1:]):
            index, inner = divmod(index, max(count, 1))
            path = f"[{inner}]" + path
        return f"[{index}]{path}{self.path_to(element, rest)}"

    def _count(self, number: int) -> int:
        """Elements of one dimension; 1 where the length is computed."""
        count = self.node(number).get("count", "1")
        return int(count) if count.lstrip("-").isdigit() else 1

    def _member_path(self, node: dict[str, str], offset: int) -> str:
        best: tuple[int, dict[str, str]] | None = None
        for number in self._elements(_reference(node.get("elements", ""))):
            member = self.node(number)
            if member.get("tag") not in ("DW_TAG_member", "DW_TAG_inheritance") or "StaticMember" in member.get(
                "flags", ""
            ):
                continue
            start = int(member.get("offset", "0")) // BITS
            if start <= offset and (best is None or start > best[0]):
                best = (start, member)
        if best is None:
            return f"+{offset}" if offset else ""
        start, member = best
        name = _unquoted(member.get("name", ""))
        inner = self.path_to(_reference(member.get("baseType", "")), offset - start)
        return f".{name}{inner}" if name else inner

    def _union_path(self, node: dict[str, str], offset: int) -> str:
        members = self._elements(_reference(node.get("elements", "")))
        if not members:
            return ""
        member = self.node(members[0])
        name = _unquoted(member.get("name", ""))
        inner = self.path_to(_reference(member.get("baseType", "")), offset)
        return f".{name}{inner}" if name else inner


def _reference(text: str) -> int:
    return int(text[1:]) if text[:1] == "!" and text[1:].isdigit() else 0


def _unquoted(text: str) -> str:
    return text_of(text[1:-1]) if text[:1] == '"' else text
