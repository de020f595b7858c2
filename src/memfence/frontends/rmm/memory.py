"""The shared variables of an RMM program: global ones first, then those of each process, in the order of the text.

`[expr]` addresses them by their number in this order, as in Memorax.
"""

from __future__ import annotations

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.parsing.syntax import Name
from memfence.frontends.rmm.expressions import Translator
from memfence.frontends.rmm.reader import Reader
from memfence.frontends.rmm.syntax import Declaration, MemoryCell
from memfence.program.ir import UNDECLARED, Domain, SharedVar

MOST_INITIAL = 4096


def domain_of(declaration: Declaration) -> Domain:
    return UNDECLARED if declaration.domain is None else Domain(*declaration.domain)


class Memory:
    """Finds variables by name; `x[my]` belongs to the process that declares it."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.variables: list[SharedVar] = []
        self.globals: dict[str, int] = {}
        self.owned: dict[tuple[int, str], int] = {}

    def declare_global(self, declaration: Declaration) -> None:
        name = declaration.name
        if name.text in self.globals:
            self._twice(name, self.globals[name.text])
        else:
            self.globals[name.text] = self._add(name.text, declaration)

    def declare_owned(self, process: int, declaration: Declaration) -> None:
        key = (process, declaration.name.text)
        if key in self.owned:
            self._twice(declaration.name, self.owned[key])
        else:
            self.owned[key] = self._add(f"{declaration.name.text}[{process}]", declaration)

    def _twice(self, name: Name, before: int) -> None:
        what = f"the variable `{name.text}` is declared twice"
        first = Label(self.variables[before].span, "first here")
        self.reader.errors.append(Diagnostic(Code.DUPLICATE, what, Label(name.span), (first,)))

    def _add(self, name: str, declaration: Declaration) -> int:
        domain = domain_of(declaration)
        init: tuple[int, ...] = (declaration.initial or 0,)
        if declaration.initial is None:
            if declaration.domain is None:
                what = f"`*` gives `{declaration.name.text}` infinitely many initial values"
                hint = "declare a domain, as in `: [0:3]`"
                self.reader.report(Code.UNSUPPORTED, what, declaration.name.span, hint)
            elif domain.size > MOST_INITIAL:
                what = f"`*` gives `{declaration.name.text}` {domain.size} initial values"
                self.reader.report(Code.TOO_LARGE, what, declaration.name.span, f"at most {MOST_INITIAL} are possible")
            else:
                init = tuple(range(domain.lo, domain.hi + 1))
        self.variables.append(SharedVar(name, domain, init, declaration.name.span))
        return len(self.variables) - 1

    def find(self, place: MemoryCell, process: int, translator: Translator) -> int:
        """The number of the variable that `place` means in `process`; 0 if there is none, which is reported."""
        name = place.name.text
        if place.kind == "global":
            if name in self.globals:
                return self.globals[name]
            return self._unknown(place, list(self.globals), process)
        owner = process
        if place.kind == "other":
            others = translator.other(place.index, place.name.span)
            if others is None:
                return 0
            owner = others
        if (owner, name) in self.owned:
            return self.owned[owner, name]
        return self._unknown(place, [known for who, known in self.owned if who == owner], process, owner)

    def _unknown(self, place: MemoryCell, known: list[str], process: int, owner: int | None = None) -> int:
        name = place.name.text
        if owner is None and (process, name) in self.owned:
            hint: str | None = f"write `{name}[my]` for the process's own variable"
        elif owner is not None and name in self.globals:
            hint = f"`{name}` is declared outside the processes: write it without brackets"
        else:
            hint = did_you_mean(name, known, f"declare it with `data {name} = 0`")
        whose = "" if owner is None else f" of process {owner}"
        self.reader.report(Code.UNKNOWN_VARIABLE, f"unknown variable `{name}`{whose}", place.name.span, hint)
        return 0
