"""What counts as failing: one table for every door, `check` under every model and `run` alike.

A row is one way in which a program ends. Most are failures whatever the user says. `abort` and a status other than 0
are failures of C programs in general, but some programs end so on purpose: `--allow abort,exit` makes that a normal
end. The programs of SV-COMP call `abort` where an assumption is false: a program that uses SV-COMP's functions is read
as SV-COMP reads it. docs/guide/c-verdicts.md shows this table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from memfence.records import Record

Allow = Literal["abort", "exit"]
ALLOWED: tuple[Allow, ...] = ("abort", "exit")
"""The words of `--allow`."""

ReadingName = Literal["c", "sv-comp"]

EndKind = Literal[
    "abort", "exit status", "signal", "assertion", "error", "terminate", "exception", "panic", "trap", "unreachable",
    "crash", "misuse",
]  # fmt: skip
"""`crash`: a null pointer, a division by zero and what else C leaves undefined. `misuse`: of a lock or a thread."""


class Ending(Record):
    """One way in which a program ends.

    `names`: the functions, as a linker knows them; `pattern`: the others, as a regular expression. Neither: no function
    is called. `sentence`: `{name}` stands for the function as a programmer writes it, `{status}` for its argument.
    `needs_status`: with a status of 0 it is a normal end of the whole process. `allowed_by`: the word of `--allow` that
    makes it a normal end. `ends_in_svcomp`: in a program of SV-COMP it is a normal end.
    """

    kind: EndKind
    sentence: str
    names: tuple[str, ...] = ()
    pattern: str = ""
    needs_status: bool = False
    allowed_by: Allow | None = None
    ends_in_svcomp: bool = False

    def text(self, name: str = "", status: object = None) -> str:
        """What happens, in a few words: `main returns 1`; where the status is not known, `main returns n, n != 0`."""
        called = name or (self.names[0] if self.names else "")
        unknown = ", n != 0" if self.needs_status and status is None else ""
        return self.sentence.format(name=called, status="n" if status is None else status) + unknown


ABORT = Ending("abort", "abort() is called", ("abort",), allowed_by="abort", ends_in_svcomp=True)
EXIT = Ending(
    "exit status",
    "{name}({status}) is called",
    ("exit", "_exit", "_Exit", "quick_exit"),
    needs_status=True,
    allowed_by="exit",
    ends_in_svcomp=True,
)
RETURN_FROM_MAIN = Ending(
    "exit status", "main returns {status}", needs_status=True, allowed_by="exit", ends_in_svcomp=True
)
SIGNAL = Ending(
    "signal", "{name}({status}) ends the process", ("raise", "kill", "pthread_kill", "tgkill"), allowed_by="abort"
)
"""The status is the signal, by name. Only signals that end the process count; one that is ignored does nothing."""
ASSERTION = Ending(
    "assertion",
    "assertion failed",
    ("__assert_fail", "__assert", "__assert_rtn", "_assert", "_wassert", "_ZSt21__glibcxx_assert_failPKciS0_S0_"),
)
ERROR = Ending("error", "error reached", ("reach_error", "__VERIFIER_error"))
EXCEPTION = Ending("exception", "an exception is not caught", ("__cxa_throw", "__cxa_rethrow"))
LIBRARY_EXCEPTION = Ending("exception", "{name} is thrown and not caught", pattern=r"_ZN?St\w*?__throw_\w+")
TERMINATE = Ending("terminate", "std::terminate() is called", ("_ZSt9terminatev",))
PURE_VIRTUAL = Ending("terminate", "call of a pure virtual function", ("__cxa_pure_virtual", "__cxa_deleted_virtual"))
LIBRARY_ABORT = Ending("terminate", "the C++ library aborts", pattern=r"_ZNSt3__1\w*__libcpp_verbose_abort\w*")
PANIC = Ending(
    "panic",
    "panic",
    ("rust_begin_unwind", "rust_panic"),
    r"_(ZN|R)\w*?(4core9panicking|3std9panicking|4core6(result|option)\w*(unwrap|expect)_failed)\w*",
)
TRAP = Ending("trap", "__builtin_trap() is reached", ("llvm.trap", "llvm.ubsantrap", "llvm.debugtrap"))
UNREACHABLE = Ending("unreachable", "control reaches a place that the code says is never reached")
CRASH = Ending("crash", "undefined behaviour")
MISUSE = Ending("misuse", "a lock or a thread is used as its standard forbids")

TABLE = (
    ABORT, EXIT, RETURN_FROM_MAIN, SIGNAL, ASSERTION, ERROR, EXCEPTION, LIBRARY_EXCEPTION, TERMINATE, PURE_VIRTUAL,
    LIBRARY_ABORT, PANIC, TRAP, UNREACHABLE, CRASH, MISUSE,
)  # fmt: skip

_BY_NAME = {name: ending for ending in TABLE for name in ending.names}
_BY_PATTERN = tuple((re.compile(ending.pattern), ending) for ending in TABLE if ending.pattern)


def ending_of(name: str) -> Ending | None:
    """The row of a function, by the name that a linker knows."""
    found = _BY_NAME.get(name)
    if found is None and name.startswith("_"):
        found = next((ending for pattern, ending in _BY_PATTERN if pattern.fullmatch(name)), None)
    return found


SVCOMP_NAMES = ("reach_error", "assume_abort_if_not")
SVCOMP_PREFIX = "__VERIFIER_"


class Reading(Record):
    """How this program is read. `svcomp_name`: the function by which it says that it is one of SV-COMP."""

    svcomp_name: str = ""
    allowed: tuple[Allow, ...] = ()

    @property
    def name(self) -> ReadingName:
        return "sv-comp" if self.svcomp_name else "c"

    def is_normal(self, ending: Ending) -> bool:
        """Whether a program that ends so just ends."""
        return ending.allowed_by in self.allowed or (ending.ends_in_svcomp and bool(self.svcomp_name))

    def fails(self, ending: Ending, status: int = 1) -> bool:
        """Whether it is a failure, `status` being what `exit` or `main` gives back."""
        return not (ending.needs_status and status == 0) and not self.is_normal(ending)

    @property
    def text(self) -> str:
        """What is read in another way than usual; nothing where all ends of the table are failures."""
        if self.svcomp_name:
            return f"`abort` and `exit` just end a run, as in SV-COMP: the program uses `{self.svcomp_name}`"
        names = {"abort": "`abort`", "exit": "a status other than 0"}
        allowed = " and ".join(names[word] for word in self.allowed)
        are = "is no failure" if len(self.allowed) == 1 else "are no failures"
        return f"{allowed} {are} (--allow)" if allowed else ""


C = Reading()


def reading_of(names: Iterable[str], allowed: tuple[Allow, ...] = ()) -> Reading:
    """How a program is read that defines or calls these functions."""
    said = sorted(name for name in names if name in SVCOMP_NAMES or name.startswith(SVCOMP_PREFIX))
    return Reading(said[0] if said else "", allowed)


def allowed_words(text: str) -> tuple[Allow, ...]:
    """`--allow abort,exit` as a value; ValueError, with a sentence, for any other word."""
    words = [word.strip() for word in text.split(",")]
    wrong = [word for word in words if word not in ALLOWED]
    if wrong:
        raise ValueError(f"`{wrong[0]}` cannot be allowed; it is one of {', '.join(ALLOWED)}")
    return tuple(word for word in ALLOWED if word in words)
