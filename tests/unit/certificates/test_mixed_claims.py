"""A certificate of a program that states something of single states and of whole runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.command_line import memfence

MAILBOX = """
byte value; bool full; byte got;
active proctype Producer() { value = 42; full = true }
active proctype Consumer() { full; got = value; assert(got == 42) }
ltl arrives { <> (got == 42) }
"""


@pytest.mark.parametrize("checker", ["python", "native"])
@pytest.mark.parametrize("options", [(), ("--buffer-bound", "1"), ("--model", "pso")])
def test_assertions_beside_a_formula_are_proved(tmp_path: Path, options: tuple[str, ...], checker: str) -> None:
    """The formula bounds each variable, not the queue, so that the rows of the invariant need room for all of them."""
    (tmp_path / "mailbox.pml").write_text(MAILBOX)
    proof = tmp_path / "mailbox.mfc"
    made = memfence("check", tmp_path / "mailbox.pml", *options, "--certificate", proof)
    verdict = "VIOLATED" if "pso" in options else "HOLDS"
    assert verdict in made.stdout
    if verdict == "HOLDS":
        checked = memfence("verify", proof, tmp_path / "mailbox.pml", "--checker", checker)
        assert checked.returncode == 4 and "VALID UP TO BOUNDS" in checked.stdout  # as many stores as the model has
