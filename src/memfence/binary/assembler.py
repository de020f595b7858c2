"""Fences that the instrumentation does not see: intrinsics and inline assembler, found in the assembler text.

A full fence becomes a call of the runtime that keeps all registers. Where a thread asks for its thread-local variables,
the runtime adds where they are: threads are fibers, and each has its own at addresses of its own. What orders nothing
(`pause`, `lfence`) stays, and accesses of inline assembler are announced (inline_assembly.py). What other
inline assembler does to memory would go unseen: an execution that comes to it is not followed.
"""

from __future__ import annotations

import re
from pathlib import Path

from memfence.binary.announced_writes import with_whole_writes
from memfence.binary.clean_frames import with_clean_frames
from memfence.binary.inline_assembly import PREFIX, Unknown, announced, statements, store_fence, unknown
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
SAME_FLAGS = "\tcmpl\t%eax, %eax"
HARMLESS = re.compile(r"pause|rep\s*;?\s*nop|nop[wl]?|lfence|ud2|prefetch\w*\s.*|\.(?!intel_syntax)\S.*|[\w.$]+:|#.*")
PLACE = re.compile(r'#\s*(?P<line>\d+)\s+"(?P<path>[^"]*)"')


def with_visible_fences(text: str) -> tuple[str, list[Diagnostic]]:
    """The text with calls instead of full fences, and what in it cannot be explored."""
    lines: list[str] = []
    refused: list[Diagnostic] = []
    block: InlineBlock | None = None
    in_function = False
    for line in with_whole_writes(text.splitlines()):
        word = line.strip()
        if word.startswith((".cfi_startproc", ".cfi_endproc")):
            in_function = word.startswith(".cfi_startproc")
        if word in ("#APP", "#NO_APP"):
            lines += block.ended(refused) if block is not None else []
            block = InlineBlock(in_function) if word == "#APP" else None
        if base := THREAD_BASE.fullmatch(bare(word)):
            line = moved_base(base["how"], base["register"])
        elif OTHER_THREAD_BASE.match(word):
            refused.append(_refusal(block.path if block else "", block.number if block else 0, bare(word)))
        elif FULL_FENCE.fullmatch(bare(word)):
            line = FENCE_CALL
        elif bare(word) == "sfence":
            line = "\n".join(store_fence())
        elif bare(word) in ERROR_LABELS:
            line += ERROR_CALL
        elif block is not None and word != "#APP":
            line = block.read(line, refused)
        lines.append(line)
    return "\n".join(with_clean_frames("\n".join(lines).splitlines())) + "\n", refused


class InlineBlock:
    """Inline assembler between `#APP` and `#NO_APP`: where the user's text has it, and what was read of it."""

    def __init__(self, in_function: bool) -> None:
        self.path, self.number = "", 0
        self._in_function = in_function
        self._known_flags = not in_function
        self._prefix = ""

    def read(self, line: str, refused: list[Diagnostic]) -> str:
        """The line as it is to stand there."""
        word = line.strip()
        if place := PLACE.match(word):
            self.path, self.number = place["path"], int(place["line"])
            return line
        found = statements(f"{self._prefix} {bare(word)}" if self._prefix else bare(word))
        self._prefix = found.pop() if found and PREFIX.fullmatch(found[-1]) else ""
        if not found or all(HARMLESS.fullmatch(one) for one in found):
            return line if not self._prefix else ""
        return "\n".join(piece for one in found for piece in self._statement(one, refused))

    def ended(self, refused: list[Diagnostic]) -> list[str]:
        """What is left over: a prefix without an instruction."""
        if self._prefix:
            refused.append(_refusal(self.path, self.number, self._prefix))
        return []

    def _statement(self, statement: str, refused: list[Diagnostic]) -> list[str]:
        label, _, rest = statement.rpartition(": ")
        if FULL_FENCE.fullmatch(rest):
            return [f"{label}:"] * bool(label) + [FENCE_CALL]
        if rest == "sfence":
            return [f"{label}:"] * bool(label) + store_fence()
        if HARMLESS.fullmatch(rest):
            return [f"\t{statement}"]
        try:
            made = announced(statement)
        except Unknown:
            if not self._in_function or statement.startswith("."):
                refused.append(_refusal(self.path, self.number, statement))
                return []
            made = unknown(statement)
        # Where the assembler begins, flags are left over from elsewhere. They count as what a thread knows.
        first = [] if self._known_flags or label else [SAME_FLAGS]
        self._known_flags = True
        return first + made


def moved_base(how: str, register: str) -> str:
    """All other registers and the flags stay; the code has no red zone."""
    spare = "%rcx" if register == "%rax" else "%rax"
    steps = (
        f"{how} %fs:0, {register}", "pushfq", f"pushq {spare}", f"movq memfence_variables@GOTPCREL(%rip), {spare}",
        f"addq ({spare}), {register}", f"popq {spare}", "popfq",
    )  # fmt: skip
    return "\n".join(f"\t{step}" for step in steps)


def bare(line: str) -> str:
    return line.partition("#")[0].strip().rstrip(";").strip()


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
        hint="use the compiler's atomic builtins; moves, `xchg`, locked instructions and `mfence` are understood",
    )


def _read(path: str) -> SourceText:
    try:
        return SourceText(path, Path(path).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return SourceText(path or "<assembler>", "\n")
