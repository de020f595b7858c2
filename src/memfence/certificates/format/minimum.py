"""Sites and clauses of a minimum set of fences, as JSON objects: the sites first, then a chunk for each clause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memfence.certificates.format.container import NotACertificate
from memfence.certificates.format.header import read_object
from memfence.certificates.format.runs import steps_as_lists, steps_from_lists
from memfence.models.state import Step
from memfence.program.ir import Program
from memfence.records import Record

KINDS = ("mfence", "sfence", "locked")


class Site(Record):
    """Where one edit of the text puts its fences: behind the transitions `places`, (process, number), or locks them.

    `is_chosen`: the program has them, and `places` are these fences themselves.
    """

    kind: str
    places: tuple[tuple[int, int], ...]
    price: int
    is_chosen: bool


class Clause(Record):
    """Numbers of sites, and a run of the program with fences at all others, from initial state number `start`."""

    sites: frozenset[int]
    start: int
    steps: tuple[Step, ...]


def site_as_list(site: Site) -> list[Any]:
    return [site.kind, [list(place) for place in site.places], site.price, site.is_chosen]


def clause_as_object(clause: Clause) -> dict[str, Any]:
    return {"sites": sorted(clause.sites), "start": clause.start, "steps": steps_as_lists(clause.steps)}


def read_minimum(program: Program, contents: Iterator[bytes]) -> tuple[list[Site], Iterator[Clause]]:
    """The sites, and the clauses as they come. NotACertificate where they cannot be read."""
    listed = read_object(next(contents, b"")).get("sites")
    if not isinstance(listed, list):
        raise NotACertificate("the sites are not a list")
    sites = [_site(program, found) for found in listed]
    places = [place for site in sites if site.is_chosen or site.kind == "locked" for place in site.places]
    if len(set(places)) != len(places):
        raise NotACertificate("two sites have the same fence")
    return sites, (_clause(len(sites), read_object(content)) for content in contents)


def _site(program: Program, found: object) -> Site:
    match found:
        case [str(kind), list(places), int(price), bool(is_chosen)] if kind in KINDS and price > 0:
            return Site(kind, tuple(_place(program, place) for place in places), price, is_chosen)
        case _:
            raise NotACertificate("a site cannot be read")


def _place(program: Program, found: object) -> tuple[int, int]:
    match found:
        case [int(p), int(t)] if 0 <= p < len(program.processes) and 0 <= t < len(program.processes[p].transitions):
            return p, t
        case _:
            raise NotACertificate("a site has a place that does not exist")


def _clause(sites: int, found: dict[str, Any]) -> Clause:
    match found:
        case {"sites": list(numbers), "start": int(start), "steps": list(steps)} if start >= 0 and all(
            type(number) is int and 0 <= number < sites for number in numbers
        ):
            return Clause(frozenset(numbers), start, steps_from_lists(steps))
        case _:
            raise NotACertificate("a clause cannot be read")
