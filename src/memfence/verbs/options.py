"""The one table of options, and how a row of it is found."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from memfence.verbs.option import Option
from memfence.verbs.table.asking import ASKING
from memfence.verbs.table.clients import CLIENTS
from memfence.verbs.table.fixing import CHOSEN
from memfence.verbs.table.others import OTHERS
from memfence.verbs.table.reading import READ
from memfence.verbs.table.running import RUNNING
from memfence.verbs.table.searching import SEARCHING
from memfence.verbs.table.writing import WRITTEN

OPTIONS: tuple[Option, ...] = (*ASKING, *CLIENTS, *CHOSEN, *RUNNING, *OTHERS, *SEARCHING, *READ, *WRITTEN)


@cache
def _rows() -> dict[tuple[str, str], Option]:
    return {(verb, option.name): option for option in OPTIONS for verb in option.verbs | option.in_python_for}


def option_of(verb: str, name: str) -> Option | None:
    """The option of that name that the verb has, if it has one."""
    return _rows().get((verb, name))


def options_of(verb: str) -> Iterator[Option]:
    """All options of the verb, in the order of the table."""
    return (option for option in OPTIONS if verb in option.verbs)


def by_keyword(verb: str) -> dict[str, Option]:
    """The options of the verb that the Python API has, by their keywords."""
    known = (option for option in OPTIONS if verb in option.verbs | option.in_python_for)
    return {option.in_python: option for option in known if option.in_python}
