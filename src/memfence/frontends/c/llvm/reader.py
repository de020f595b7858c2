"""A file of textual IR as a `Module`. Numbered metadata stays text; `metadata` reads the nodes that are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memfence.frontends.c.llvm.expansion import expanded
from memfence.frontends.c.llvm.instruction_reader import alignment_in, read_instruction
from memfence.frontends.c.llvm.instructions import Block, Function, GlobalVariable, Instruction, Module
from memfence.frontends.c.llvm.tokens import ReadingError, Tokens, unquoted
from memfence.frontends.c.llvm.types import StructType, Type, VoidType
from memfence.frontends.c.llvm.values import Operand

MOST_IN_BLOCK = 1 << 32
LABEL = re.compile(r'^([-\w$.]+|"(?:[^"\\]|\\.)*"):')
DECLARED = re.compile(r"#dbg_declare\(ptr %([-\w$.]+|\"[^\"]*\"), !(\d+)")
OLD_DECLARED = re.compile(r"@llvm\.dbg\.(declare|value)\(metadata (?:ptr|[^,()]*\*) %([-\w$.]+), metadata !(\d+)")
DEBUG = re.compile(r"!dbg !(\d+)")
LINKAGE = frozenset(
    [
        "private",
        "internal",
        "available_externally",
        "linkonce",
        "weak",
        "common",
        "appending",
        "extern_weak",
        "linkonce_odr",
        "weak_odr",
        "external",
        "dso_local",
        "dso_preemptable",
        "default",
        "hidden",
        "protected",
        "dllimport",
        "dllexport",
        "unnamed_addr",
        "local_unnamed_addr",
        "externally_initialized",
        "fastcc",
        "ccc",
        "coldcc",
    ]
)
INTERNAL = frozenset(("private", "internal"))
MERGED = frozenset(("linkonce", "weak", "linkonce_odr", "weak_odr", "common", "appending", "available_externally"))
WEAK = frozenset(("linkonce", "weak", "linkonce_odr", "weak_odr", "available_externally", "extern_weak"))


def read_module(text: str, path: str) -> Module:
    """The module in `text`. ReadingError where it does not look like IR."""
    try:
        return _ModuleReader(text, path).read()
    except RecursionError:
        raise ReadingError("types or constants are nested too deeply") from None


class _NamedTypes(dict[str, Type]):
    """Struct types by name, each read when it is first needed: they may be used before they are defined."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__()
        self.texts = texts
        self.open: set[str] = set()

    def __missing__(self, name: str) -> Type:
        text = self.texts.get(name)
        if text is None:
            raise ReadingError(f"type %{name} is not defined")
        if name in self.open:
            raise ReadingError(f"a type contains itself in %{name} = type {text}")
        self.open.add(name)
        found = Tokens(text, self).type()
        self.open.discard(name)
        if isinstance(found, StructType):
            found = StructType(found.fields, found.packed, name)
        self[name] = found
        return found


