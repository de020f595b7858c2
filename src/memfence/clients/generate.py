"""The clients of an object, smallest first: threads with calls, each client once up to the order of its threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement, product
from math import comb

from memfence.clients.specification import Call, Client, Share, Specification
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, InputError, Label

USUAL = (Share("", 2, 2),)
"""Two threads with two calls each, where nothing else is said."""
MOST = 200_000
"""More clients than could be looked at."""

Sequences = dict[str, list[tuple[Call, ...]]]


def clients_of(specification: Specification) -> tuple[Client, ...]:
    """Every client of the shapes that were asked for. A client of one thread is none: nothing is concurrent in it.

    InputError where there are more than could ever be looked at.
    """
    found: dict[Client, None] = {}
    for shares in specification.shapes or (USUAL,):
        _require_few(specification, shares)
        found.update(dict.fromkeys(_of_shape(specification, shares)))
    return tuple(sorted(found, key=lambda client: (client.calls, len(client.threads), _key(client))))


def _key(client: Client) -> list[list[tuple[int, tuple[int, ...]]]]:
    return [[(call.operation, call.arguments) for call in thread] for thread in client.threads]


def _of_shape(specification: Specification, shares: tuple[Share, ...]) -> Iterator[Client]:
    for roles in _casts(specification, shares):
        groups = [
            combinations_with_replacement(_sequences(specification, role, calls), threads)
            for role, threads, calls in roles
        ]
        for chosen in product(*groups):
            threads = tuple(thread for group in chosen for thread in group)
            yield _numbered(specification, Client(threads))


def _casts(specification: Specification, shares: tuple[Share, ...]) -> Iterator[tuple[tuple[str, int, int], ...]]:
    """How many threads of each role take part, and how many calls each of them makes at most."""
    limits = dict(specification.at_most)
    named = {share.role: share for share in shares if share.role}
    anybody = next((share for share in shares if not share.role), None)
    most: list[tuple[str, int, int]] = []
    for role in specification.roles:
        share = named.get(role, anybody)
        if share is not None:
            most.append((role, min(share.threads, limits.get(role, share.threads)), share.calls))
    at_most = max(sum(n for role, n, _ in most if role in named), 0) + (anybody.threads if anybody else 0)
    for numbers in product(*(range(n + 1) for _, n, _ in most)):
        if 2 <= sum(numbers) <= at_most:
            yield tuple((role, n, calls) for n, (role, _, calls) in zip(numbers, most, strict=True) if n)


def _sequences(specification: Specification, role: str, most: int) -> list[tuple[Call, ...]]:
    """Every sequence of up to so many calls of the role."""
    single = [
        Call(number, arguments)
        for number, operation in enumerate(specification.operations)
        if operation.role == role
        for arguments in product(*(one.values or (0,) for one in operation.parameters))
    ]
    return [calls for length in range(1, most + 1) for calls in product(single, repeat=length)]


def _numbered(specification: Specification, client: Client) -> Client:
    """Arguments that are unique get their numbers, in the order of the calls."""
    if not any(one.is_unique for operation in specification.operations for one in operation.parameters):
        return client
    last = 0

    def numbered(call: Call) -> Call:
        nonlocal last
        arguments = list(call.arguments)
        for place, parameter in enumerate(specification.operations[call.operation].parameters):
            if parameter.is_unique:
                last += 1
                arguments[place] = last
        return Call(call.operation, tuple(arguments))

    return Client(tuple(tuple(map(numbered, thread)) for thread in client.threads))


def _require_few(specification: Specification, shares: Iterable[Share]) -> None:
    shares = tuple(shares)
    count = 0
    for roles in _casts(specification, shares):
        ways = 1
        for role, threads, calls in roles:
            ways *= comb(_count(specification, role, calls) + threads - 1, threads)
        count += ways
    if count > MOST:
        message = f"the object has {count:,} clients of this shape"
        hint = "try fewer values (`v: unique` tries one), or fewer threads and calls: clients 2 x 2"
        at = Label(specification.operations[0].span)
        raise InputError([Diagnostic(Code.BAD_OBJECT, message, at, hint=hint)])


def _count(specification: Specification, role: str, most: int) -> int:
    single = 0
    for operation in specification.operations:
        if operation.role == role:
            ways = 1
            for parameter in operation.parameters:
                ways *= len(parameter.values) or 1
            single += ways
    return sum(single**length for length in range(1, most + 1))
