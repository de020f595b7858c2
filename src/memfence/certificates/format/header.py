"""The header: which tool made the certificate, about which program, and what it claims."""

from __future__ import annotations

import json
from dataclasses import field, fields
from typing import Any

from memfence.certificates.format.container import NotACertificate
from memfence.program.load_options import COptions, LoadOptions
from memfence.records import Record

LONGEST_HEADER = 1 << 20
NEWER = ("reaches_no_bound",)
RANGES = {"int_bits": 31, "bound": 65_535, "fences": 1_000_000_000, "price": 1_000_000_000_000_000_000}
"""The largest number that each field may be, whoever wrote it; the least is 1."""
MOST_OF_C = 1_000_000_000
FOR_C = ("macros", "std", "entry", "as_compiled", "threads_bound", "heap_bound", "recursion_bound", "overflow",
         "deadlock", "allow")  # fmt: skip
"""How C was read, but for paths: a certificate from elsewhere never says which program to run or which file to open."""


class Claim(Record, kw_only=True):
    """What is said to hold. Without `forbid`, `invariant`, `final`, `ltl` and `deadlock`: what the program states.

    `bound`: with at most so many pending stores in a buffer; None: with any number. `per_variable`: of each variable.
    `any_number`: however many instances of these templates there are. `fences`: and so many of its fences are a
    minimum; with `price`, of cost, else of number. `reaches_no_bound`: no run is cut off where reading the program ends
    it: the bounds on recursion, heap and threads leave nothing out.
    """

    model: str
    criterion: str = "safety"
    bound: int | None = None
    per_variable: bool = False
    forbid: tuple[str, ...] = ()
    invariant: tuple[str, ...] = ()
    final: tuple[str, ...] = ()
    deadlock: bool = False
    ltl: str | None = None
    define: tuple[tuple[str, str], ...] = ()
    fair: bool = False
    any_number: tuple[str, ...] = ()
    fences: int | None = None
    price: int | None = None
    reaches_no_bound: bool = False


class Reading(Record, kw_only=True):
    """How the program's text was read."""

    language: str | None = None
    int_bits: int | None = None
    split_reads: bool = False
    c: dict[str, Any] = field(default_factory=dict)


class Header(Record, kw_only=True):
    """`digest`: of the canonical text of the program."""

    tool: str
    program: str
    digest: str
    reading: Reading
    claim: Claim


def header_bytes(header: Header) -> bytes:
    return json.dumps(header, default=_fields, sort_keys=True).encode()


def _fields(part: Header | Reading | Claim) -> dict[str, Any]:
    """All but what older readers do not know, where it says nothing."""
    found = {one.name: getattr(part, one.name) for one in fields(part)}
    return {name: value for name, value in found.items() if value or name not in NEWER}


def read_header(content: bytes) -> Header:
    """The header; NotACertificate where it is not one."""
    if len(content) > LONGEST_HEADER:
        raise NotACertificate("the header is too long")
    found = read_object(content)
    reading, claim = _part(Reading, found.pop("reading", None)), _part(Claim, found.pop("claim", None))
    return Header(**_checked(Header, found, {"reading": reading, "claim": claim}))


def read_object(content: bytes) -> dict[str, Any]:
    """A JSON object; NotACertificate where there is none."""
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise NotACertificate("a chunk is not JSON") from None
    if not isinstance(found, dict):
        raise NotACertificate("a chunk is not a JSON object")
    return found


def reading_of(options: LoadOptions) -> Reading:
    """What of `options` the header repeats."""
    usual = COptions()
    chosen = {name: value for name in FOR_C if (value := getattr(options.c, name)) != getattr(usual, name)}
    return Reading(language=options.language, int_bits=options.int_bits, split_reads=options.split_reads, c=chosen)


def options_of(reading: Reading, **paths: Any) -> LoadOptions:
    """How to read the program again. `paths`: what only the reader's own command line may say about C."""
    said: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in reading.c.items()
    }
    if not all(name in FOR_C and _is_like(getattr(COptions(), name), value) for name, value in said.items()):
        raise NotACertificate("the header says how to read C in a way that is not known here")
    options = COptions(**(said | paths))
    return LoadOptions(language=reading.language, int_bits=reading.int_bits, split_reads=reading.split_reads, c=options)


def _is_like(usual: object, value: object) -> bool:
    """Whether the value is of the kind of an option's usual value."""
    if isinstance(usual, tuple):
        return isinstance(value, tuple) and all(isinstance(one, str) for one in value)
    if type(usual) is int:
        return type(value) is int and 0 < value <= MOST_OF_C
    return isinstance(value, str) if usual is None else type(value) is type(usual)


def _part(kind: type[Any], found: object) -> Any:
    if not isinstance(found, dict):
        raise NotACertificate("a part of the header is missing")
    return kind(**_checked(kind, found, {}))


def _checked(kind: type[Any], found: dict[str, Any], known: dict[str, Any]) -> dict[str, Any]:
    """The values of all fields, each of the right type."""
    values = {name: _frozen(value) for name, value in found.items()} | known
    for one in fields(kind):
        if one.name in values and not _fits(str(one.type), values[one.name], RANGES.get(one.name, 0)):
            raise NotACertificate(f"`{one.name}` of the header is not what it should be")
    try:
        kind(**values)
    except TypeError:
        raise NotACertificate("the header has other fields than it should") from None
    return values


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _fits(kind: str, value: object, most: int) -> bool:
    """Whether the value is of the kind; numbers are from 1 to `most`."""
    match kind:
        case "str":
            return isinstance(value, str)
        case "bool":
            return isinstance(value, bool)
        case "str | None":
            return value is None or isinstance(value, str)
        case "int | None":
            return value is None or (isinstance(value, int) and not isinstance(value, bool) and 0 < value <= most)
        case "tuple[str, ...]":
            return isinstance(value, tuple) and all(isinstance(one, str) for one in value)
        case "tuple[tuple[str, str], ...]":
            return isinstance(value, tuple) and all(
                isinstance(one, tuple) and len(one) == 2 and all(isinstance(part, str) for part in one) for one in value
            )
        case "dict[str, Any]":
            return isinstance(value, dict) and all(isinstance(one, str) for one in value)
        case _:
            return not isinstance(value, dict)
