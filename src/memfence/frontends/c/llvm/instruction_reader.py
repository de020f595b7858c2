"""One line of a function's body as an instruction."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from memfence.frontends.c.llvm import instructions
from memfence.frontends.c.llvm.tokens import ARITHMETIC, Tokens, unquoted
from memfence.frontends.c.llvm.types import VOID, FloatType, Type
from memfence.frontends.c.llvm.values import Number, Operand
from memfence.program.orders import MemoryOrder

ORDERS = {
    "unordered": MemoryOrder.RELAXED,
    "monotonic": MemoryOrder.RELAXED,
    "acquire": MemoryOrder.ACQUIRE,
    "release": MemoryOrder.RELEASE,
    "acq_rel": MemoryOrder.ACQ_REL,
    "seq_cst": MemoryOrder.SEQ_CST,
}
INTEGER_CASTS = frozenset(("trunc", "zext", "sext", "ptrtoint", "inttoptr", "bitcast", "addrspacecast"))
PLACE = re.compile(r"!dbg !(\d+)")
ALIGNMENT = re.compile(r", align (\d+)")
CALL_WORDS = frozenset(
    [
        "tail",
        "musttail",
        "notail",
        "fastcc",
        "ccc",
        "coldcc",
        "nnan",
        "ninf",
        "nsz",
        "arcp",
        "contract",
        "afn",
        "reassoc",
        "fast",
    ]
)

Reader = Callable[[Tokens, str, int], instructions.Instruction]


def read_instruction(line: str, named: Mapping[str, Type]) -> instructions.Instruction:
    """The instruction on `line` (several lines of the file, where it spans them)."""
    found = PLACE.search(line)
    place = int(found[1]) if found else 0
    tokens = Tokens(line, named)
    result = ""
    if tokens.next[:1] == "%" and tokens.items[1:2] == ["="]:
        result = unquoted(tokens.take())
        tokens.take()
    while tokens.next in CALL_WORDS:
        tokens.take()
    opcode = tokens.take()
    if opcode in ARITHMETIC:
        return _compute(tokens, result, place, opcode)
    if opcode in INTEGER_CASTS:
        return _convert(tokens, result, place, opcode)
    reader = READERS.get(opcode)
    return instructions.Other(result, opcode, place) if reader is None else reader(tokens, result, place)


def _compute(tokens: Tokens, result: str, place: int, op: str) -> instructions.Instruction:
    flags = tokens.flags()
    type, left = tokens.typed()
    tokens.expect(",")
    return instructions.Compute(result, op, type, left, tokens.operand(type), "nsw" in flags, place)


def _convert(tokens: Tokens, result: str, place: int, op: str) -> instructions.Instruction:
    tokens.flags()
    origin, operand = tokens.typed()
    tokens.expect("to")
    return instructions.Convert(result, op, origin, operand, tokens.type(), place)


def alignment_in(line: str) -> int:
    """What the address of the object that the line makes is a multiple of."""
    found = ALIGNMENT.findall(line)
    return int(found[-1]) if found else 1


def _alloca(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    tokens.accept("inalloca")
    type = tokens.type()
    count: Operand = Number(1)
    if tokens.accept(",") and tokens.next not in ("align", "addrspace"):
        count = tokens.typed()[1]
    return instructions.Alloca(result, type, count, place, alignment_in(tokens.line))


def _access_order(tokens: Tokens) -> MemoryOrder:
    if tokens.accept("syncscope"):
        tokens.skip_group()
    return ORDERS[tokens.take()] if tokens.next in ORDERS else MemoryOrder.PLAIN


def _load(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    tokens.accept("atomic")
    volatile = tokens.accept("volatile")
    type = tokens.type()
    tokens.expect(",")
    _, pointer = tokens.typed()
    return instructions.LoadFrom(result, type, pointer, _access_order(tokens), volatile, place)


def _store(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    tokens.accept("atomic")
    volatile = tokens.accept("volatile")
    type, value = tokens.typed()
    tokens.expect(",")
    _, pointer = tokens.typed()
    return instructions.StoreTo(type, value, pointer, _access_order(tokens), volatile, place)


def _offset(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    tokens.flags()
    source = tokens.type()
    tokens.expect(",")
    _, base = tokens.typed()
    indices = []
    while tokens.accept(",") and not tokens.next.startswith("!"):
        indices.append(tokens.typed()[1])
    return instructions.Offset(result, source, base, tuple(indices), place)


def _compare(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    tokens.flags()
    predicate = tokens.take()
    type, left = tokens.typed()
    tokens.expect(",")
    return instructions.Compare(result, predicate, type, left, tokens.operand(type), place)


def _select(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    _, condition = tokens.typed()
    tokens.expect(",")
    type, then = tokens.typed()
    tokens.expect(",")
    _, otherwise = tokens.typed()
    if isinstance(type, FloatType):
        return instructions.Other(result, "select of floating-point values", place)
    return instructions.Select(result, condition, type, then, otherwise, place)


def _phi(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    type = tokens.type()
    incoming = []
    while tokens.accept("["):
        value = tokens.operand(type)
        tokens.expect(",")
        incoming.append((value, unquoted(tokens.take())))
        tokens.expect("]")
        tokens.accept(",")
    return instructions.Phi(result, type, tuple(incoming), place)


def _branch(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    if tokens.accept("label"):
        return instructions.Branch(None, (unquoted(tokens.take()),), place)
    _, condition = tokens.typed()
    targets = []
    while tokens.accept(",") and tokens.accept("label"):
        targets.append(unquoted(tokens.take()))
    return instructions.Branch(condition, tuple(targets), place)


def _switch(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    type, value = tokens.typed()
    tokens.expect(",")
    tokens.expect("label")
    default = unquoted(tokens.take())
    tokens.expect("[")
    cases = []
    while not tokens.accept("]"):
        _, constant = tokens.typed()
        tokens.expect(",")
        tokens.expect("label")
        assert isinstance(constant, Number)
        cases.append((constant.value, unquoted(tokens.take())))
    return instructions.Switch(type, value, default, tuple(cases), place)


def _return(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    if tokens.accept("void"):
        return instructions.Return(VOID, None, place)
    type, value = tokens.typed()
    return instructions.Return(type, value, place)


def _call(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    while tokens.next in CALL_WORDS or (tokens.next == "cc" and tokens.take()):
        tokens.take()
    tokens.skip_attributes()
    type = tokens._base_type()
    if tokens.next == "(":  # the type of the function, where it is variadic
        tokens.skip_group()
    while tokens.accept("*"):
        pass
    callee = tokens.operand(type)
    tokens.expect("(")
    arguments: list[tuple[Type, Operand]] = []
    by_value: list[Type | None] = []
    while not tokens.accept(")"):
        tokens.by_value = None
        arguments.append(tokens.typed())
        by_value.append(tokens.by_value)
        tokens.accept(",")
    return instructions.Call(
        result, type, callee, tuple(arguments), place, by_value=tuple(by_value) if any(by_value) else ()
    )


def _invoke(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    call = _call(tokens, result, place)
    assert isinstance(call, instructions.Call)
    while not tokens.accept("to"):
        tokens.take()
    tokens.expect("label")
    normal = unquoted(tokens.take())
    tokens.expect("unwind")
    tokens.expect("label")
    unwind = unquoted(tokens.take())
    return replace(call, normal=normal, unwind=unwind)


def _compare_exchange(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    weak = tokens.accept("weak")
    tokens.accept("volatile")
    weak = tokens.accept("weak") or weak
    _, pointer = tokens.typed()
    tokens.expect(",")
    type, expected = tokens.typed()
    tokens.expect(",")
    _, desired = tokens.typed()
    order = _access_order(tokens)
    return instructions.CompareExchange(
        result, type, pointer, expected, desired, order, _access_order(tokens), weak, place
    )


def _update(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    tokens.accept("volatile")
    op = tokens.take()
    _, pointer = tokens.typed()
    tokens.expect(",")
    type, value = tokens.typed()
    return instructions.Update(result, op, type, pointer, value, _access_order(tokens), place)


def _fence(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    single = "singlethread" in tokens.line
    return instructions.FenceOf(_access_order(tokens), single, place)


def _path(tokens: Tokens) -> tuple[int, ...]:
    path = []
    while tokens.accept(",") and not tokens.next.startswith("!"):
        path.append(int(tokens.take()))
    return tuple(path)


def _extract(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    type, aggregate = tokens.typed()
    return instructions.Extract(result, type, aggregate, _path(tokens), place)


def _insert(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    type, aggregate = tokens.typed()
    tokens.expect(",")
    _, element = tokens.typed()
    return instructions.Insert(result, type, aggregate, element, _path(tokens), place)


def _freeze(tokens: Tokens, result: str, place: int) -> instructions.Instruction:
    type, operand = tokens.typed()
    return instructions.Freeze(result, type, operand, place)


READERS: dict[str, Reader] = {
    "alloca": _alloca,
    "load": _load,
    "store": _store,
    "getelementptr": _offset,
    "icmp": _compare,
    "select": _select,
    "phi": _phi,
    "br": _branch,
    "switch": _switch,
    "ret": _return,
    "unreachable": lambda tokens, result, place: instructions.Unreachable(place),
    "call": _call,
    "invoke": _invoke,
    "cmpxchg": _compare_exchange,
    "atomicrmw": _update,
    "fence": _fence,
    "extractvalue": _extract,
    "insertvalue": _insert,
    "freeze": _freeze,
}
