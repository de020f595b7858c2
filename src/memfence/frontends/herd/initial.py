"""The initial state between braces: `x=1; 0:EAX=2; int y; int *p = &x; 0:RAX=x`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.frontends.herd.dialect import Dialect
from memfence.frontends.herd.layout import Piece, syntax_error
from memfence.frontends.herd.numbers import read_number
from memfence.frontends.herd.syntax import InitialState

_ITEM = re.compile(
    r"(?P<type>(?:[A-Za-z_]\w*\b[\s*]+)*)"
    r"(?:P?(?P<thread>\d+)\s*:\s*(?P<register>%?\w+)|(?P<name>[A-Za-z_]\w*)|\[\s*(?P<bracketed>[A-Za-z_]\w*)\s*\])"
    r"\s*(?P<array>\[.*)?(?:==?\s*(?P<value>.*))?\Z",
    re.DOTALL,
)


def read_initial(items: Sequence[Piece], threads: int, dialect: Dialect, errors: list[Diagnostic]) -> InitialState:
    """The initial state; mistakes go to `errors`."""
    return _Reader(threads, dialect, errors).read(items)


class _Reader:
    def __init__(self, threads: int, dialect: Dialect, errors: list[Diagnostic]) -> None:
        self.threads = threads
        self.dialect = dialect
        self.errors = errors
        self.state = InitialState()

    def read(self, items: Sequence[Piece]) -> InitialState:
        for item in items:
            found = _ITEM.match(item.text)
            if found is None:
                hint = f"write `x=1` for memory, `{self.dialect.register_example}=1` for a register"
                self.errors.append(syntax_error(item.span, f"`{item.text}` does not initialise anything", hint))
            elif found["array"]:
                self.report(Code.UNSUPPORTED, "arrays are not supported", item, "use one name a memory location")
            elif found["register"] is not None:
                self.read_register(item, found)
            else:
                self.read_location(item, found)
        return self.state

    def report(self, code: Code, what: str, item: Piece, hint: str | None = None) -> None:
        self.errors.append(Diagnostic(code, what, Label(item.span), hint=hint))

    def read_location(self, item: Piece, found: re.Match[str]) -> None:
        name = found["name"] or found["bracketed"]
        if self.is_new(name, item):
            value = self.read_value(item, found)
            if isinstance(value, str):
                what = f"`{name}` is initialised with the address of `{value}`: addresses in memory are not supported"
                hint = f"only a register may hold an address, as in `{self.dialect.register_example}=x`"
                self.report(Code.UNSUPPORTED, what, item, hint if self.dialect.holds_addresses else None)
                value = 0
            self.state.locations[name] = value

    def read_register(self, item: Piece, found: re.Match[str]) -> None:
        thread = int(found["thread"][:9])
        number = self.dialect.register_number(found["register"])
        if number is None:
            hint = f"registers are {self.dialect.register_list}"
            self.report(Code.UNKNOWN_REGISTER, f"`{found['register']}` is not a register", item, hint)
        elif thread >= self.threads:
            hint = f"the threads are P0 to P{self.threads - 1}"
            self.report(Code.UNKNOWN_PROCESS, f"there is no thread `{found['thread'][:9]}`", item, hint)
        elif self.is_new((thread, number), item):
            value = self.read_value(item, found)
            if isinstance(value, str):
                self.state.pointers[thread, number] = value
            else:
                self.state.registers[thread, number] = value

    def is_new(self, key: str | tuple[int, int], item: Piece) -> bool:
        if key not in self.state.places:
            self.state.places[key] = item.span
            return True
        before = Label(self.state.places[key], "first here")
        what = f"`{item.text}` is initialised twice"
        self.errors.append(Diagnostic(Code.DUPLICATE, what, Label(item.span), (before,)))
        return False

    def read_value(self, item: Piece, found: re.Match[str]) -> int | str:
        """The number, or the name of the location whose address it is."""
        text = found["value"]
        if text is None:
            return 0
        source, start = item.span.source, item.span.start
        span = source.span(start + found.start("value"), start + max(found.end("value"), found.start("value") + 1))
        number = read_number(text, span, self.errors, self.dialect.immediate)
        if number is not None:
            return number
        address = re.match(r"&?\s*([A-Za-z_]\w*)\Z", text)
        if address is not None:
            return address[1]
        what = f"`{text}` is neither a number nor a name"
        self.errors.append(syntax_error(span, what, "write a number, as in `x=1`"))
        return 0
