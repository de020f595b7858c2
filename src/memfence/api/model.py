"""Programs written in Python: shared variables, processes, loops, without a file.

    model = Model("store buffering")
    x, y = model.shared("x", "y")
    with model.process("P") as process:
        seen = process.local("seen")
        process.store(x, 1)
        process.load(seen, y)

What is built is a Promela text, one statement a line: runs are shown in it, and `fix` writes its fences into it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Unpack, overload

from memfence.source import SourceText

if TYPE_CHECKING:
    from memfence.api.typed import CheckKeywords, FixKeywords
    from memfence.synthesis.atomic_writes import AtomicFix
    from memfence.synthesis.result import FixResult
    from memfence.tasks.result import CheckResult


class Value:
    """A part of an expression: C's operators, `&` and `|` and `~` for and, or and not."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<Value {self.text}>"

    def __bool__(self) -> bool:
        raise TypeError(f"`{self.text}` has a value only while the program runs: use `if_` or `while_` of a process")

    def __add__(self, other: Term) -> Value:
        return _joined(self, "+", other)

    def __sub__(self, other: Term) -> Value:
        return _joined(self, "-", other)

    def __mul__(self, other: Term) -> Value:
        return _joined(self, "*", other)

    def __mod__(self, other: Term) -> Value:
        return _joined(self, "%", other)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return _joined(self, "==", other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return _joined(self, "!=", other)

    def __lt__(self, other: Term) -> Value:
        return _joined(self, "<", other)

    def __le__(self, other: Term) -> Value:
        return _joined(self, "<=", other)

    def __gt__(self, other: Term) -> Value:
        return _joined(self, ">", other)

    def __ge__(self, other: Term) -> Value:
        return _joined(self, ">=", other)

    def __and__(self, other: Term) -> Value:
        return _joined(self, "&&", other)

    def __or__(self, other: Term) -> Value:
        return _joined(self, "||", other)

    def __invert__(self) -> Value:
        return Value(f"!({self.text})")


Term = Value | int | bool
"""What stands in an expression."""


class Array:
    """Several shared variables: `flag[0]`, `flag[index]`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getitem__(self, index: Term) -> Value:
        return Value(f"{self.name}[{_text(index)}]")


class Model:
    """A program that is written step by step; every verb of memfence takes it."""

    def __init__(self, name: str = "model") -> None:
        self.name = name
        self._declared: dict[str, str] = {}
        self._processes: list[Process] = []
        self._properties: dict[str, list[str]] = {"forbid": [], "invariant": [], "final": []}

    @overload
    def shared(self, name: str, /, *, initial: int = 0, type: str = "short") -> Value: ...
    @overload
    def shared(self, name: str, /, *more: str, initial: int = 0, type: str = "short") -> tuple[Value, ...]: ...
    def shared(self, *names: str, initial: int = 0, type: str = "short") -> Value | tuple[Value, ...]:
        """Declare shared variables of the Promela type `type`: one, or a tuple of several."""
        for name in names:
            self._declare(name, f"{type} {name} = {initial};")
        return _one_or_all(names)

    def array(self, name: str, size: int, *, initial: int = 0, type: str = "short") -> Array:
        """Declare `size` shared variables that are chosen by an index."""
        self._declare(name, f"{type} {name}[{size}] = {initial};")
        return Array(name)

    def _declare(self, name: str, line: str) -> None:
        require_name(name)
        if name in self._declared:
            raise ValueError(f"`{name}` is declared twice")
        self._declared[name] = line

    @contextmanager
    def process(self, name: str, *, copies: int = 1) -> Iterator[Process]:
        """The statements inside are those of the process; `copies` of it run, called `name[0]`, `name[1]`, ..."""
        require_name(name)
        process = Process(name, copies)
        yield process
        self._processes.append(process)

    def forbid(self, condition: str | Value) -> None:
        """No reachable state satisfies this."""
        self._properties["forbid"].append(str(condition))

    def invariant(self, condition: str | Value) -> None:
        """Every reachable state satisfies this."""
        self._properties["invariant"].append(str(condition))

    def final(self, condition: str | Value) -> None:
        """Every final state satisfies this: all processes ended, nothing pending."""
        self._properties["final"].append(str(condition))

    @property
    def text(self) -> str:
        """The program in Promela."""
        parts = ["\n".join(self._declared.values()), *(process.text for process in self._processes)]
        return "\n\n".join(part for part in parts if part) + "\n"

    @property
    def source(self) -> SourceText:
        return SourceText(f"{self.name}.pml", self.text)

    @property
    def properties(self) -> dict[str, tuple[str, ...]]:
        """What was stated, as keywords of the verbs."""
        return {name: tuple(texts) for name, texts in self._properties.items() if texts}

    def check(self, **keywords: Unpack[CheckKeywords]) -> CheckResult:
        """`memfence.check` of this program."""
        from memfence.api.check import check

        return check(self, **keywords)

    def fix(self, **keywords: Unpack[FixKeywords]) -> FixResult | AtomicFix:
        """`memfence.fix` of this program."""
        from memfence.api.fix import fix

        return fix(self, **keywords)


class Process:
    """One process of a model, statement by statement."""

    def __init__(self, name: str, copies: int) -> None:
        self.name, self.copies = name, copies
        self._locals: list[str] = []
        self._lines: list[str] = []
        self._depth = 1

    @property
    def text(self) -> str:
        copies = "" if self.copies == 1 else f"[{self.copies}] "
        body = self._lines or ["    skip"]
        return "\n".join([f"active {copies}proctype {self.name}() {{", *self._locals, *body, "}"])

    @overload
    def local(self, name: str, /, *, initial: int = 0, type: str = "short") -> Value: ...
    @overload
    def local(self, name: str, /, *more: str, initial: int = 0, type: str = "short") -> tuple[Value, ...]: ...
    def local(self, *names: str, initial: int = 0, type: str = "short") -> Value | tuple[Value, ...]:
        """Declare local variables: one, or a tuple of several."""
        for name in names:
            require_name(name)
            self._locals.append(f"    {type} {name} = {initial};")
        return _one_or_all(names)

    def store(self, variable: Value, value: Term) -> None:
        """Write the shared variable, by way of the store buffer."""
        self._write(f"{variable.text} = {_text(value)};")

    def load(self, local: Value, variable: Value) -> None:
        """Read the shared variable into the local one."""
        self._write(f"{local.text} = {variable.text};")

    def assign(self, local: Value, value: Term) -> None:
        """Give a local variable a value."""
        self._write(f"{local.text} = {_text(value)};")

    def exchange(self, old: Value, variable: Value, value: Term) -> None:
        """Atomically: `old = variable; variable = value`."""
        self._write(f"atomic {{ {old.text} = {variable.text}; {variable.text} = {_text(value)} }};")

    def fetch_add(self, old: Value, variable: Value, value: Term) -> None:
        """Atomically: `old = variable; variable = variable + value`."""
        self._write(f"atomic {{ {old.text} = {variable.text}; {variable.text} = {variable.text} + {_text(value)} }};")

    def compare_exchange(self, old: Value, variable: Value, expected: Term, value: Term) -> None:
        """Atomically: `old = variable`, and `variable = value` if it was `expected`."""
        test = f"if :: {old.text} == {_text(expected)} -> {variable.text} = {_text(value)} :: else fi"
        self._write(f"atomic {{ {old.text} = {variable.text}; {test} }};")

    def fence(self, kind: str = "mfence") -> None:
        """Wait until every earlier store is in memory (`sfence`: keep earlier stores before later ones)."""
        if kind not in ("mfence", "sfence"):
            raise ValueError(f"{kind!r} is not one of 'mfence', 'sfence'")
        self._write(f"{kind}();")

    def wait(self, condition: Term) -> None:
        """Go on only where the condition is true."""
        self._write(f"({_text(condition)});")

    def check(self, condition: Term) -> None:
        """Fail where the condition is false."""
        self._write(f"assert({_text(condition)});")

    def skip(self) -> None:
        """Do nothing, in one step."""
        self._write("skip;")

    def label(self, name: str) -> None:
        """Name this place, for properties: `process@name`."""
        require_name(name)
        self._lines.append(f"{name}:")

    def leave(self) -> None:
        """Leave the loop."""
        self._write("break;")

    @contextmanager
    def if_(self, condition: Term) -> Iterator[None]:
        """Only where the condition is true; `else_` may follow."""
        with self._block("if", f":: {_text(condition)} ->"):
            yield

    @contextmanager
    def else_(self) -> Iterator[None]:
        """Where the condition of the `if_` before is false."""
        if self._lines[-2:] != [f"{self._indent}:: else", f"{self._indent}fi;"]:
            raise ValueError("`else_` goes right behind an `if_`")
        del self._lines[-2:]
        self._write(":: else ->")
        yield from self._inside("fi;")

    @contextmanager
    def while_(self, condition: Term) -> Iterator[None]:
        """As long as the condition is true."""
        with self._block("do", f":: {_text(condition)} ->"):
            yield

    @contextmanager
    def loop(self) -> Iterator[None]:
        """For ever, unless `leave` ends it."""
        self._write("do")
        self._write(":: true ->")
        yield from self._inside("od;")

    @contextmanager
    def _block(self, keyword: str, guard: str) -> Iterator[None]:
        self._write(keyword)
        self._write(guard)
        yield from self._inside()
        self._write(":: else" if keyword == "if" else ":: else -> break")
        self._write({"if": "fi;", "do": "od;"}[keyword])

    def _inside(self, *behind: str) -> Iterator[None]:
        self._depth += 1
        before = len(self._lines)
        yield
        if len(self._lines) == before:
            self._write("skip;")
        self._depth -= 1
        for line in behind:
            self._write(line)

    @property
    def _indent(self) -> str:
        return "    " * self._depth

    def _write(self, line: str) -> None:
        self._lines.append(f"{self._indent}{line}")


def _one_or_all(names: tuple[str, ...]) -> Value | tuple[Value, ...]:
    values = tuple(Value(name) for name in names)
    return values[0] if len(values) == 1 else values


def _joined(left: Value, op: str, right: object) -> Value:
    return Value(f"({left.text} {op} {_text(right)})")


def _text(term: object) -> str:
    match term:
        case bool():
            return "true" if term else "false"
        case Value() | int():
            return str(term)
        case _:
            raise ValueError(f"{term!r} is neither a number nor a part of a program")


def require_name(name: str) -> None:
    """ValueError for what cannot be a name in Promela."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise ValueError(f"{name!r} is not a name: use letters, digits and `_`")
