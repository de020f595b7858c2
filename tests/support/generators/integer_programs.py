"""Random C functions of one thread about integers and memory: all widths, casts, shifts, bit-fields, unions, `memcpy`.

Each function computes one number from all that it has. Known to gcc and to us alike: the layout of structs, unions and
bit-fields on x86-64, and two's complement. Left out is what compilers may do differently: the order of side effects,
padding, bit-fields wider than `int` inside of expressions (they are cast first), truth values other than 0 and 1.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

TYPES = {
    "signed char": 8, "unsigned char": 8, "short": 16, "unsigned short": 16, "int": 32, "unsigned": 32,
    "long": 64, "unsigned long": 64,
}  # fmt: skip
UNSIGNED = {"unsigned char", "unsigned short", "unsigned", "unsigned long"}
RAW = 0.06
"""How often an operation is left as it is although C may not define it: the rest is made safe."""


@dataclass
class Field:
    """A member of a struct: `bits` of a bit-field, 0 for another one."""

    name: str
    type: str
    bits: int = 0

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}{f' : {self.bits}' if self.bits else ''};"


class IntegerProgram:
    """One function, as text: the `types` it needs, its `objects`, the code that fills them and the code of its body."""

    def __init__(self, number: int, shuffle: random.Random) -> None:
        self.n = number
        self.shuffle = shuffle
        self.variables = {f"v{number}_{k}": shuffle.choice(list(TYPES)) for k in range(3)}
        self.fields = self._bit_fields()
        self.members = self._members()
        self.views = self._views()
        self.types = self._types()
        self.loops = 0
        self.body = [self.statement(2) for _ in range(shuffle.randint(2, 5))]

    # Types.

    def _bit_fields(self) -> list[Field]:
        found = []
        for k in range(self.shuffle.randint(2, 4)):
            type = self.shuffle.choice(list(TYPES))
            bits = self.shuffle.randint(1, TYPES[type]) if self.shuffle.random() < 0.8 else 0
            found.append(Field(f"f{k}", type, bits))
        return found

    def _members(self) -> list[Field]:
        """Of the struct that is passed by value: in registers up to 16 bytes, else in memory."""
        return [Field(f"m{k}", self.shuffle.choice(list(TYPES))) for k in range(self.shuffle.randint(1, 3))]

    def _views(self) -> list[tuple[str, str, int]]:
        """Of the union of 16 bytes: name, type of the elements, number of elements; bytes and words first."""
        chosen = self.shuffle.sample(list(TYPES), 2)
        views = [(f"w{k}", type, 128 // TYPES[type]) for k, type in enumerate(chosen)]
        return [("bytes", "unsigned char", 16), ("words", "unsigned long", 2), *views]

    def _types(self) -> str:
        packed = " __attribute__((packed))" if self.shuffle.random() < 0.3 else ""
        fields = " ".join(field.declaration for field in self.fields)
        members = " ".join(field.declaration for field in self.members)
        views = " ".join(f"{type} {name}[{count}];" for name, type, count in self.views)
        changed = self.shuffle.choice(self.members)
        return f"""
