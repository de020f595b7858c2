"""The proofs are whole: nothing is admitted, and what the documentation names is what Coq is asked about."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROOF = ROOT / "proof"
THEORIES = sorted(PROOF.glob("theories/*.v"))
SOURCES = [*THEORIES, *sorted(PROOF.glob("driver/*.ml"))]
COMPILERS = shutil.which("coqc") and shutil.which("ocamlopt")
MOST_LINES = 350
MOST_SECONDS = 300


def asked_about() -> list[str]:
    return re.findall(r"^Print Assumptions (\w+)\.", (PROOF / "theories/Assumptions.v").read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_file_of_the_proof_is_short_and_admits_nothing(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert max(map(len, text.splitlines())) <= 120
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Conjecture|Abort|Obj)\b", text)


def test_every_theorem_in_the_documentation_is_asked_about() -> None:
    page = (ROOT / "docs/theory/certificates.md").read_text()
    named = re.findall(r"^\| `(\w+)` \|", page.split("## A checker that is proved")[1].split("## ")[0], re.MULTILINE)
    assert sorted(named) == sorted(asked_about())


def test_the_makefile_names_every_file() -> None:
    text = (PROOF / "Makefile").read_text()
    listed = {
        name for line in re.findall(r"^(?:THEORIES|DRIVER) := (.*)$", text, re.MULTILINE) for name in line.split()
    }
    assert {path.stem for path in SOURCES} == listed | {"Extraction", "Assumptions"}


@pytest.mark.slow
@pytest.mark.skipif(not COMPILERS, reason="coqc or ocamlopt is not installed")
def test_the_proofs_are_closed_and_take_less_than_five_minutes(tmp_path: Path) -> None:
    started = time.perf_counter()
    done = subprocess.run(
        ["make", "-C", PROOF, f"BUILD={tmp_path}"], capture_output=True, text=True, timeout=MOST_SECONDS, check=True
    )
    assert done.stdout.count("Closed under the global context") == len(asked_about())
    assert "Axioms:" not in done.stdout
    assert time.perf_counter() - started < MOST_SECONDS
