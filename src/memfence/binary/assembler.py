"""Fences that the instrumentation does not see: intrinsics and inline assembler, found in the assembler text.

A full fence becomes a call of the runtime that keeps all registers. Where a thread asks for its thread-local variables,
the runtime adds where they are: threads are fibers, and each has its own at addresses of its own. What orders nothing
under TSO (`pause`, `sfence`) stays. Any other inline assembler is refused: what it does to memory would go unseen.
"""

from __future__ import annotations

import re
from pathlib import Path

from memfence.binary.announced_writes import with_whole_writes
from memfence.binary.clean_frames import with_clean_frames
from memfence.codes import Code
from memfence.diagnostics import Diagnostic, Label
from memfence.failures import ERROR
from memfence.source import SourceText

THREAD_BASE = re.compile(r"(?P<how>movq|addq)\s+%fs:0,\s*(?P<register>%r\w+)")
OTHER_THREAD_BASE = re.compile(r"[^#\"]*%fs:(?!40\b)")
"""`%fs:40` is what stack protectors compare with."""
FENCE_CALL = "\tcall\t__memfence_fence@PLT"
ERROR_LABELS = tuple(f"{name}:" for name in ERROR.names)
ERROR_CALL = "\n\tcall\t__memfence_error@PLT"
"""A program of SV-COMP that defines `reach_error` itself fails there, whatever the function does."""
FULL_FENCE = re.compile(r"mfence|lock\s*;?\s*(?:or|add)[lqbw]?\s+\$0(?:x0)?\s*,\s*(?:-?\w+)?\(%[re]sp\)")
HARMLESS = re.compile(r"pause|rep\s*;?\s*nop|nop[wl]?|sfence|lfence|\.\S.*|[\w.$]+:|#.*")
PLACE = re.compile(r'#\s*(?P<line>\d+)\s+"(?P<path>[^"]*)"')


def with_visible_fences(text: str) -> tuple[str, list[Diagnostic]]:
    """The text with calls instead of full fences, and what in it cannot be explored."""
    lines, refused = [], []
    inside, path, number = False, "", 0
    for line in with_whole_writes(text.splitlines()):
        word = line.strip()
        if word in ("#APP", "#NO_APP"):
            inside = word == "#APP"
        elif inside and (place := PLACE.match(word)):
            path, number = place["path"], int(place["line"])
        pieces = [_instruction(piece) for piece in _pieces(word)] if inside else []
        if base := THREAD_BASE.fullmatch(_bare(word)):
            line = _moved_base(base["how"], base["register"])
        elif OTHER_THREAD_BASE.match(word):
            refused.append(_refusal(path, number, _bare(word)))
        elif FULL_FENCE.fullmatch(_bare(word)):
            line = FENCE_CALL
        elif _bare(word) in ERROR_LABELS:
            line += ERROR_CALL
        elif bad := next((piece for piece in pieces if piece is not None), None):
            refused.append(_refusal(path, number, bad if len(pieces) == 1 else _bare(word)))
        lines.append(line)
    return "\n".join(with_clean_frames(lines)) + "\n", refused


def _moved_base(how: str, register: str) -> str:
    """All other registers and the flags stay; the code has no red zone."""
    spare = "%rcx" if register == "%rax" else "%rax"
    steps = (
        f"{how} %fs:0, {register}", "pushfq", f"pushq {spare}", f"movq memfence_variables@GOTPCREL(%rip), {spare}",
        f"addq ({spare}), {register}", f"popq {spare}", "popfq",
    )  # fmt: skip
    return "\n".join(f"\t{step}" for step in steps)


def _bare(line: str) -> str:
    return line.partition("#")[0].strip().rstrip(";").strip()


def _pieces(line: str) -> list[str]:
    """`lock; orl ...` and `rep; nop` are one instruction each."""
    bare = _bare(line)
    if FULL_FENCE.fullmatch(bare) or HARMLESS.fullmatch(bare):
        return [bare]
    return [piece.strip() for piece in re.split(r";|\\n", bare)]


def _instruction(piece: str) -> str | None:
    """The instruction, if it is one that cannot be explored."""
    known = not piece or FULL_FENCE.fullmatch(piece) or HARMLESS.fullmatch(piece)
    return None if known else piece


def _refusal(path: str, line: int, instruction: str) -> Diagnostic:
    source = _read(path)
    start = source.start_of_line(line)
    end = source.text.find("\n", start)
    span = source.span(start, len(source.text) if end < 0 else end)
    shown = " ".join(instruction.split())
    return Diagnostic(
        Code.UNSUPPORTED,
        f"inline assembler `{shown}` cannot be explored: its effect on memory is not known",
        Label(span),
        hint="use the compiler's atomic builtins instead; `mfence`, `pause` and empty assembler are understood",
    )


def _read(path: str) -> SourceText:
    try:
        return SourceText(path, Path(path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return SourceText(path or "<assembler>", "\n")
