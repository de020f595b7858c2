"""The page: nothing internal, nothing hidden, and every place leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import memfence
from support.command_line import ROOT

TEMPLATES = ROOT / "src/memfence/report/formats/templates"


@pytest.fixture(autouse=True)
def at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_places_are_labels_lines_or_the_end() -> None:
    page = memfence.check("examples/lost_wakeup.pml").to_html()
    data = re.findall(r'"locations":\[(.*?)\]', page)
    assert data and not any(re.search(r'"l\d+(_\d+)?"', one) for one in data)
    assert '"before line 13"' in data[0] and any('"asleep"' in one for one in data)


def test_places_in_sentences_lead_to_the_source() -> None:
    page = memfence.check("examples/lost_wakeup.pml").to_html()
    assert '<a class="placelink" href="#line-0-13">line 13</a>' in page
    assert 'id="line-0-13"' in page


def test_a_fix_shows_a_run_for_every_fence() -> None:
    page = memfence.fix("examples/lost_wakeup.pml").to_html()
    assert len(re.findall(r"<h2[^>]*>A run without the mfence", page)) == 2


def test_liveness_is_called_liveness() -> None:
    page = memfence.check("examples/peterson.pml", ltl="[] <> P[0]@cs").to_html()
    assert "liveness (LTL)" in page


def test_a_comparison_has_colours_and_a_legend() -> None:
    page = memfence.compare("examples/lost_wakeup.pml", fences=False).to_html()
    assert '<td class="bad">' in page and "red is violated" in page


def test_badges_do_not_lie_over_the_text_and_the_actor_is_brought_into_view() -> None:
    style, script = ((TEMPLATES / name).read_text() for name in ("report.css", "report.js"))
    marks = next(line for line in style.splitlines() if line.startswith(".marks"))
    assert "sticky" not in marks
    assert "bringIntoView(cpu)" in script


def test_the_page_of_why_is_written(tmp_path: Path) -> None:
    fixed = memfence.fix("examples/lost_wakeup.pml").patched
    assert fixed is not None
    assert "EVERY FENCE IS NEEDED" in memfence.why(memfence.SourceText("fixed.pml", fixed)).to_html()
