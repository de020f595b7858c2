"""Tokens of one line of IR, with the readers of types and constants on top of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memfence.frontends.c.llvm.escapes import bytes_of, text_of
from memfence.frontends.c.llvm.types import (
    FLOAT_BYTES,
    POINTER,
    ArrayType,
    FloatType,
    IntType,
    StructType,
    Type,
    VoidType,
)
from memfence.frontends.c.llvm.values import (
    AddressOf,
    Aggregate,
    Computed,
    Converted,
    Global,
    Ignored,
    InlineAsm,
    Local,
    Number,
    Operand,
    Real,
    Text,
    Undefined,
    Zero,
    number_of,
)

TOKEN = re.compile(
    r"""c"(?:[^"\\]|\\.)*" | [%@]"(?:[^"\\]|\\.)*" | "(?:[^"\\]|\\.)*"
      | [%@][-\w$.]+ | ![\w.]* | \#\w+ | 0x[0-9A-Fa-f]+ | 0x[KLMHR][0-9A-Fa-f]+
      | -?\d+\.\d*(?:[eE][-+]?\d+)? | -?\d+ | \.\.\. | [A-Za-z_$][\w$.]* | [^\s]""",
    re.VERBOSE,
)

INTEGER = re.compile(r"-?\d+$")
INT_TYPE = re.compile(r"i\d+$")
CASTS = frozenset(
    [
        "trunc",
        "zext",
        "sext",
        "ptrtoint",
        "inttoptr",
        "bitcast",
        "addrspacecast",
        "fptosi",
        "fptoui",
        "sitofp",
        "uitofp",
        "fpext",
        "fptrunc",
    ]
)
ARITHMETIC = frozenset(["add", "sub", "mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr", "and", "or", "xor"])
FLAGS = frozenset(["nsw", "nuw", "exact", "inbounds", "nusw", "disjoint", "nneg", "samesign", "volatile", "inrange"])
WORDS_OF_PARAMETERS = re.compile(
    r"(noundef|nonnull|noalias|nocapture|readonly|readnone|writeonly|signext|zeroext|returned|immarg|inreg|nest|noext|"
    r"allocptr|nofree|swiftself|swifterror|dead_on_unwind|writable|dead_on_return|inalloca)$"
)
WORDS_WITH_ARGUMENT = frozenset(
    [
        "align",
        "dereferenceable",
        "dereferenceable_or_null",
        "byval",
        "sret",
        "byref",
        "elementtype",
        "captures",
        "range",
        "initializes",
        "nofpclass",
        "preallocated",
    ]
)


class ReadingError(Exception):
    """The line is no IR that we know."""


class Tokens:
    """One line, from left to right."""

    def __init__(self, line: str, named: Mapping[str, Type] | None = None) -> None:
        self.line = line
        self.items: list[str] = TOKEN.findall(line)
        self.at = 0
        self.named = {} if named is None else named
        self.by_value: Type | None = None

    @property
    def next(self) -> str:
        return self.items[self.at] if self.at < len(self.items) else ""

    def take(self) -> str:
        token = self.next
        self.at += 1
        return token

    def accept(self, *tokens: str) -> bool:
        """Skip the next token if it is one of these."""
        if self.next in tokens and self.next:
            self.at += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if self.take() != token:
            raise ReadingError(f"`{token}` expected: {self.line.strip()[:120]}")

    def skip_group(self) -> None:
        """Skip a balanced group that starts here with an opening bracket."""
        depth = 0
        while self.at < len(self.items):
            token = self.take()
            depth += token in ("(", "[", "{", "<")
            depth -= token in (")", "]", "}", ">")
            if depth == 0:
                return

    def skip_attributes(self) -> None:
        """Skip the attributes of a parameter or result."""
        while True:
            if WORDS_OF_PARAMETERS.match(self.next) or self.next.startswith('"'):
                self.at += 1
                if self.accept("="):
                    self.at += 1
            elif self.next == "byval":
                self.at += 2
                self.by_value = self.type()
                self.expect(")")
            elif self.next in WORDS_WITH_ARGUMENT:
                self.at += 1
                if self.next == "(":
                    self.skip_group()
                elif INTEGER.match(self.next):
                    self.at += 1
            else:
                return

    def flags(self) -> set[str]:
        found = set()
        while self.next in FLAGS:
            word = self.take()
            found.add(word)
            if word == "inrange" and self.next == "(":
                self.skip_group()
        return found

    # Types.

    def type(self) -> Type:
        """The type that starts here. A function type reads as its result, with the parameters skipped."""
        base = self._base_type()
        while True:
            if self.next == "(" and not isinstance(base, IntType | FloatType):
                self.skip_group()
                base = VoidType("function")
            elif self.next == "(":
                if not self._is_pointer_behind_group():
                    return base
                self.skip_group()
                base = VoidType("function")
            elif self.accept("*"):
                base = POINTER
            else:
                return base

    def _is_pointer_behind_group(self) -> bool:
        """Whether the group that starts here belongs to a pointer to functions, as LLVM wrote it before 15."""
        here = self.at
        self.skip_group()
        found = self.next == "*"
        self.at = here
        return found

    def _base_type(self) -> Type:
        token = self.take()
        if token == "ptr":
            if self.accept("addrspace"):
                self.skip_group()
            return POINTER
        if INT_TYPE.match(token):
            return IntType(int(token[1:]))
        if token in FLOAT_BYTES:
            return FloatType(token)
        if token == "[":
            return self._array("]")
        if token == "<":
            if self.accept("{"):
                fields = self._fields("}")
                self.expect(">")
                return StructType(fields, packed=True)
            return self._array(">")
        if token == "{":
            return StructType(self._fields("}"))
        if token.startswith("%"):
            if self.next == "*":  # a pointer is a pointer, and the type may contain it
                return VoidType("opaque")
            return self.named[unquoted(token)]
        if token in ("void", "label", "metadata", "token", "opaque", "x86_mmx", "x86_amx"):
            return VoidType(token)
        raise ReadingError(f"no type: `{token}` in {self.line.strip()[:120]}")

    def _array(self, close: str) -> Type:
        count = self.take()
        if not count.isdigit():
            raise ReadingError(f"no number of elements: `{count}` in {self.line.strip()[:120]}")
        self.expect("x")
        element = self.type()
        self.expect(close)
        return ArrayType(int(count), element, is_vector=close == ">")

    def _fields(self, close: str) -> tuple[Type, ...]:
        fields = []
        while not self.accept(close):
            fields.append(self.type())
            self.accept(",")
        return tuple(fields)

    # Operands.

    def typed(self) -> tuple[Type, Operand]:
        """A type, attributes that are skipped, and the operand."""
        type = self.type()
        self.skip_attributes()
        if isinstance(type, VoidType) and type.name == "metadata":
            return type, self._metadata()
        return type, self.operand(type)

    def _metadata(self) -> Operand:
        start = self.at
        while self.next not in (",", ")", ""):
            if self.next in ("(", "{"):
                self.skip_group()
            else:
                self.at += 1
        return Ignored(" ".join(self.items[start : self.at]))

    def operand(self, type: Type) -> Operand:
        token = self.take()
        first = token[:1]
        if first == "%":
            return Local(unquoted(token))
        if first == "@":
            return Global(unquoted(token))
        if INTEGER.match(token):
            return number_of(type, int(token)) if not isinstance(type, FloatType) else Real(token)
        return self._constant(type, token)

    def _constant(self, type: Type, token: str) -> Operand:
        match token:
            case "true" | "false":
                return Number(int(token == "true"))
            case "null" | "none":
                return Number(0)
            case "undef" | "poison":
                return Undefined()
            case "zeroinitializer":
                return Zero()
            case "getelementptr":
                return self._constant_offset()
            case "asm":
                return self._assembly()
            case "[" | "{" | "<":
                return self._aggregate(token)
            case "blockaddress" | "dso_local_equivalent" | "no_cfi":
                self.skip_group()
                return Ignored(token)
        if token in CASTS:
            return self._constant_cast(token)
        if token in ARITHMETIC:
            return self._constant_arithmetic(token)
        if token.startswith('c"'):
            return Text(bytes_of(token[2:-1]))
        if isinstance(type, FloatType):
            return Real(token)
        raise ReadingError(f"no operand: `{token}` in {self.line.strip()[:120]}")

    def _constant_offset(self) -> Operand:
        self.flags()
        self.expect("(")
        source = self.type()
        self.expect(",")
        _, base = self.typed()
        indices = []
        while self.accept(","):
            self.flags()
            indices.append(self.typed()[1])
        self.expect(")")
        return AddressOf(source, base, tuple(indices))

    def _constant_cast(self, op: str) -> Operand:
        self.flags()
        self.expect("(")
        origin, operand = self.typed()
        self.expect("to")
        target = self.type()
        self.expect(")")
        return Converted(op, origin, operand, target)

    def _constant_arithmetic(self, op: str) -> Operand:
        self.flags()
        self.expect("(")
        type, left = self.typed()
        self.expect(",")
        _, right = self.typed()
        self.expect(")")
        return Computed(op, type, left, right)

    def _assembly(self) -> Operand:
        while self.next in ("sideeffect", "alignstack", "inteldialect", "unwind"):
            self.at += 1
        text = self.take()
        self.expect(",")
        constraints = self.take()
        return InlineAsm(bytes_of(text[1:-1]).decode("utf-8", "replace"), constraints[1:-1])

    def _aggregate(self, opening: str) -> Operand:
        closing = {"[": "]", "{": "}", "<": ">"}[opening]
        if opening == "<" and self.accept("{"):
            inner = self._aggregate("{")
            self.expect(">")
            return inner
        elements = []
        while not self.accept(closing):
            elements.append(self.typed())
            self.accept(",")
        return Aggregate(tuple(elements))


def unquoted(token: str) -> str:
    """The name without its sigil and quotes."""
    return text_of(token[2:-1]) if token[1:2] == '"' else token[1:]
