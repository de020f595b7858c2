"""One cell of the table: an AArch64 instruction, a label, or both."""

from __future__ import annotations

import re

from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label, did_you_mean
from memfence.frontends.aarch64.mnemonics import DOMAINS, EXAMPLES, OPERANDS, WITH_OFFSET
from memfence.frontends.aarch64.syntax import ZERO, Domain, Immediate, Instruction, Memory, Operand, RegisterName, Value
from memfence.frontends.herd.cells import operand_pieces, read_target, split_labels
from memfence.frontends.herd.dialect import Dialect
from memfence.frontends.herd.layout import Piece, syntax_error
from memfence.frontends.herd.numbers import read_number
from memfence.frontends.herd.syntax import LabelHere

_REGISTER = re.compile(r"[WX](?:(?P<number>[0-9]|[12][0-9]|30)|ZR)\Z", re.IGNORECASE)
_EXTENSION = re.compile(r"(?:SXTW|UXTW|SXTX|UXTX|(?P<shift>LSL))(?:\s*#?(?P<by>\d{1,2}))?\Z", re.IGNORECASE)
_WORD = re.compile(r"([A-Za-z][\w.]*)?")
_FOR_PEOPLE = "LDR, STR, LDAR, STLR, LDXR, STXR, LDADD, SWP, CAS, DMB, ISB, MOV, ADD, EOR, CMP, B.EQ, CBNZ, ..."


def register_number(text: str) -> int | None:
    """The number of the register called `text`; W and X names mean the same register."""
    found = _REGISTER.match(text)
    if found is None:
        return None
    return ZERO if found["number"] is None else int(found["number"])


def register_name(number: int, architecture: str = "AArch64") -> str:
    """How the register is called in final states."""
    return f"X{number}" if number != ZERO else "XZR"


DIALECT = Dialect(("AArch64",), register_number, register_name, "#", "0:X1", "X0 to X30, or W0 to W30")


def read_cell(cell: Piece, architecture: str, errors: list[Diagnostic]) -> list[Instruction | LabelHere]:
    """What a cell says; nothing for an empty one. Mistakes go to `errors`."""
    labels, rest = split_labels(cell)
    instruction = _read_instruction(rest, errors) if rest.text else None
    return [*labels, instruction] if instruction is not None else [*labels]


def _read_instruction(cell: Piece, errors: list[Diagnostic]) -> Instruction | None:
    found = _WORD.match(cell.text)
    assert found is not None
    word = found[0].upper()
    if not word:
        errors.append(syntax_error(cell.span, f"`{cell.text}` is not an instruction", "write `MOV W0,#1`, for example"))
        return None
    mnemonic = f"B.{word[1:]}" if len(word) == 3 and f"B.{word[1:]}" in OPERANDS else word
    if mnemonic not in OPERANDS:
        hint = did_you_mean(word, list(OPERANDS), f"memfence knows {_FOR_PEOPLE}")
        span = cell.span.source.span(cell.span.start, cell.span.start + len(word))
        errors.append(Diagnostic(Code.UNSUPPORTED, f"the instruction `{word}` is not known", Label(span), hint=hint))
        return None
    pieces = _joined_extension(operand_pieces(cell, found.end()))
    if mnemonic == "ISB" and len(pieces) == 1 and pieces[0].text.upper() == "SY":
        pieces = []
    shape = OPERANDS[mnemonic]
    if len(pieces) != len(shape):
        what = f"`{word}` has {len(shape)} operand{'' if len(shape) == 1 else 's'}, not {len(pieces)}"
        errors.append(Diagnostic(Code.ARGUMENT_COUNT, what, Label(cell.span)))
        return None
    read = [_read_operand(kind, piece, errors) for kind, piece in zip(shape, pieces, strict=True)]
    operands = [operand for operand in read if operand is not None]
    if len(operands) != len(shape) or not _allows(mnemonic, operands, errors):
        return None
    return Instruction(mnemonic, tuple(operands), cell.span)


def _joined_extension(pieces: list[Piece]) -> list[Piece]:
    """`W2,SXTW` at the end is one operand."""
    if len(pieces) < 2 or not _EXTENSION.match(pieces[-1].text):
        return pieces
    register, extension = pieces[-2:]
    span = register.span.source.span(register.span.start, extension.span.end)
    return [*pieces[:-2], Piece(f"{register.text},{extension.text}", span)]


def _read_operand(kind: str, piece: Piece, errors: list[Diagnostic]) -> Operand | None:
    match kind:
        case "t":
            return read_target(piece, "B L0", errors)
        case "d" if piece.text.upper() in DOMAINS:
            return Domain(DOMAINS[piece.text.upper()], piece.span)
        case "m" if piece.text.startswith("[") and piece.text.endswith("]"):
            return _read_memory(piece, errors)
        case "v":
            return _read_value(piece, errors)
        case "r" if (number := register_number(piece.text)) is not None:
            return RegisterName(number, piece.span)
    hint = f"expected {EXAMPLES[kind]}"
    errors.append(syntax_error(piece.span, f"`{piece.text}` cannot stand here", hint))
    return None


def _read_value(piece: Piece, errors: list[Diagnostic]) -> Value | None:
    constant = read_number(piece.text, piece.span, errors, "#")
    if constant is not None:
        return Immediate(constant, piece.span)
    name, _, extension = (part.strip() for part in piece.text.partition(","))
    number, found = register_number(name), _EXTENSION.match(extension)
    if number is not None and not extension:
        return RegisterName(number, piece.span)
    if number is not None and found is not None and int(found["by"] or 0) < 32:
        return RegisterName(number, piece.span, int(found["by"] or 0))
    errors.append(syntax_error(piece.span, f"`{piece.text}` cannot stand here", f"expected {EXAMPLES['v']}"))
    return None


def _read_memory(piece: Piece, errors: list[Diagnostic]) -> Memory | None:
    inside = Piece(piece.text[1:-1], piece.span.source.span(piece.span.start + 1, max(piece.span.end - 1, 1)))
    parts = _joined_extension(operand_pieces(inside, 0))
    base = register_number(parts[0].text) if 1 <= len(parts) <= 2 else None
    if base is None or base == ZERO:
        hint = "an address is a register, as in `[X1]`, or `[X1,W2,SXTW]`"
        errors.append(syntax_error(piece.span, f"`{piece.text}` is not an address", hint))
        return None
    offset = _read_value(parts[1], errors) if len(parts) == 2 else None
    if len(parts) == 2 and offset is None:
        return None
    if isinstance(offset, Immediate) and offset.value != 0:
        what = f"`{piece.text}` lies outside its variable"
        hint = "use one name a memory location, as in `[X1]`"
        errors.append(Diagnostic(Code.UNSUPPORTED, what, Label(piece.span), hint=hint))
        return None
    return Memory(RegisterName(base, parts[0].span), offset, piece.span)


def _allows(mnemonic: str, operands: list[Operand], errors: list[Diagnostic]) -> bool:
    """Whether the instruction can have these operands."""
    address = operands[-1] if operands else None
    if isinstance(address, Memory) and isinstance(address.offset, RegisterName) and mnemonic not in WITH_OFFSET:
        hint = "add the offset first, as in `ADD X4,X3,W2,SXTW`"
        errors.append(syntax_error(address.span, f"the address of `{mnemonic}` is one register", hint))
        return False
    return True
