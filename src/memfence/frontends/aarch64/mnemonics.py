"""Which instructions of AArch64 are known, what operands they have and in which order they access memory."""

from __future__ import annotations

from memfence.program.expressions import BinaryOp
from memfence.program.ir import RmwKind
from memfence.program.orders import MemoryOrder
from memfence.records import Record

LOADS: dict[str, MemoryOrder] = {
    "LDR": MemoryOrder.RELAXED,
    "LDAPR": MemoryOrder.ACQUIRE,
    "LDAR": MemoryOrder.SEQ_CST,
    "LDXR": MemoryOrder.RELAXED,
    "LDAXR": MemoryOrder.SEQ_CST,
}
STORES: dict[str, MemoryOrder] = {"STR": MemoryOrder.RELAXED, "STLR": MemoryOrder.RELEASE}
CONDITIONAL_STORES: dict[str, MemoryOrder] = {"STXR": MemoryOrder.RELAXED, "STLXR": MemoryOrder.RELEASE}
ARITHMETIC: dict[str, BinaryOp] = {
    "ADD": "+", "SUB": "-", "AND": "&", "ORR": "|", "EOR": "^", "MUL": "*", "LSL": "<<", "LSR": ">>", "ASR": ">>",
    "SUBS": "-", "ANDS": "&",
}  # fmt: skip
CONDITIONS: dict[str, BinaryOp] = {
    "B.EQ": "==", "B.NE": "!=", "B.LT": "<", "B.LE": "<=", "B.GT": ">", "B.GE": ">=",
}  # fmt: skip
DOMAINS = {"SY": "SY", "ISH": "SY", "LD": "LD", "ISHLD": "LD", "ST": "ST", "ISHST": "ST"}
"""What a DMB may name: the inner shareable domain is the whole machine here."""

_ATOMICS: dict[str, RmwKind] = {
    "ADD": "add", "CLR": "and", "SET": "or", "EOR": "xor", "SMAX": "max", "SMIN": "min",
}  # fmt: skip
_ORDERS = {
    "": MemoryOrder.RELAXED, "A": MemoryOrder.ACQUIRE, "L": MemoryOrder.RELEASE, "AL": MemoryOrder.ACQ_REL,
}  # fmt: skip


class Atomic(Record):
    """A read-modify-write in one instruction. `negated`: LDCLR clears the bits of its operand."""

    kind: RmwKind
    order: MemoryOrder
    keeps_old: bool = True
    negated: bool = False


ATOMICS: dict[str, Atomic] = {
    **{f"SWP{suffix}": Atomic("exchange", order) for suffix, order in _ORDERS.items()},
    **{f"CAS{suffix}": Atomic("compare_exchange", order) for suffix, order in _ORDERS.items()},
    **{
        f"LD{word}{suffix}": Atomic(kind, order, negated=word == "CLR")
        for word, kind in _ATOMICS.items()
        for suffix, order in _ORDERS.items()
    },
    **{
        f"ST{word}{suffix}": Atomic(kind, _ORDERS[suffix], keeps_old=False, negated=word == "CLR")
        for word, kind in _ATOMICS.items()
        for suffix in ("", "L")
    },
}

OPERANDS: dict[str, str] = {
    "MOV": "rv", "MVN": "rv", "NEG": "rv", "CMP": "rv", "TST": "rv", "B": "t", "CBZ": "rt", "CBNZ": "rt", "DMB": "d",
    "ISB": "", "NOP": "", "RET": "",
    **dict.fromkeys(ARITHMETIC, "rrv"), **dict.fromkeys(CONDITIONS, "t"),
    **dict.fromkeys(LOADS, "rm"), **dict.fromkeys(STORES, "rm"), **dict.fromkeys(CONDITIONAL_STORES, "rrm"),
    **{name: "rrm" if atomic.keeps_old else "rm" for name, atomic in ATOMICS.items()},
}  # fmt: skip
"""For each operand a letter: register, value (register or constant), memory, target of a jump, domain of a barrier."""

EXAMPLES = {
    "r": "a register such as `W0`",
    "v": "a register such as `W0` or a constant such as `#1`",
    "m": "an address such as `[X1]`",
    "t": "a label",
    "d": "one of SY, LD, ST",
}

WITH_OFFSET = ("LDR", "STR")
"""The only accesses whose address may have two parts."""


def written_registers(mnemonic: str) -> tuple[int, ...]:
    """Which operands, by position, are registers that the instruction changes."""
    if mnemonic in ATOMICS:
        atomic = ATOMICS[mnemonic]
        return (0,) if atomic.kind == "compare_exchange" else (1,) if atomic.keeps_old else ()
    if (
        mnemonic in ("MOV", "MVN", "NEG")
        or mnemonic in ARITHMETIC
        or mnemonic in LOADS
        or mnemonic in CONDITIONAL_STORES
    ):
        return (0,)
    return ()
