"""Debug information as gcc and clang write it (DWARF 4 and 5): variables with fixed addresses, and the types of all.

Only what names of variables need is kept. What is not understood ends the reading: names are then less exact.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from memfence.records import Record

VARIABLE, MEMBER, INHERITANCE, SUBPROGRAM = 0x34, 0x0D, 0x1C, 0x2E
CLASS, STRUCTURE, UNION, ARRAY, SUBRANGE = 0x02, 0x13, 0x17, 0x01, 0x21
NAME, SIZE, COUNT, UPPER, LOCATION, OFFSET, TYPE = 0x03, 0x0B, 0x37, 0x2F, 0x02, 0x38, 0x49
ORIGIN, SPECIFICATION = 0x31, 0x47
KEPT = frozenset((NAME, SIZE, COUNT, UPPER, LOCATION, OFFSET, TYPE, ORIGIN, SPECIFICATION))
AT_ADDRESS = 0x03
IMPLICIT = 0x21
FIXED = {0x01: 8, 0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x17: 4, 0x20: 8,
         0x0E: 4, 0x1F: 4, 0x1E: 16}  # fmt: skip
"""Bytes of the forms that have always as many, in 32-bit DWARF on machines of 64 bits."""


class Entry(Record):
    """One entry with its own. `place`: in the section; `values`: by attribute."""

    place: int
    tag: int
    values: dict[int, Any]
    inner: tuple[Entry, ...] = ()


class Unreadable(Exception):
    """A form or a version that is not known here."""


class Sections(Record):
    """Of an ELF file: what debug information is spread over."""

    info: bytes
    abbreviations: bytes
    strings: bytes
    line_strings: bytes


def entries(program: Path) -> dict[int, Entry]:
    """All entries by their places. Empty where there are none that can be read."""
    try:
        sections = _sections(program.read_bytes())
        return {entry.place: entry for entry in _Reader(sections).all()}
    except (Unreadable, struct.error, IndexError, ValueError, OSError):
        return {}


def _sections(content: bytes) -> Sections:
    if content[:6] != b"\x7fELF\x02\x01":
        raise Unreadable
    (table,) = struct.unpack_from("<Q", content, 40)
    size, count, names = struct.unpack_from("<HHH", content, 58)
    headers = [struct.unpack_from("<IIQQQQ", content, table + i * size) for i in range(count)]
    named = {_text(content, headers[names][4] + header[0]): header for header in headers}

    def part(name: str) -> bytes:
        header = named.get(name)
        if header is None:
            return b""
        if header[2] & 0x800:  # compressed
            raise Unreadable
        return content[header[4] : header[4] + header[5]]

    return Sections(part(".debug_info"), part(".debug_abbrev"), part(".debug_str"), part(".debug_line_str"))


def _text(content: bytes, place: int) -> str:
    return content[place : content.index(0, place)].decode(errors="replace")


def unsigned(content: bytes, place: int) -> tuple[int, int]:
    """A number in LEB128, and the place behind it."""
    value = shift = 0
    while True:
        byte = content[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def signed(content: bytes, place: int) -> tuple[int, int]:
    """The same, with a sign."""
    begin = place
    value, place = unsigned(content, place)
    bits = 7 * (place - begin)
    return (value - (1 << bits) if value >> (bits - 1) else value), place


Specification = tuple[tuple[int, int, int], ...]


class _Reader:
    def __init__(self, sections: Sections) -> None:
        self._sections = sections
        self._info = sections.info
        self._start = 0
        self._known: dict[int, dict[int, tuple[int, bool, Specification]]] = {}

    def all(self) -> Iterator[Entry]:
        place = 0
        while place < len(self._info):
            length, version = struct.unpack_from("<IH", self._info, place)
            if length >= 0xFFFFFFF0 or version not in (4, 5):
                raise Unreadable
            self._start = place
            if version == 5:
                (abbreviations,) = struct.unpack_from("<I", self._info, place + 8)
                first = place + 12
            else:
                (abbreviations,) = struct.unpack_from("<I", self._info, place + 6)
                first = place + 11
            yield from self._unit(first, place + 4 + length, self._table(abbreviations))
            place += 4 + length

    def _table(self, start: int) -> dict[int, tuple[int, bool, Specification]]:
        if start in self._known:
            return self._known[start]
        content, place = self._sections.abbreviations, start
        table: dict[int, tuple[int, bool, Specification]] = {}
        while True:
            code, place = unsigned(content, place)
            if code == 0:
                break
            tag, place = unsigned(content, place)
            has_inner = content[place] != 0
            place += 1
            wanted = []
            while True:
                attribute, place = unsigned(content, place)
                form, place = unsigned(content, place)
                constant = 0
                if form == IMPLICIT:
                    constant, place = signed(content, place)
                if attribute == form == 0:
                    break
                wanted.append((attribute, form, constant))
            table[code] = tag, has_inner, tuple(wanted)
        self._known[start] = table
        return table

    def _unit(self, place: int, end: int, table: dict[int, tuple[int, bool, Specification]]) -> Iterator[Entry]:
        open_entries: list[tuple[int, int, dict[int, Any], list[Entry]]] = []
        while place < end:
            here = place
            code, place = unsigned(self._info, place)
            if code == 0:
                if open_entries:
                    begun, tag, values, inner = open_entries.pop()
                    made = Entry(begun, tag, values, tuple(inner))
                    yield made
                    if open_entries:
                        open_entries[-1][3].append(made)
                continue
            tag, has_inner, wanted = table[code]
            values, place = self._values(wanted, place)
            if has_inner:
                open_entries.append((here, tag, values, []))
                continue
            made = Entry(here, tag, values)
            yield made
            if open_entries:
                open_entries[-1][3].append(made)

    def _values(self, wanted: Specification, place: int) -> tuple[dict[int, Any], int]:
        values: dict[int, Any] = {}
        for attribute, form, constant in wanted:
            value, place = self._value(form, constant, place)
            if attribute in KEPT:
                values[attribute] = value
        return values, place

    def _value(self, form: int, constant: int, place: int) -> tuple[Any, int]:
        info = self._info
        if size := FIXED.get(form):
            value: Any = int.from_bytes(info[place : place + size], "little")
            if form in (0x11, 0x12, 0x13, 0x14):
                value += self._start
            elif form == 0x0E:
                value = _text(self._sections.strings, value)
            elif form == 0x1F:
                value = _text(self._sections.line_strings, value)
            return value, place + size
        if form in (0x18, 0x09):  # exprloc, block
            length, place = unsigned(info, place)
            return info[place : place + length], place + length
        if form in OTHERS:
            return OTHERS[form](info, place)
        if form == 0x19:
            return True, place
        if form == IMPLICIT:
            return constant, place
        if form == 0x0A:  # block1
            return info[place + 1 : place + 1 + info[place]], place + 1 + info[place]
        raise Unreadable


def _string(content: bytes, place: int) -> tuple[str, int]:
    end = content.index(0, place)
    return content[place:end].decode(errors="replace"), end + 1


OTHERS: dict[int, Callable[[bytes, int], tuple[Any, int]]] = {0x08: _string, 0x0D: signed, 0x0F: unsigned}
