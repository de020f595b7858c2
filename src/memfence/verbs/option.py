"""One option: how it is written, which values it takes, and where it means something."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TYPE_CHECKING, Any

from memfence.records import Record

if TYPE_CHECKING:
    from memfence.verbs.usage import Usage

MOST = 1_000_000_000
"""More than any number that makes sense, and less than the core can count to."""

Rule = Callable[["Usage", Any], str | None]
"""Why a value of an option is refused, given what else is said and known; None: it is not, as far as is known."""


class Group(Enum):
    """Where help lists an option; the everyday ones come first."""

    EVERYDAY = "Options"
    ASKED = "What must hold"
    READING = "How the program is read"
    COMPILING = "C and C++"
    SEARCHING = "How it is searched"
    FIXING = "How fences are chosen"
    WRITTEN = "What is written"


class Unit(Enum):
    """What a number counts: it may be typed with a unit, `5m`, `4G`."""

    SECONDS = "seconds"
    MEGABYTES = "megabytes"


class Option(Record, kw_only=True):
    """One option of some `verbs`; in Python of some more.

    `flags`: how it is typed; without them, `--name`. `keyword`: its name in the Python API, "" where only the command
    line has it. `kind` is the type of a value, `repeats` whether there may be several. Numbers are from `least` to
    `most`, and count `unit`s; words are one of `choices`. `completed`: what a shell proposes, the name of a function in
    `cli.completion`.
    `languages`: those in which it means something, and `in_those` says what it is about. `goes_with`: the option
    changes what the verb does, and these are all that go with it, because `alone`. `one_program`: it is not for several
    programs in one command. `rules` have the rest. `never`: it is known, hidden and always refused, with this reason.
    """

    name: str
    verbs: frozenset[str]
    in_python_for: frozenset[str] = frozenset()
    group: Group
    help: str = ""
    kind: type = str
    repeats: bool = False
    is_argument: bool = False
    flags: tuple[str, ...] = ()
    keyword: str | None = None
    metavar: str | None = None
    default: Any = None
    shows_default: bool = True
    unit: Unit | None = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    completed: str = ""
    languages: frozenset[str] = frozenset()
    goes_with: frozenset[str] | None = None
    alone: str = ""
    one_program: bool = False
    rules: tuple[Rule, ...] = ()
    never: str = ""

    @property
    def in_python(self) -> str:
        """The keyword of the API; "" where there is none."""
        return self.name if self.keyword is None else self.keyword

    @property
    def typed(self) -> str:
        """How it is typed: the name that refusals use."""
        return (self.metavar or self.name) if self.is_argument else self.flag

    @property
    def flag(self) -> str:
        """The first long way to type it, else the only one."""
        long = (flag for flag in self.flags if flag.startswith("--"))
        return next(long, self.flags[0] if self.flags else f"--{self.name.replace('_', '-')}").partition("/")[0]
