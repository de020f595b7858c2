"""One cell of the table: an x86 instruction, a label, or both; operands always destination first."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.herd.cells import operand_pieces, read_target, split_labels
from memfence.frontends.herd.dialect import Dialect
from memfence.frontends.herd.layout import Piece, syntax_error
from memfence.frontends.herd.numbers import read_number
from memfence.frontends.herd.syntax import LabelHere, Target
from memfence.frontends.litmus.syntax import Immediate, Indirect, Instruction, Location, Operand, RegisterName
from memfence.program.expressions import BinaryOp
from memfence.source import Span

_FAMILIES = ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp", *(f"r{n}" for n in range(8, 16)))
_REGISTER = re.compile(r"%?(?:[er]?(?P<old>ax|bx|cx|dx|si|di|bp|sp)|(?P<new>r(?:8|9|1[0-5]))d?)\Z", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_MEMORY = re.compile(r"\[\s*([^\[\]]*?)\s*\]\Z|\(\s*([^()]*?)\s*\)\Z|([A-Za-z_]\w*)\s*\(\s*%rip\s*\)\Z", re.IGNORECASE)

SHIFTS = ("SHL", "SAL", "SHR", "SAR")
ARITHMETIC = ("ADD", "SUB", "AND", "OR", "XOR", *SHIFTS)
NOTHING = ("NOP", "NOPL", "NOPW", "ENDBR64", "ENDBR32", "PAUSE")
"""Their operands, if any, are not accessed."""
CONDITIONS: dict[str, BinaryOp] = {
    "JE": "==", "JZ": "==", "JNE": "!=", "JNZ": "!=", "JL": "<", "JS": "<", "JLE": "<=", "JG": ">", "JGE": ">=",
    "JNS": ">=",
}  # fmt: skip
FENCES = ("MFENCE", "SFENCE", "LFENCE")

OPERANDS: dict[str, int] = {
    "MOV": 2, "XCHG": 2, "CMP": 2, "CMPXCHG": 2, "XADD": 2, "INC": 1, "DEC": 1, "RET": 0, "JMP": 1,
    **dict.fromkeys(NOTHING, 0),
    **dict.fromkeys(ARITHMETIC, 2), **dict.fromkeys(FENCES, 0), **dict.fromkeys(CONDITIONS, 1),
}  # fmt: skip
_LOCKABLE = frozenset({"XCHG", "CMPXCHG", "XADD", "INC", "DEC", *ARITHMETIC}) - set(SHIFTS)


def register_number(text: str) -> int | None:
    """The number of the register called `text`; 32-bit and 64-bit names mean the same register."""
    found = _REGISTER.match(text)
    if found is None:
        return None
    return _FAMILIES.index((found["old"] or found["new"]).lower())


def register_name(number: int, architecture: str) -> str:
    """How the register is called in final states."""
    family = _FAMILIES[number]
    if number >= 8:
        return family
    return f"E{family.upper()}" if architecture == "X86" else f"r{family}"


DIALECT = Dialect(
    ("X86", "X86_64"), register_number, register_name, "$", "0:EAX", "EAX, EBX, ECX, EDX, ESI, EDI, EBP, ..."
)


def read_cell(cell: Piece, architecture: str, errors: list[Diagnostic]) -> list[Instruction | LabelHere]:
    """What a cell says; nothing for an empty one. Mistakes go to `errors`."""
    labels, rest = split_labels(cell)
    instruction = _read_instruction(rest, architecture, errors) if rest.text else None
    return [*labels, instruction] if instruction is not None else [*labels]


def _read_instruction(cell: Piece, architecture: str, errors: list[Diagnostic]) -> Instruction | None:
    source, start = cell.span.source, cell.span.start
    found = re.match(r"(lock\b\s*)?([A-Za-z]\w*)?", cell.text, re.IGNORECASE)
    assert found is not None
    word = (found[2] or "").upper()
    word_span = source.span(start + found.start(2), start + found.end(2)) if word else cell.span
    mnemonic = _without_size(word)
    if not word:
        hint = "write `MOV [x],$1`, for example"
        errors.append(syntax_error(cell.span, f"`{cell.text}` is not an instruction", hint))
        return None
    if mnemonic not in OPERANDS:
        near = did_you_mean(word, list(OPERANDS), f"memfence knows {', '.join(OPERANDS)}")
        what = f"the instruction `{word}` is not known"
        errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(word_span), hint=near))
        return None
    if mnemonic in NOTHING:
        return Instruction("NOP", (), bool(found[1]), cell.span)
    pieces = operand_pieces(cell, found.end())
    if mnemonic in SHIFTS and len(pieces) == 1:  # by 1
        by_one = Piece("$1", pieces[0].span)
        pieces = [pieces[0], by_one] if architecture == "X86" else [by_one, pieces[0]]
    if len(pieces) != OPERANDS[mnemonic]:
        expected = OPERANDS[mnemonic]
        what = f"`{word}` has {expected} operand{'' if expected == 1 else 's'}, not {len(pieces)}"
        errors.append(Diagnostic(Code.ARGUMENT_COUNT, what, Label(cell.span)))
        return None
    read: Callable[[Piece, list[Diagnostic]], Operand | None]
    read = _read_target if mnemonic == "JMP" or mnemonic in CONDITIONS else partial(_read_operand, architecture)
    operands = [operand for piece in pieces if (operand := read(piece, errors)) is not None]
    if len(operands) != len(pieces):
        return None
    if architecture == "X86_64":
        operands.reverse()
    instruction = Instruction(mnemonic, tuple(operands), bool(found[1]), cell.span)
    problem = _problem_of(instruction, word)
    if problem is not None:
        errors.append(syntax_error(cell.span, *problem))
        return None
    return instruction


def _without_size(word: str) -> str:
    """`MOVL` and `MOVQ` mean `MOV`: all values are integers here. So does `MOVABSQ`, which takes 64-bit constants."""
    word = word.replace("MOVABS", "MOV")
    if word not in OPERANDS and word[:-1] in OPERANDS and word[-1] in "LQ" and OPERANDS[word[:-1]] and word[0] != "J":
        return word[:-1]
    return word


def _read_target(piece: Piece, errors: list[Diagnostic]) -> Target | None:
    return read_target(piece, "JMP L0", errors)


def _read_operand(architecture: str, piece: Piece, errors: list[Diagnostic]) -> Operand | None:
    text, span = piece.text, piece.span
    number = read_number(text, span, errors, "$")
    if number is not None:
        return Immediate(number, span)
    register = register_number(text)
    if register is not None:
        return RegisterName(register, span)
    memory = _MEMORY.match(text)
    if memory is not None:
        return _read_memory(next(group for group in memory.groups() if group is not None), span, errors)
    hint = "operands are `$1`, `EAX` or `[x]`" if architecture == "X86" else "operands are `$1`, `%rax` or `(x)`"
    if _NAME.match(text):
        hint = f"write `[{text}]` for the memory location `{text}`"
    errors.append(syntax_error(span, f"`{text}` is not an operand", hint))
    return None


def _read_memory(inside: str, span: Span, errors: list[Diagnostic]) -> Operand | None:
    register = register_number(inside)
    if register is not None:
        return Indirect(RegisterName(register, span), span)
    if _NAME.match(inside):
        return Location(inside, span)
    what = f"the address `{inside}` is neither a name nor a register"
    errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(span), hint="use one name a memory location, as in `[x]`"))
    return None


def _problem_of(instruction: Instruction, word: str) -> tuple[str, str | None] | None:
    """What x86 does not allow about the operands."""
    operands = instruction.operands
    memory = [operand for operand in operands if isinstance(operand, Location | Indirect)]
    destination = operands[0] if operands else None
    if len(memory) > 1:
        return f"`{word}` cannot access two memory locations", "go through a register"
    if isinstance(destination, Immediate) and instruction.mnemonic != "CMP":
        return f"`{word}` cannot write to a constant", "X86 names the destination first, X86_64 last"
    if instruction.mnemonic in ("XCHG", "XADD", "CMPXCHG") and isinstance(operands[1], Immediate):
        return f"`{word}` needs a register to exchange with", "put the constant into a register first"
    if instruction.mnemonic in ("XADD", "CMPXCHG") and not isinstance(operands[1], RegisterName):
        return f"the source of `{word}` must be a register", None
    if instruction.locked and instruction.mnemonic not in _LOCKABLE:
        return f"`{word}` cannot have a LOCK prefix", "`XCHG` is an atomic write"
    if instruction.locked and not memory:
        return "a LOCK prefix needs a memory operand", None
    return None