struct bits{self.n} {{ {fields} }}{packed};
struct value{self.n} {{ {members} }};
union views{self.n} {{ {views} }};
static __attribute__((noinline)) struct value{self.n} passed{self.n}(struct value{self.n} x, long y)
{{ x.{changed.name} = ({changed.type})(x.{changed.name} ^ ({changed.type})y); return x; }}
"""

    def objects(self, qualifier: str) -> str:
        """Declarations; `qualifier` is that of the numbers."""
        numbers = " ".join(f"{qualifier} {type} {name};" for name, type in self.variables.items())
        n = self.n
        return f"{numbers} struct bits{n} b{n}; struct value{n} s{n}, t{n}; union views{n} u{n}, w{n};"

    def fill(self) -> str:
        """Every object gets a value, with no bit left out."""
        numbers = " ".join(f"{name} = ({type}){self.number()};" for name, type in self.variables.items())
        cleared = " ".join(f"memset(&{name}{self.n}, 0, sizeof {name}{self.n});" for name in "bstuw")
        return f"{numbers} {cleared}"

    def number(self) -> str:
        kind = self.shuffle.randrange(4)
        if kind == 0:
            return f"{self.shuffle.randint(0, 9)}"
        if kind == 1:
            return f"{self.shuffle.randint(-(2**63) + 1, 2**63 - 1)}l"
        if kind == 2:
            return f"(1ul << {self.shuffle.randint(0, 63)})"
        return (
            f"{self.shuffle.choice((-1, 127, 128, 255, 256, 32767, 32768, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1))}l"
        )

    # Expressions.

    def term(self) -> str:
        shape = self.shuffle.randrange(7)
        if shape < 3:
            return self.shuffle.choice(list(self.variables))
        if shape == 3:
            return f"({self.number()})"
        if shape == 4:
            field = self.shuffle.choice(self.fields)
            return f"({field.type})b{self.n}.{field.name}"
        if shape == 5:
            return f"{self.shuffle.choice('st')}{self.n}.{self.shuffle.choice(self.members).name}"
        return self.element(self.shuffle.choice("uw"))

    def element(self, name: str) -> str:
        view, _, count = self.shuffle.choice(self.views)
        return f"{name}{self.n}.{view}[{self.shuffle.randrange(count)}]"

    def expression(self, depth: int = 2) -> str:
        if depth == 0:
            return self.term()
        a, b = self.expression(depth - 1), self.expression(self.shuffle.randint(0, depth - 1))
        is_raw = self.shuffle.random() < RAW
        type = self.shuffle.choice(list(TYPES))
        bits = max(32, TYPES[type])
        word = "unsigned long" if bits == 64 else "unsigned"
        shape = self.shuffle.randrange(10)
        if shape == 0:
            return f"(({type}){a})"
        if shape in (1, 2):
            op = self.shuffle.choice(("<<", ">>"))
            if is_raw:
                return f"(({type}){a} {op} ({b} & 127))"
            left = f"({word})({a})" if op == "<<" else f"({type})({a})"
            return f"({left} {op} ({b} & {bits - 1}))"
        if shape == 3:
            op = self.shuffle.choice("/%")
            divisor = f"({type})({b})" if is_raw else f"(({word})({b}) | 1)"
            return f"(({type})({a}) {op} {divisor})"
        if shape == 4:
            return f"({a} {self.shuffle.choice(('<', '<=', '>', '>=', '==', '!='))} {b})"
        if shape == 5:
            return f"({a} ? {b} : {self.term()})"
        if shape == 6:
            return f"({self.shuffle.choice(('~', '!'))}({a}))"
        op = self.shuffle.choice("+-*&|^")
        if op in "&|^":
            return f"({a} {op} {b})"
        if is_raw:  # by way of variables: of what is cast, and of two constants, gcc overlooks that it overflows
            return f"({{ __typeof__({a}) left = {a}; __typeof__(left {op} {b}) raw = left {op} {b}; raw; }})"
        return f"({type})(({word})({a}) {op} ({word})({b}))"

    # Statements.

    def statement(self, depth: int) -> str:
        shape = self.shuffle.randrange(14 if depth else 10)
        n, value = self.n, self.expression()
        if shape < 2:
            name = self.shuffle.choice(list(self.variables))
            return f"{name} = ({self.variables[name]})({value});"
        if shape == 2:
            field = self.shuffle.choice(self.fields)
            return f"b{n}.{field.name} = ({field.type})({value});"
        if shape in (3, 4):
            return f"{self.element(self.shuffle.choice('uw'))} = {value};"
        if shape == 5:
            return self._copy()
        if shape == 6:
            member = self.shuffle.choice(self.members)
            return self.shuffle.choice((f"s{n}.{member.name} = ({member.type})({value});", f"t{n} = s{n};"))
        if shape == 7:
            return f"s{n} = passed{n}({self.shuffle.choice('st')}{n}, (long)({value}));"
        if shape == 8:
            name = self.shuffle.choice(list(self.variables))
            op = self.shuffle.choice(("&=", "|=", "^=")) if self.shuffle.random() > RAW else "+="
            return f"{name} {op} ({self.variables[name]})({value});"
        if shape == 9:
            return self.shuffle.choice((f"u{n} = w{n};", f"w{n} = u{n};"))
        inner = " ".join(self.statement(depth - 1) for _ in range(2))
        if shape < 12:
            return f"if ({self.expression(1)}) {{ {inner} }} else {{ {self.statement(depth - 1)} }}"
        if shape == 12:
            self.loops += 1
            i = f"i{self.loops}"
            return f"for (int {i} = 0; {i} < {self.shuffle.randint(1, 3)}; {i}++) {{ {inner} }}"
        return (
            f"switch (({self.expression(1)}) & 3) {{ case 0: {inner} break; case 2: {self.statement(0)} default: ; }}"
        )

    def _copy(self) -> str:
        """Bytes from one object to another; inside of one, where they may overlap."""
        n, shuffle = self.n, self.shuffle
        size, source, target = shuffle.randint(1, 8), shuffle.randint(0, 8), shuffle.randint(0, 8)
        kind = shuffle.randrange(4)
        if kind == 0:
            return f"memmove(u{n}.bytes + {target}, u{n}.bytes + {source}, {size});"
        if kind == 1:
            return f"memcpy(u{n}.bytes + {target}, w{n}.bytes + {source}, {size});"
        if kind == 2:
            return f"memset(w{n}.bytes + {target}, (int)({self.term()}), {size});"
        name = shuffle.choice(list(self.variables))
        width = TYPES[self.variables[name]] // 8
        temporary = f"{self.variables[name]} copy;"
        return f"{{ {temporary} memcpy(&copy, u{n}.bytes + {source}, {width}); {name} = copy; }}"

    def result(self) -> str:
        """One number from all objects, but for their padding."""
        parts = [*self.variables]
        parts += [f"({field.type})b{self.n}.{field.name}" for field in self.fields]
        parts += [f"{name}{self.n}.{member.name}" for name in "st" for member in self.members]
        parts += [f"{name}{self.n}.words[{k}]" for name in "uw" for k in range(2)]
        return " ".join(f"h = h * 31 + (unsigned long)({part});" for part in parts)
