"""The Python and Promela on pages of the guide does what the page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memfence

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (GUIDE / page).read_text(), re.MULTILINE | re.DOTALL)


def test_the_blocks_of_the_python_page_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = blocks("python.md", "python")
    assert len(found) == 5
    names: dict[str, object] = {}
    for block in found:
        exec(block, names)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
def test_the_model_on_the_page_about_atomics_holds(model: str) -> None:
    (text,) = blocks("from-atomics.md", "c")
    result = memfence.check(memfence.SourceText("lock.pml", text), model=model)
    assert result.verdict == "holds" and not result.vacuity


def test_the_glossary_explains_the_words_of_the_reports() -> None:
    text = (GUIDE / "glossary.md").read_text()
    for word in ("Commit", "Overtaking", "Pending", "Fence", "Final state", "Scope", "Happens-before", "Robust"):
        assert f"**{word}" in text
