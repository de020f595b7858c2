"""What was said to a verb, and what is known of the program by now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memfence.records import Record

if TYPE_CHECKING:
    from memfence.program.ir import Program
    from memfence.tasks.options import CheckOptions


class Usage(Record, kw_only=True):
    """What is known when an option is judged; the more is known, the more rules apply.

    `said`: the options that were given, even with their default value, by name. `models`: those that are asked about.
    `files`: those of the program, as they were typed. `several`: they are several programs. `program` and `options`:
    once it is read.
    """

    verb: str
    said: Mapping[str, Any]
    models: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    several: bool = False
    program: Program | None = None
    options: CheckOptions | None = None

    def says(self, name: str) -> bool:
        """Whether the option was given, and with more than its absence."""
        return is_more_than_absence(self.said.get(name))


def is_more_than_absence(value: Any) -> bool:
    """Whether a value says something: 0 does."""
    return value is not None and value is not False and value != ()
