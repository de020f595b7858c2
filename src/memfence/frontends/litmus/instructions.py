"""One cell of the table: an x86 instruction, a label, or both; operands always destination first."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.litmus import syntax
from memfence.frontends.litmus.layout import Piece, syntax_error
from memfence.program.expressions import BinaryOp
from memfence.source import Span

_FAMILIES = ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp", *(f"r{n}" for n in range(8, 16)))
_REGISTER = re.compile(r"%?(?:[er]?(?P<old>ax|bx|cx|dx|si|di|bp|sp)|(?P<new>r(?:8|9|1[0-5]))d?)\Z", re.IGNORECASE)
_NUMBER = re.compile(r"\$?(-?(?:0[xX][0-9a-fA-F]+|\d+))\Z")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_MEMORY = re.compile(r"\[\s*([^\[\]]*?)\s*\]\Z|\(\s*([^()]*?)\s*\)\Z|([A-Za-z_]\w*)\s*\(\s*%rip\s*\)\Z", re.IGNORECASE)
_LABEL = re.compile(r"([A-Za-z_.]\w*)\s*:")

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
_LARGEST, _WORD = 2**31, 2**64


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


def read_number(text: str, span: Span, errors: list[Diagnostic]) -> int | None:
    """The value of a decimal or hexadecimal number, with or without `$`; None if `text` is not one.

    Values are signed and have 32 bits. A 64-bit word with the bits of such a value, `0xffffffffffffffff`, is that one.
    """
    found = _NUMBER.match(text)
    if found is None:
        return None
    digits = found[1]
    # A number with many digits is refused by its length: converting it would take quadratic time.
    value = int(digits, 0 if "x" in digits.lower() else 10) if len(digits) <= 21 else _WORD
    if _WORD - _LARGEST <= value < _WORD:
        return value - _WORD
    if -_LARGEST <= value < _LARGEST:
        return value
    hint = "values are signed here, with 32 bits"
    if _LARGEST <= value < 2 * _LARGEST:
        hint = f"values are signed here: write `{value - 2 * _LARGEST}` for the 32-bit word with these bits"
    what = f"`{digits[:40]}` does not fit in 32 bits"
    errors.append(Diagnostic(Code.TOO_LARGE, what, Label(span), hint=hint))
    return 0


def read_cell(cell: Piece, architecture: str, errors: list[Diagnostic]) -> list[syntax.Instruction | syntax.LabelHere]:
    """What a cell says; nothing for an empty one. Mistakes go to `errors`."""
    result: list[syntax.Instruction | syntax.LabelHere] = []
    text, start = cell.text, cell.span.start
    source = cell.span.source
    while found := _LABEL.match(text):
        rest = text[found.end() :].lstrip()
        span = source.span(start, start + len(found[1]))
        result.append(syntax.LabelHere(found[1], span))
        start += len(text) - len(rest)
        text = rest
    if text:
        instruction = _read_instruction(Piece(text, source.span(start, start + len(text))), architecture, errors)
        if instruction is not None:
            result.append(instruction)
    return result


def _read_instruction(cell: Piece, architecture: str, errors: list[Diagnostic]) -> syntax.Instruction | None:
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
        return syntax.Instruction("NOP", (), bool(found[1]), cell.span)
    pieces = _operand_pieces(cell, found.end())
    if mnemonic in SHIFTS and len(pieces) == 1:  # by 1
        by_one = Piece("$1", pieces[0].span)
        pieces = [pieces[0], by_one] if architecture == "X86" else [by_one, pieces[0]]
    if len(pieces) != OPERANDS[mnemonic]:
        expected = OPERANDS[mnemonic]
        what = f"`{word}` has {expected} operand{'' if expected == 1 else 's'}, not {len(pieces)}"
        errors.append(Diagnostic(Code.ARGUMENT_COUNT, what, Label(cell.span)))
        return None
    read: Callable[[Piece, list[Diagnostic]], syntax.Operand | None]
    read = _read_target if mnemonic == "JMP" or mnemonic in CONDITIONS else partial(_read_operand, architecture)
    operands = [operand for piece in pieces if (operand := read(piece, errors)) is not None]
    if len(operands) != len(pieces):
        return None
    if architecture == "X86_64":
        operands.reverse()
    instruction = syntax.Instruction(mnemonic, tuple(operands), bool(found[1]), cell.span)
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


def _operand_pieces(cell: Piece, offset: int) -> list[Piece]:
    rest = cell.text[offset:]
    if not rest.strip():
        return []
    pieces = []
    for part in rest.split(","):
        start = cell.span.start + offset + len(part) - len(part.lstrip())
        trimmed = part.strip()
        pieces.append(Piece(trimmed, cell.span.source.span(start, start + max(1, len(trimmed)))))
        offset += len(part) + 1
    return pieces


def _read_target(piece: Piece, errors: list[Diagnostic]) -> syntax.Target | None:
    if not re.match(r"[A-Za-z_.]\w*\Z", piece.text):
        errors.append(syntax_error(piece.span, f"`{piece.text}` is not a label", "jump to a label, as in `JMP L0`"))
        return None
    return syntax.Target(piece.text, piece.span)


def _read_operand(architecture: str, piece: Piece, errors: list[Diagnostic]) -> syntax.Operand | None:
    text, span = piece.text, piece.span
    number = read_number(text, span, errors)
    if number is not None:
        return syntax.Immediate(number, span)
    register = register_number(text)
    if register is not None:
        return syntax.RegisterName(register, span)
    memory = _MEMORY.match(text)
    if memory is not None:
        return _read_memory(next(group for group in memory.groups() if group is not None), span, errors)
    hint = "operands are `$1`, `EAX` or `[x]`" if architecture == "X86" else "operands are `$1`, `%rax` or `(x)`"
    if _NAME.match(text):
        hint = f"write `[{text}]` for the memory location `{text}`"
    errors.append(syntax_error(span, f"`{text}` is not an operand", hint))
    return None


def _read_memory(inside: str, span: Span, errors: list[Diagnostic]) -> syntax.Operand | None:
    register = register_number(inside)
    if register is not None:
        return syntax.Indirect(syntax.RegisterName(register, span), span)
    if _NAME.match(inside):
        return syntax.Location(inside, span)
    what = f"the address `{inside}` is neither a name nor a register"
    errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(span), hint="use one name a memory location, as in `[x]`"))
    return None


def _problem_of(instruction: syntax.Instruction, word: str) -> tuple[str, str | None] | None:
    """What x86 does not allow about the operands."""
    operands = instruction.operands
    memory = [operand for operand in operands if isinstance(operand, syntax.Location | syntax.Indirect)]
    destination = operands[0] if operands else None
    if len(memory) > 1:
        return f"`{word}` cannot access two memory locations", "go through a register"
    if isinstance(destination, syntax.Immediate) and instruction.mnemonic != "CMP":
        return f"`{word}` cannot write to a constant", "X86 names the destination first, X86_64 last"
    if instruction.mnemonic in ("XCHG", "XADD", "CMPXCHG") and isinstance(operands[1], syntax.Immediate):
        return f"`{word}` needs a register to exchange with", "put the constant into a register first"
    if instruction.mnemonic in ("XADD", "CMPXCHG") and not isinstance(operands[1], syntax.RegisterName):
        return f"the source of `{word}` must be a register", None
    if instruction.locked and instruction.mnemonic not in _LOCKABLE:
        return f"`{word}` cannot have a LOCK prefix", "`XCHG` is an atomic write"
    if instruction.locked and not memory:
        return "a LOCK prefix needs a memory operand", None
    return None
