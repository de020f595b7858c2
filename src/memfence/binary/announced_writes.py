"""Writes that gcc's instrumentation announces too early, found in the assembler text.

Each access is announced by a call before it is made. There are two statements of which that is not the whole truth:

* `to = from` for structures announces the store, then the load, and then does both: the load comes first.
* A store to a bit-field is announced as a store alone, and loads the bits around it first.

Their calls get names of their own, and the runtime makes the steps in the order in which they happen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

WRITE = re.compile(
    r"(?P<call>\s*call\s+)__tsan_(?P<kind>(?:unaligned_)?(?:volatile_)?write(?:\d+|_range))(?P<rest>\b.*)"
)
READ = re.compile(r"\s*call\s+__tsan_(?:unaligned_)?(?:volatile_)?read(?:\d+|_range)\b")
INSTRUCTION = re.compile(r"\s*(?P<name>[a-z]\w*)(?:\s+(?P<operands>[^#]*))?")
ENDS = re.compile(r"\s*(?:call|j\w+|ret\w*)\b|\s*[\w.$]+:")
ONLY_READS = ("cmp", "test", "push", "bt", "fld", "fild", "prefetch", "nop", "lea")
OPERAND_BREAK = re.compile(r",(?![^()]*\))")


def with_whole_writes(lines: Sequence[str]) -> Iterator[str]:
    """The lines, with other names for calls that announce more than a store."""
    for number, line in enumerate(lines):
        match = WRITE.fullmatch(line)
        yield line if match is None else _renamed(match, lines, number)


def _renamed(write: re.Match[str], lines: Sequence[str], number: int) -> str:
    seen: list[str] = []
    end = ""
    for line in lines[number + 1 :]:
        if ENDS.match(line):
            end = line
            break
        seen.append(line)
    stored = [(i, target) for i, line in enumerate(seen) if (target := _stored_to(line)) is not None]
    if not stored and READ.match(end):
        return f"{write['call']}__memfence_copy_{write['kind']}{write['rest']}"
    if any(_updates(seen[i]) or any(_loads_from(line, target) for line in seen[:i]) for i, target in stored):
        return f"{write['call']}__memfence_update_{write['kind']}{write['rest']}"
    return write[0]


def _parts(line: str) -> tuple[str, list[str]]:
    match = INSTRUCTION.match(line)
    if match is None:
        return "", []
    return match["name"], [
        operand.strip() for operand in OPERAND_BREAK.split(match["operands"] or "") if operand.strip()
    ]


def _stored_to(line: str) -> str | None:
    """The memory that the instruction stores to, as it is written; "" where it does not say."""
    name, operands = _parts(line)
    if name.startswith("rep") or (name.startswith(("stos", "movs")) and not operands):
        return ""
    if not operands or name.startswith(ONLY_READS) or operands[-1].startswith(("%", "$")):
        return None
    return operands[-1]


def _updates(line: str) -> bool:
    return _parts(line)[0].startswith(("and", "or", "xor", "add", "sub", "inc", "dec", "not", "neg"))


def _loads_from(line: str, place: str) -> bool:
    _, operands = _parts(line)
    return bool(place) and place in operands[:-1]
