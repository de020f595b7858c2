"""Orders in which the calls of a client can be made one after the other, and what each gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from math import factorial, prod

from memfence.clients.specification import Client, Specification
from memfence.records import Record

Outcome = tuple[int, ...]
"""The values of the results, in the order of their names."""

MOST_ORDERS = 6_000
"""More orders of one client than are compared: 3 threads with 3 calls have 1,680, 7 threads with one have 5,040."""


class Turn(Record):
    """The next call of a thread, counted from 1; `fails`: an operation that may fail does so."""

    thread: int
    fails: bool = False


class Order(Record):
    """One order. `outcome`: what it gives; None: a call in it does not return, or the program ends there.

    `made`: so many calls come to an end then; `is_stuck`: the next one waits for what no other call does before it.
    """

    turns: tuple[Turn, ...]
    outcome: Outcome | None = None
    made: int = 0
    is_stuck: bool = False

    def calls_before(self, thread: int, call: int, other: int) -> int:
        """How many calls the other thread makes before this one, counted from 1."""
        made = dict.fromkeys((turn.thread for turn in self.turns), 0)
        for turn in self.turns:
            made[turn.thread] += 1
            if turn.thread == thread and made[thread] == call:
                break
        return made[other]


def orders_of(specification: Specification, client: Client) -> Iterator[tuple[Turn, ...]]:
    """Every order that respects that of each thread, with every choice of failures."""
    for threads in _interleavings(tuple(len(calls) for calls in client.threads)):
        yield from product(*_turns(specification, client, threads))


def count_orders(specification: Specification, client: Client) -> int:
    """How many orders `orders_of` gives."""
    lengths = [len(calls) for calls in client.threads]
    failing = sum(
        specification.operations[call.operation].fails_as is not None for calls in client.threads for call in calls
    )
    return int(factorial(sum(lengths)) // prod(map(factorial, lengths)) * 2**failing)


def _interleavings(left: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    if not any(left):
        yield ()
    for thread, count in enumerate(left):
        if count:
            rest = (*left[:thread], count - 1, *left[thread + 1 :])
            yield from ((thread + 1, *after) for after in _interleavings(rest))


def _turns(specification: Specification, client: Client, threads: Sequence[int]) -> Iterator[tuple[Turn, ...]]:
    made = dict.fromkeys(threads, 0)
    for thread in threads:
        call = client.threads[thread - 1][made[thread]]
        made[thread] += 1
        may_fail = specification.operations[call.operation].fails_as is not None
        yield (Turn(thread), Turn(thread, fails=True)) if may_fail else (Turn(thread),)


def may_be_stuck(client: Client, orders: Iterable[Order]) -> bool:
    """Whether calls that are made one after the other may end where no thread's next call can return.

    A call that would wait is not made then: another thread goes on.
    """
    blocked: dict[tuple[Turn, ...], set[int]] = {}
    for order in orders:
        if order.is_stuck:
            blocked.setdefault(order.turns[: order.made], set()).add(order.turns[order.made].thread)
    return any(_left(client, made) <= threads for made, threads in blocked.items())


def _left(client: Client, made: Sequence[Turn]) -> set[int]:
    """The threads that have calls to make."""
    done = Counter(turn.thread for turn in made)
    return {thread for thread, calls in enumerate(client.threads, 1) if len(calls) > done[thread]}


def in_any_order(client: Client) -> Client:
    """The client whose calls have a thread each: nothing orders them."""
    return Client(tuple((call,) for thread in client.threads for call in thread))
