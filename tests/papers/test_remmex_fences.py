"""Safety of the programs in Remmex's dialect needs at most as many fences as Remmex and Memorax find.

The files state no property. As their twins for Memorax do, forbid that two processes are in their critical sections at
once: the label `CS` is written before the exit from it. Others note an error in a register.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from memfence.pipeline import load_text
from memfence.program.ir import Forbidden, Program
from memfence.program.load_options import LoadOptions
from memfence.program.text.properties import parse_expression
from memfence.source import SourceText
from memfence.synthesis.options import FixOptions
from memfence.synthesis.result import FixVerdict
from support.corpus import CORPUS, needs_corpus, published
from support.fixed_programs import fixed_and_needed
from support.sampling import listed

SINGLE = CORPUS / "persist" / "single"


@dataclass(frozen=True, slots=True)
class Case:
    """Where the labels go in each proctype, before the last match of a pattern; none: `error == 1` is forbidden."""

    file: str
    labels: tuple[tuple[str, str], ...]
    fences: int

    @property
    def name(self) -> str:
        return Path(self.file).name


CASES = [
    Case("mutex/spinlock/spinlock", (("CS", r"store\(x,1"),), 0),
    Case("mutex/ticket_spin_lock/ticket_spin_lock", (("CS", r"r2 = r \+ 1"),), 0),
    Case("mutex/szymanski2/szymanski2", (("CS", r"store\(flag.,0"),), 3),
    Case("mutex/lamport2/lamport2", (("CS", r"store\(y,0"),), 4),
    Case("mutex/lamport3/lamport3", (("CS", r"store\(y,0"),), 6),
    Case("mutex/dclocking/dc_locking", (), 0),
    Case("schedule/alternating_bit_protocol/alternating_bit", (("L2", "t = 1;"), ("L3", "t = 0;")), 0),
]
SLOW = [Case("mutex/bakery3/bakery3", (("CS", r"store\(n\[i\],0"),), 6)]


def labelled(text: str, labels: tuple[tuple[str, str], ...]) -> str:
    def with_labels(proctype: str) -> str:
        for label, pattern in labels:
            *_, last = re.finditer(pattern, proctype)
            proctype = f"{proctype[: last.start()]}{label}: {proctype[last.start() :]}"
        return proctype

    declarations, *proctypes = re.split(r"(?m)^(?=proctype)", text)
    return declarations + "".join(map(with_labels, proctypes))


def question(case: Case) -> tuple[Program, FixOptions]:
    text = (SINGLE / f"{case.file}_Remmex.txt").read_text()
    program = load_text(
        SourceText(f"{case.name}_Remmex.txt", labelled(text, case.labels)), LoadOptions(language="remmex")
    )
    names = [process.name for process in program.processes]
    bad = [f"{p}@{label} && {q}@{label}" for p, q in combinations(names, 2) for label, _ in case.labels]
    bad = bad or [f"{name}.error == 1" for name in names]
    return program, FixOptions(forbid=tuple(Forbidden(parse_expression(text, program), text) for text in bad))


@needs_corpus
@listed("case", CASES, SLOW, ids=lambda case: case.name)
def test_safety_needs_at_most_the_fences_of_remmex_and_memorax(case: Case) -> None:
    result = fixed_and_needed(*question(case))
    assert result.verdict is (FixVerdict.FIXED if case.fences else FixVerdict.ALREADY_HOLDS)
    assert result.is_minimum and result.chosen.instances == case.fences
    (row,) = (r for r in published("persistence-2015-table1") if r["file"] == f"single/{case.file}")
    for tool in ("memorax_fences", "remmex_fences"):
        assert not row[tool] or case.fences <= int(row[tool])


@needs_corpus
def test_inline_pgsql_fails_under_sc_already() -> None:
    """It reads a latch and a flag in two steps: both tools' 0 is about another property."""
    result = fixed_and_needed(*question(Case("mutex/inline_pgsql/inline_pgsql", (), 0)))
    assert result.verdict is FixVerdict.IMPOSSIBLE
    assert result.trace is not None and result.trace.model == "sc"
