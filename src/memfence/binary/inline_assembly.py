"""Accesses of inline assembler, announced to the runtime: one instruction at a time.

In front of an instruction that accesses memory stands a call that keeps all registers and flags; the instruction itself
stays. Behind a locked one stands a second call: the runtime looks at what it has made of memory.
"""

from __future__ import annotations

import re
from enum import IntEnum

from memfence.records import Record

PREFIX = re.compile(r"(?:lock|rep|repe|repz|repne|repnz)")
LABELLED = re.compile(r"(?P<label>[\w.$]+:)\s*(?P<rest>.*)")
STATEMENT = re.compile(r"(?:(?P<prefix>lock)\s+)?(?P<name>[a-z]\w*)(?:\s+(?P<operands>.*))?")
OPERAND_BREAK = re.compile(r",(?![^()]*\))")
MEMORY = re.compile(r"(?P<offset>[^()%$:*]*)(?:\((?P<base>[^()]*)\))?")
STACK_POINTER = re.compile(r"%[re]sp\b")
LETTERS = {"b": 1, "w": 2, "l": 4, "q": 8}
WIDE = {"cmpxchg8b": 8, "cmpxchg16b": 16}
COMPUTING = (
    "add", "sub", "and", "or", "xor", "adc", "sbb", "inc", "dec", "neg", "not", "shl", "sal", "shr", "sar", "rol",
    "ror",
)  # fmt: skip
LOCKABLE = ("add", "sub", "and", "or", "xor", "adc", "sbb", "inc", "dec", "neg", "not", "xadd", "cmpxchg")
BITS = ("bts", "btr", "btc")
"""With a register as the number of the bit they may access other memory than they name."""
ONLY_READING = ("cmp", "test", "bt", "imul", "bsf", "bsr", "popcnt", "lzcnt", "tzcnt", "push")
SIZED = (*COMPUTING, *LOCKABLE, *BITS, *ONLY_READING, "mov", "xchg", "lea", "pop", "bswap")
EXTENDING = re.compile(r"mov[sz](?P<from>[bwl])(?P<to>[wlq])")
CONDITIONAL = re.compile(r"(?P<what>set|cmov|j)(?P<when>n?[abegloszcp]|n?[abgl]e|p[eo]|mp)(?P<size>[wlq])?")
NO_OPERANDS = ("cltq", "cqto", "cltd", "cwtl", "cld", "clc", "stc")
DIRECT = re.compile(r"[\w.$]+(?:@PLT)?")


class Access(IntEnum):
    """What an instruction does to memory, as runtime/assembly.cpp numbers it."""

    LOAD = 0
    STORE = 1
    UPDATE = 2
    LOCKED = 3
    UNKNOWN = 4
    STORES = 5


class Announced(Record):
    """`place`: the memory operand."""

    access: Access
    size: int
    place: str


class Unknown(Exception):
    """The instruction is none whose accesses are known."""


def statements(bare: str) -> list[str]:
    """The statements of a line, with their prefixes: `lock; incl (%rax)` is one. The last may be a prefix alone."""
    found: list[str] = []
    for piece in re.split(r";|\\n", bare):
        word = " ".join(piece.split())
        if not word:
            continue
        if found and PREFIX.fullmatch(found[-1].rpartition(": ")[2]):
            found[-1] += f" {word}"
        else:
            found.append(word)
    return found


def announced(statement: str) -> list[str]:
    """The lines in its place. `Unknown`, if it does what cannot be followed."""
    if labelled := LABELLED.fullmatch(statement):
        return [labelled["label"], *(announced(labelled["rest"]) if labelled["rest"] else [])]
    access = access_of(statement)
    if access is None:
        return [f"\t{statement}"]
    place = access.place
    if STACK_POINTER.search(place):  # one word was pushed
        place = "8+" + (place if not place.startswith("(") else f"0{place}")
    after = ["\tcall __memfence_assembly_done@PLT"] if access.access is Access.LOCKED else []
    return [*_call(place, access.access, access.size), f"\t{statement}", *after]


def store_fence() -> list[str]:
    """`sfence`: what it keeps in order, stores with stores, is in order under TSO, and not under PSO."""
    return [*_call("(%rsp)", Access.STORES, 0), "\tsfence"]


def unknown(statement: str) -> list[str]:
    """The lines in the place of what cannot be followed: the program runs as usual, and is not explored beyond them."""
    quoted = statement.replace("\\", "\\\\").replace('"', '\\"')
    text = f'\t.string "the inline assembler `{quoted}`, of which it is not known what it does to memory"'
    return [
        "\t.pushsection .rodata", "9001:", text, "\t.popsection",
        *_call("9001b(%rip)", Access.UNKNOWN, 0), f"\t{statement}",
    ]  # fmt: skip


