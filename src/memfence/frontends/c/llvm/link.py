"""Several modules as one program: which definition a name means, seen from a module."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memfence.frontends.c.llvm.demangling import demangled, without_parameters
from memfence.frontends.c.llvm.instructions import Function, GlobalVariable, Module
from memfence.frontends.c.llvm.metadata import DebugInfo, Place
from memfence.frontends.c.llvm.values import Aggregate, Global, Number
from memfence.records import Record


class Symbol(Record):
    """A definition (or, where there is none, a declaration) and the number of its module."""

    module: int
    name: str
    definition: Function | GlobalVariable

    @property
    def is_function(self) -> bool:
        return isinstance(self.definition, Function)

    @property
    def is_defined(self) -> bool:
        definition = self.definition
        return bool(definition.blocks) if isinstance(definition, Function) else definition.initial is not None


def _symbols(number: int, module: Module) -> Iterator[Symbol]:
    """Everything that the module defines or declares."""
    for name, variable in module.variables.items():
        yield Symbol(number, name, variable)
    for name, function in module.functions.items():
        yield Symbol(number, name, function)


class Linked:
    """All modules. Internal names are looked up in their own module first, the others anywhere."""

    def __init__(self, modules: Sequence[Module]) -> None:
        self.modules = tuple(modules)
        self.debug = tuple(DebugInfo(m.metadata) for m in modules)
        self._public: dict[str, Symbol] = {}
        self._titles: dict[tuple[int, str], str] = {}
        for number, module in enumerate(modules):
            for symbol in _symbols(number, module):
                name, definition = symbol.name, symbol.definition
                known = self._public.get(name)
                if not definition.internal and (known is None or (symbol.is_defined and not known.is_defined)):
                    self._public[name] = symbol

    def find(self, module: int, name: str) -> Symbol | None:
        """What `name` means in the module."""
        own = self.modules[module]
        for _ in range(10):
            alias = own.aliases.get(name)
            if not isinstance(alias, Global):
                break
            name = alias.name
        definition = own.variables.get(name) or own.functions.get(name)
        if definition is not None:
            symbol = Symbol(module, name, definition)
            if definition.internal or symbol.is_defined:
                return symbol
        return self._public.get(name) or (None if definition is None else Symbol(module, name, definition))

    def title(self, symbol: Symbol) -> str:
        """The name as the user wrote it; of a lambda, where it stands."""
        key = (symbol.module, symbol.name)
        if key not in self._titles:
            self._titles[key] = self._title(symbol)
        return self._titles[key]

    def _title(self, symbol: Symbol) -> str:
        debug, number = self.debug[symbol.module], symbol.definition.debug
        found = debug.function(number) if symbol.is_function else debug.variable(number)
        if found is not None and found.name == "operator()" and found.place is not None:
            return f"lambda@{found.place.line}"
        return found.name if found is not None and found.name else without_parameters(demangled(symbol.name))

    def functions(self) -> list[Symbol]:
        """Every defined function."""
        return [
            Symbol(number, name, function)
            for number, module in enumerate(self.modules)
            for name, function in module.functions.items()
            if function.blocks
        ]

    def constructors(self) -> list[Symbol]:
        """The functions that run before the first one: initialisers of C++, `__attribute__((constructor))`."""
        return self._listed("llvm.global_ctors")

    def destructors(self) -> list[Symbol]:
        """Functions with `__attribute__((destructor))`, the last one to run first."""
        return self._listed("llvm.global_dtors")

    def _listed(self, name: str) -> list[Symbol]:
        """The functions of a table of the compiler, by their priority."""
        found: list[tuple[int, Symbol]] = []
        for number, module in enumerate(self.modules):
            table = module.variables.get(name)
            for _, entry in table.initial.elements if table and isinstance(table.initial, Aggregate) else ():
                match entry:
                    case Aggregate(((_, Number(priority)), (_, Global(function)), *_)):
                        symbol = self.find(number, function)
                        found += [] if symbol is None else [(priority, symbol)]
        return [symbol for _, symbol in sorted(found, key=lambda one: one[0])]

    def place_of(self, symbol: Symbol) -> Place | None:
        """Where the definition stands in the source."""
        debug = self.debug[symbol.module]
        found = (
            debug.function(symbol.definition.debug) if symbol.is_function else debug.variable(symbol.definition.debug)
        )
        return None if found is None else found.place

    def duplicates(self) -> list[tuple[Symbol, Symbol]]:
        """Names that two modules define."""
        found: dict[str, Symbol] = {}
        twice = []
        for number, module in enumerate(self.modules):
            for symbol in _symbols(number, module):
                name, definition = symbol.name, symbol.definition
                if definition.internal or definition.weak or not symbol.is_defined:
                    continue
                if name in found:
                    twice.append((found[name], symbol))
                found[name] = symbol
        return twice
