"""Small programs with a claim each, and the certificates that prove them: every kind of section there is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from memfence.api.certify import certify_fix
from memfence.api.fix import fix
from memfence.certificates.checker.question import question_of
from memfence.certificates.format.header import Claim
from memfence.certificates.writer.certify import certify
from memfence.certificates.writer.dual import dual_chunks
from memfence.pipeline import load, load_text
from memfence.program.ir import Program
from memfence.source import SourceText
from memfence.synthesis.result import FixResult
from memfence.tasks.criterion import Criterion
from memfence.tasks.evidence import Fixpoint, Implied
from memfence.tasks.limits import Limits
from support.certificates import Chunks, beginning, chunks_of, container

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
BOTH = """#include "memfence.h"
byte x, y; active proctype P() { byte a; x = 1; FENCE a = y; a = 0 }
active proctype Q() { byte b; y = 1; FENCE b = x; b = 0 }
"""
FENCED = BOTH.replace("FENCE", "mfence();")
PLAIN = BOTH.replace("FENCE", "").replace("a = 0", "assert(a + x < 9)")
APART = "byte x, y; active proctype P() { x = 1; x = 2 } active proctype Q() { byte r; y = 1; r = y }"
RACY = """#include "memfence.h"
byte x, y; active proctype P() { x = 1; sfence(); y = 1 } active proctype Q() { byte b; b = y; b = x }
"""
FOREVER = (
    "byte x, y; active proctype P() { do :: x = 1; y = 1 od } active proctype Q() { byte r; do :: r = x; r = y od }"
)
SHORT = "bit x, y; active proctype P() { bit a; x = 1; x = 1; a = y } active proctype Q() { y = 1 }"
TURNS = "bit x; active proctype P() { do :: x == 0 -> x = 1 :: x == 1 -> x = 0 od }"
GUARDED = """byte x, y, n; active proctype P() { x = 1; (y == 0) -> n = n + 1; assert(n == 1); n = n - 1 }
active proctype Q() { y = 1; (x == 0) -> n = n + 1; assert(n == 1); n = n - 1 }
"""
COPIES = """#include "memfence.h"
bit x, y; byte seen; active proctype Q() { y = 1; seen = x } active [3] proctype P() { bit a; x = 1; mfence(); a = y }
"""


@dataclass(frozen=True)
class Sample:
    """A kind of section, a program, and a claim that it proves."""

    kind: str
    text: str
    claim: Claim

    @property
    def program(self) -> Program:
        return _program(self.kind, self.text)


SAMPLES = [
    Sample("invariant", FENCED, Claim(model="tso", forbid=("P.a == 2",))),
    Sample("outcomes", "store_buffering.litmus", Claim(model="sc")),
    Sample("automata", FOREVER, Claim(model="tso", forbid=("x == 2",))),
    Sample("race-free", APART, Claim(model="tso", criterion="drf")),
    Sample("persistent", FENCED, Claim(model="tso", criterion="persistent")),
    Sample("implied", FENCED, Claim(model="tso", forbid=("P.a == 2",))),
    Sample("robust", FENCED, Claim(model="tso", criterion="robust")),
    Sample("robust", RACY, Claim(model="pso", criterion="robust")),
    Sample("triangular", FENCED, Claim(model="tso", criterion="trf")),
    Sample("state-robust", FENCED, Claim(model="tso", criterion="state-robust")),
    Sample("state-robust", FENCED, Claim(model="pso", criterion="state-robust")),
    Sample("invariant", COPIES, Claim(model="tso", bound=1, forbid=("seen == 2",))),
    Sample("robust", COPIES.replace("seen = x", "skip"), Claim(model="tso", criterion="robust")),
    Sample("sc-itself", PLAIN, Claim(model="sc", criterion="robust")),
    Sample("ranks", TURNS, Claim(model="tso", bound=1, ltl="[] <> (x == 0)", fair=True)),
    Sample("ranks", FENCED, Claim(model="pso", bound=1, ltl="<> [] (x == 1)")),
    Sample("dual", SHORT, Claim(model="tso", forbid=("P@#0 && P.a == 1 && Q@#1",))),
    Sample("minimum", GUARDED, Claim(model="tso")),
    Sample("minimum", BOTH.replace("FENCE", ""), Claim(model="tso", criterion="persistent")),
]


@cache
def _program(kind: str, text: str) -> Program:
    if text.endswith(".litmus"):
        return load(EXAMPLES / text)
    path = str(EXAMPLES / "sample.pml")
    if kind == "minimum":
        fixed = _fixed(text, "safety" if text == GUARDED else "persistent")
        assert fixed.patched is not None
        return load_text(SourceText(path, fixed.patched))
    return load_text(SourceText(path, text))


def _fixed(text: str, criterion: str) -> FixResult:
    """Made anew each time: it holds objects of the core, and a cache would keep them until the interpreter is gone."""
    fixed = fix(load_text(SourceText(str(EXAMPLES / "sample.pml"), text)), criterion=criterion)
    assert isinstance(fixed, FixResult)
    return fixed


@cache
def made(sample: Sample, folder: Path) -> Chunks:
    path = folder / "proof.mfc"
    if sample.kind == "minimum":
        keywords = {} if sample.claim.criterion == "safety" else {"criterion": sample.claim.criterion}
        proof = certify_fix(_fixed(sample.text, sample.claim.criterion), path, verified=False, **keywords)
        assert proof is not None and proof.not_minimum is None and proof.written is not None
    elif sample.kind == "dual":
        section = dual_chunks(question_of(sample.claim, sample.program), Limits())
        path.write_bytes(container([*beginning(sample.program, sample.claim), *section]))
    else:
        evidence = {"implied": Implied(Criterion.PERSISTENT, True), "automata": Fixpoint(0)}
        certify(sample.program, sample.claim, path, Limits(), evidence=evidence.get(sample.kind))
    return chunks_of(path.read_bytes())