def _call(place: str, access: Access, size: int) -> list[str]:
    lines = (
        "pushq %rdi", f"leaq {place}, %rdi", f"pushq ${access << 8 | size}",
        "call __memfence_assembly@PLT", "leaq 8(%rsp), %rsp", "popq %rdi",
    )  # fmt: skip
    return [f"\t{line}" for line in lines]


def access_of(statement: str) -> Announced | None:
    """None: memory is not accessed."""
    found = STATEMENT.fullmatch(statement)
    if found is None:
        raise Unknown
    name, locked = found["name"], found["prefix"] is not None
    operands = [part.strip() for part in OPERAND_BREAK.split(found["operands"] or "") if part.strip()]
    if name in WIDE and locked and len(operands) == 1:
        return Announced(Access.LOCKED, WIDE[name], _memory(operands[0]))
    if name in NO_OPERANDS and not operands and not locked:
        return None
    if jump := CONDITIONAL.fullmatch(name):
        return _conditional(jump, operands, locked)
    if (extending := EXTENDING.fullmatch(name)) and len(operands) == 2 and not locked:
        return None if _in_register(operands[0]) else Announced(
            Access.LOAD, LETTERS[extending["from"]], _memory(operands[0])
        )  # fmt: skip
    base, size = _sized(name, operands)
    return _sized_access(base, size, operands, locked)


def _sized_access(base: str, size: int, operands: list[str], locked: bool) -> Announced | None:
    if not operands:
        raise Unknown
    outside = [one for one in operands if not _in_register(one)]
    if base == "lea" or not outside:
        if locked:
            raise Unknown
        return None
    if len(outside) > 1:
        raise Unknown
    is_target = operands[-1] == outside[0]
    place = _memory(outside[0])
    if base == "xchg" or (locked and is_target and (base in LOCKABLE or (base in BITS and operands[0][0] == "$"))):
        return Announced(Access.LOCKED, size, place)
    if locked or (base in (*BITS, "bt") and operands[0][0] != "$") or base in ("pop", "xadd", "cmpxchg"):
        raise Unknown
    if base in ONLY_READING or not is_target:
        return Announced(Access.LOAD, size, place)
    return Announced(Access.STORE if base == "mov" else Access.UPDATE, size, place)


def _conditional(name: re.Match[str], operands: list[str], locked: bool) -> Announced | None:
    if locked or not operands:
        raise Unknown
    if name["what"] == "j":
        if len(operands) != 1 or not DIRECT.fullmatch(operands[0]):
            raise Unknown
        return None
    if name["when"] == "mp":
        raise Unknown
    if name["what"] == "set":
        return None if _in_register(operands[0]) else Announced(Access.STORE, 1, _memory(operands[0]))
    size = LETTERS[name["size"]] if name["size"] else register_size(operands[-1])
    return None if _in_register(operands[0]) else Announced(Access.LOAD, size, _memory(operands[0]))


def _sized(name: str, operands: list[str]) -> tuple[str, int]:
    """The instruction without the letter of its size, and the size."""
    if name in SIZED:
        sizes = [register_size(one) for one in operands if one.startswith("%")]
        if not sizes and any(not _in_register(one) for one in operands):
            raise Unknown
        return name, max(sizes, default=0)
    if name[:-1] in SIZED and name[-1] in LETTERS:
        return name[:-1], LETTERS[name[-1]]
    raise Unknown


def _in_register(operand: str) -> bool:
    return operand.startswith(("$", "%")) and not operand.startswith(("%fs", "%gs"))


def _memory(operand: str) -> str:
    found = MEMORY.fullmatch(operand)
    if found is None or not operand:
        raise Unknown
    return operand


def register_size(register: str) -> int:
    """In bytes."""
    if re.fullmatch(r"%(?:[abcd][lh]|(?:si|di|bp|sp)l|r(?:[89]|1[0-5])b)", register):
        return 1
    if re.fullmatch(r"%(?:[abcd]x|si|di|bp|sp|r(?:[89]|1[0-5])w)", register):
        return 2
    if re.fullmatch(r"%(?:e(?:[abcd]x|si|di|bp|sp)|r(?:[89]|1[0-5])d)", register):
        return 4
    if re.fullmatch(r"%r(?:[abcd]x|si|di|bp|sp|[89]|1[0-5])", register):
        return 8
    raise Unknown
