"""The HTML report without a browser: self-contained, safe whatever the program contains, readable without a script."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from memfence.models.spec import ModelName
from memfence.pipeline import load, load_text
from memfence.questions import check
from memfence.questions.explore import ExploreOptions, explore
from memfence.questions.monitor import monitor
from memfence.report.describe.check_page import check_page
from memfence.report.describe.compare import comparison_page
from memfence.report.describe.explore import explore_page
from memfence.report.describe.fix_page import fix_page
from memfence.report.describe.monitor import monitor_page
from memfence.report.formats.html import render_html
from memfence.report.page import Page, TableView
from memfence.report.views.source_view import source_view
from memfence.source import SourceText
from memfence.synthesis.comparison import compare
from memfence.synthesis.options import FixOptions
from memfence.synthesis.synthesise import fix_fences as fix
from memfence.tasks.options import CheckOptions

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def report(example: str, model: ModelName) -> str:
    return render_html(check_page(check(load(EXAMPLES / f"{example}.pml"), CheckOptions(model=model))))


class Balanced(HTMLParser):
    """Notes every element that is not closed in order."""

    EMPTY = frozenset({"meta", "link", "input", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("model", ["sc", "tso", "pso"])
@pytest.mark.parametrize("example", ["lost_wakeup", "chase_lev", "ticket_lock"])
def test_every_element_is_closed(example: str, model: ModelName) -> None:
    parser = Balanced()
    parser.feed(report(example, model))
    assert (parser.open, parser.wrong) == ([], [])


def test_the_page_refers_to_nothing_outside_itself() -> None:
    text = report("lost_wakeup", "tso")
    assert re.findall(r"""(?:src|href)=["'](?!#|data:)""", text) == []
    assert re.findall(r"url\((?!#|\\$)(?!['\"]?#)", text.replace("url(#${", "url(#")) == []
    assert "default-src 'none'" in text


def test_verdict_source_run_and_cycle_are_readable_without_a_script() -> None:
    text = re.sub(r"<script.*?</script>", "", report("lost_wakeup", "tso"), flags=re.DOTALL)
    plain = unescape(re.sub(r"<[^>]+>", " ", text))
    for wanted in (
        "VIOLATED",
        "waiting = true",
        "the load overtook the store",
        "Happens-before cycle",
        "po, overtaken",
    ):
        assert wanted in plain


def test_nothing_in_a_program_can_become_markup() -> None:
    evil = "</script><script>alert(1)</script>"
    program = load_text(
        SourceText(f"{evil}.pml", f"/* {evil} */\nbyte x; active proctype P() {{ x = 1; assert(x == 2) /* {evil} */ }}")
    )
    text = render_html(check_page(check(program, CheckOptions(model="tso"))))
    assert evil not in text
    assert text.count("<script") == 3  # the run, the other runs, and what shows them


def test_the_embedded_run_is_the_run() -> None:
    result = check(load(EXAMPLES / "lost_wakeup.pml"), CheckOptions(model="tso"))
    text = render_html(check_page(result))
    (embedded,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    run = json.loads(embedded)
    assert result.trace is not None
    assert [step["memory"] for step in run["steps"][1:]] == [list(t.state.memory) for t in result.trace.steps]
    assert [(o["store"], o["by"]) for o in run["overtaken"]] == [(1, 3), (2, 4)]
    pending = run["steps"][4]["buffers"][1][0]
    assert [(entry["value"], entry["issued"]) for entry in pending] == [(1, 2)]


def test_the_same_page_gives_the_same_text() -> None:
    page = check_page(check(load(EXAMPLES / "lost_wakeup.pml"), CheckOptions(model="tso")))
    assert render_html(page) == render_html(page)


def test_inserted_lines_are_marked_and_the_others_keep_their_numbers() -> None:
    view = source_view(SourceText("t", "a\nb\nc\n"), {}, "a\nmfence\nb\nc\n")
    assert [(line.number, line.text, line.inserted) for line in view.lines] == [
        (1, "a", False), (None, "mfence", True), (2, "b", False), (3, "c", False),
    ]  # fmt: skip


def test_a_page_may_have_tables_only() -> None:
    table = TableView("Criteria", ("criterion", "verdict"), (("robust", "`no`"),), "see step 3")
    text = render_html(Page("t", "f", "COMPARED", "open", "all criteria", (), tables=(table,)))
    assert "<td><code>no</code></td>" in text
    assert 'data-step="3"' in text


def test_a_comparison_shows_every_criterion_and_the_source() -> None:
    text = render_html(comparison_page(compare(load(EXAMPLES / "message_passing.pml"))))
    assert "5 of 9 criteria hold" in text
    assert [text.count(f"<td>{name}</td>") for name in ("drf", "robust", "safety")] == [1, 2, 2]
    assert "no fence makes this criterion hold" in text
    assert "message_passing.pml" in text


def test_a_fix_shows_the_patched_text_and_a_run_that_needs_the_fence() -> None:
    result = fix(load(EXAMPLES / "lost_wakeup.pml"), FixOptions(model="tso", all=True))
    page = fix_page(result)
    assert page.verdict == "FIXED with 2 fences"
    assert [line.text.strip() for line in page.sources[0].lines if line.inserted] == ["mfence();", "mfence();"]
    assert page.run is not None and page.run.overtaken
    assert [table.title for table in page.tables[:2]] == ["Fences", "Every minimal set"]
    assert "A run without the mfence" in render_html(page)


def test_a_program_that_needs_no_fence_has_no_run() -> None:
    page = fix_page(fix(load(EXAMPLES / "message_passing.pml"), FixOptions(model="tso")))
    assert (page.verdict, page.tone, page.run) == ("HOLDS without a new fence", "good", None)


def test_a_borderline_execution_is_shown_as_its_run() -> None:
    page = explore_page(explore(load(EXAMPLES / "sober" / "fig1b.pml"), ExploreOptions(preemptions=1)))
    assert (page.verdict, page.tone) == ("VIOLATED", "bad")
    assert page.run is not None and page.run.overtaken and page.cycle
    assert "Borderline" in render_html(page)


def test_an_exploration_without_findings_has_no_run() -> None:
    page = explore_page(explore(load(EXAMPLES / "sober" / "fig1b_fenced.pml"), ExploreOptions()))
    assert (page.verdict, page.tone, page.run) == ("HOLDS", "good", None)
    assert "HOLDS" in render_html(page)


def test_a_monitored_trace_shows_what_to_fence(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    events = [("st", 0, "x", 1), ("ld", 0, "y", 0), ("st", 1, "y", 1), ("ld", 1, "x", 1)]
    keys = ("op", "thread", "addr", "value")
    path.write_text("".join(json.dumps(dict(zip(keys, event, strict=True))) + "\n" for event in events))
    page = monitor_page(monitor(path))
    assert [table.title for table in page.tables][-1].startswith("What to fence")
    assert "in no sequentially consistent execution" in render_html(page)
