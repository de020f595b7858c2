"""What differs between the languages of litmus tests where they otherwise agree: headers, registers, constants."""

from __future__ import annotations

from collections.abc import Callable

from memfence.records import Record


class Dialect(Record):
    """One language of litmus tests.

    `architectures`: the words that a test may begin with. `register_number`: which register a word names, if any;
    `register_name`: how final states call it, given the architecture. `immediate`: the sign before constants.
    `holds_addresses`: a register may be initialised with an address. The others are examples for people.
    """

    architectures: tuple[str, ...]
    register_number: Callable[[str], int | None]
    register_name: Callable[[int, str], str]
    immediate: str
    register_example: str
    register_list: str
    holds_addresses: bool = True