class _ModuleReader:
    def __init__(self, text: str, path: str) -> None:
        self.lines = text.splitlines()
        self.path = path
        texts: dict[str, str] = {}
        for line in self.lines:
            if line.startswith("%") and " = type " in line:
                name, definition = line.split(" = type ", 1)
                texts[unquoted(name)] = definition
        self.named = _NamedTypes(texts)
        self.variables: dict[str, GlobalVariable] = {}
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, Operand] = {}
        self.metadata: dict[int, str] = {}

    def read(self) -> Module:
        lines = iter(self.lines)
        for line in lines:
            first = line[:1]
            if first == "!":
                self._metadata(line)
            elif first == "@":
                self._variable(line)
            elif line.startswith("define "):
                self._function(line, lines)
            elif line.startswith("declare "):
                function = self._signature(line)
                self.functions.setdefault(function.name, function)
        if not self.functions and not self.variables:
            raise ReadingError("no function and no variable")
        types = {name: type for name, type in self.named.items() if isinstance(type, StructType)}
        return Module(self.path, types, self.variables, self.functions, self.aliases, self.metadata)

    def _metadata(self, line: str) -> None:
        name, _, text = line.partition(" = ")
        if name[1:].isdigit():
            self.metadata[int(name[1:])] = text

    def _variable(self, line: str) -> None:
        tokens = Tokens(line, self.named)
        name = unquoted(tokens.take())
        tokens.expect("=")
        words = self._linkage(tokens)
        if tokens.next in ("alias", "ifunc"):
            tokens.take()
            tokens.type()
            tokens.expect(",")
            self.aliases[name] = tokens.typed()[1]
            return
        thread_local = tokens.accept("thread_local")
        if thread_local and tokens.next == "(":
            tokens.skip_group()
        words |= self._linkage(tokens)
        if tokens.accept("addrspace"):
            tokens.skip_group()
        constant = tokens.take() == "constant"
        type = tokens.type()
        initial = None
        if not words & {"external", "extern_weak"}:
            initial = tokens.operand(type)
        debug = DEBUG.search(line)
        number = int(debug[1]) if debug else -1
        self.variables[name] = GlobalVariable(
            name,
            type,
            initial,
            constant,
            thread_local,
            number,
            bool(words & INTERNAL),
            bool(words & MERGED),
            alignment_in(line),
        )

    def _linkage(self, tokens: Tokens) -> set[str]:
        words = set()
        while tokens.next in LINKAGE:
            words.add(tokens.take())
        return words

    def _signature(self, line: str) -> Function:
        tokens = Tokens(line, self.named)
        tokens.take()
        debug = DEBUG.search(line)
        while tokens.next.startswith("!"):
            tokens.take()
        words = self._linkage(tokens)
        tokens.skip_attributes()
        result = tokens.type()
        name = unquoted(tokens.take())
        tokens.expect("(")
        parameters: list[tuple[Type, str]] = []
        variadic = False
        while not tokens.accept(")"):
            if tokens.accept("..."):
                variadic = True
                continue
            type = tokens.type()
            tokens.skip_attributes()
            label = unquoted(tokens.take()) if tokens.next.startswith("%") else str(len(parameters))
            parameters.append((type, label))
            tokens.accept(",")
        return Function(
            name,
            result,
            tuple(parameters),
            (),
            variadic,
            int(debug[1]) if debug else -1,
            internal=bool(words & INTERNAL),
            weak=bool(words & WEAK),
        )

    def _function(self, line: str, lines: Iterator[str]) -> None:
        head = self._signature(line)
        blocks: list[Block] = []
        declared: dict[str, int] = {}
        unnamed = sum(label.isdigit() for _, label in head.parameters)
        name, body = str(unnamed), list[Instruction]()
        for text in lines:
            if text.startswith("}"):
                break
            label = LABEL.match(text)
            if label:
                if body:
                    blocks.append(Block(name, tuple(body)))
                name, body = label[1].strip('"'), []
            elif text.strip() and not text.lstrip().startswith(";") and not _declares(text, declared):
                instruction = read_instruction(_whole(text, lines), self.named)
                body += expanded(instruction, len(blocks) * MOST_IN_BLOCK + len(body))
        blocks.append(Block(name, tuple(body)))
        self.functions[head.name] = Function(
            head.name,
            head.result,
            head.parameters,
            tuple(blocks),
            head.variadic,
            head.debug,
            declared,
            head.internal,
            head.weak,
        )


def _declares(line: str, declared: dict[str, int]) -> bool:
    """Whether the line only says something about a variable of the source."""
    if line.lstrip().startswith("#dbg_"):
        found = DECLARED.search(line)
        if found:
            declared[found[1].strip('"')] = int(found[2])
        return True
    if "@llvm.dbg." in line:
        old = OLD_DECLARED.search(line)
        if old:
            declared[old[2]] = int(old[3])
        return True
    return False


def _whole(line: str, lines: Iterator[str]) -> str:
    """The instruction that starts on `line`, with the lines that belong to it."""
    if line.rstrip().endswith("["):
        while True:
            more = next(lines, "]")
            line += " " + more
            if more.strip().startswith("]"):
                return line
    if " invoke " in line:
        line += " " + next(lines, "")
    return line


def is_opaque(type: Type) -> bool:
    return isinstance(type, VoidType)
