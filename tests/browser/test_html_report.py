"""The HTML report as a reader meets it: loaded from disk, stepped through by keys, slider and mouse, light and dark.

The screenshots of the guide are made here: `UPDATE_SCREENSHOTS=1` writes them to `docs/guide/images/`, else to a
temporary folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chromium import chromium

from memfence.models.spec import ModelName
from memfence.pipeline import load
from memfence.questions import check
from memfence.report.describe.check_page import check_page
from memfence.report.describe.fix_page import fix_page
from memfence.report.formats.html import render_html
from memfence.synthesis.options import FixOptions
from memfence.synthesis.synthesise import fix_fences as fix
from memfence.tasks.options import CheckOptions

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "guide" / "images"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Opens the report of an example; afterwards, the console must be empty."""

    def open_report(example: str, model: ModelName, anchor: str = "") -> Any:
        os.chdir(ROOT)
        result = check(load(Path(f"examples/{example}.pml")), CheckOptions(model=model))
        page = tmp_path / "report.html"
        page.write_text(render_html(check_page(result)), encoding="utf-8")
        browser.get("about:blank")
        browser.get(page.as_uri() + anchor)
        return browser

    here = Path.cwd()
    yield open_report
    os.chdir(here)
    assert browser.get_log("browser") == []


def position(page: Any) -> str:
    return str(page.find_element("id", "position").text)


def press(page: Any, key: str) -> None:
    from selenium.webdriver.common.keys import Keys

    page.find_element("tag name", "body").send_keys(getattr(Keys, key))


def said(page: Any) -> str:
    return str(page.find_element("id", "say").text)


def test_the_keyboard_steps_through_the_run(opened: Any) -> None:
    page = opened("lost_wakeup", "tso")
    assert position(page) == "0 / 4"
    for number in (1, 2, 3, 4, 4):
        press(page, "ARROW_RIGHT")
        assert position(page) == f"{number} / 4"
    assert "overtakes its own store of step 2" in said(page)
    press(page, "ARROW_LEFT")
    assert position(page) == "3 / 4"
    press(page, "HOME")
    assert position(page) == "0 / 4"
    press(page, "END")
    assert position(page) == "4 / 4"


def test_the_slider_steps_once_for_each_key(opened: Any) -> None:
    from selenium.webdriver.common.keys import Keys

    page = opened("lost_wakeup", "tso")
    slider = page.find_element("id", "slider")
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert position(page) == "2 / 4"
    assert slider.get_attribute("aria-valuetext") == "step 2 of 4"


def test_buffers_are_queues_that_fill(opened: Any) -> None:
    page = opened("lost_wakeup", "tso")
    assert [e.text for e in page.find_elements("css selector", ".queue .entry")] == []
    press(page, "END")
    assert [e.text for e in page.find_elements("css selector", ".queue .entry")] == ["waiting = 1", "work = 1"]
    assert [e.text for e in page.find_elements("css selector", ".entry.overtaken")] == ["work = 1"]
    assert len(page.find_elements("css selector", ".arrows path.overtaking")) == 1
    assert len(page.find_elements("css selector", ".lifelines .jump")) == 2


def test_buttons_rows_chips_and_sentences_lead_to_their_step(opened: Any) -> None:
    page = opened("lost_wakeup", "tso")
    page.find_element("css selector", "[data-go=next]").click()
    assert position(page) == "1 / 4"
    page.find_element("css selector", "tr[data-step='3']").click()
    assert position(page) == "3 / 4"
    page.find_element("css selector", ".chip[data-step='2']").click()
    assert position(page) == "2 / 4"
    page.find_element("css selector", ".steplink[data-step='4']").click()
    assert position(page) == "4 / 4"
    marked = page.find_elements("css selector", ".line.now mark")
    assert [m.text for m in marked] == ["else"]


def test_a_link_opens_the_report_at_its_step(opened: Any) -> None:
    assert position(opened("lost_wakeup", "tso", "#step=3")) == "3 / 4"


def test_each_final_state_of_a_litmus_test_has_a_run_to_step_through(browser: Any, tmp_path: Path) -> None:
    for model, outcomes in (("tso", 4), ("sc", 3)):
        result = check(load(ROOT / "examples/store_buffering.litmus"), CheckOptions(model=model))  # type: ignore[arg-type]
        path = tmp_path / f"{model}.html"
        path.write_text(render_html(check_page(result)), encoding="utf-8")
        browser.get(path.as_uri())
        titles = [b.text for b in browser.find_elements("css selector", ".outcome") if b.text != "The run above"]
        assert len(titles) == outcomes
        for number, title in enumerate(titles, start=1):
            browser.find_element("css selector", f".outcome[data-run='{number}']").click()
            assert title in browser.find_element("id", "run-title").text
            press(browser, "END")
            reached = " ".join(e.text for e in browser.find_elements("css selector", ".reg"))
            assert [f"EAX={value}" for value in (title[6], title[15])] == reached.split()
            shown = [t for t in browser.find_elements("css selector", ".timeline") if t.is_displayed()]
            assert len(shown) == 1 and len(shown[0].find_elements("css selector", "tr[data-step]")) > 1
    assert browser.get_log("browser") == []


def test_pso_has_a_queue_for_each_variable(opened: Any) -> None:
    page = opened("message_passing", "pso")
    press(page, "END")
    names = [e.text for e in page.find_elements("css selector", ".queue-name")]
    assert any("data" in name for name in names)
    assert any("flag" in name or "ready" in name for name in names)


def test_a_proof_has_no_stepper(opened: Any) -> None:
    page = opened("peterson", "sc")
    assert page.find_element("css selector", ".verdict").text == "HOLDS"
    assert page.find_elements("id", "slider") == []


def test_the_toggle_changes_the_colours(opened: Any) -> None:
    page = opened("lost_wakeup", "tso")
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = page.execute_script(colour)
    page.find_element("id", "theme").click()
    assert page.execute_script(colour) != before
    page.find_element("id", "theme").click()
    assert page.execute_script(colour) == before


@pytest.mark.parametrize("width", [1440, 760, 390])
def test_nothing_makes_the_page_scroll_sideways(opened: Any, width: int) -> None:
    page = opened("lost_wakeup", "tso")
    page.set_window_size(width, 1000)
    try:
        inner, content = page.execute_script("return [innerWidth, document.documentElement.scrollWidth]")
        assert content <= inner
    finally:
        page.set_window_size(1440, 1100)


def test_everything_one_can_press_has_a_name(opened: Any) -> None:
    page = opened("lost_wakeup", "tso")
    for button in page.find_elements("css selector", "button, input"):
        assert button.accessible_name, button.get_attribute("outerHTML")


@pytest.mark.parametrize(
    "name, example, model, step, theme",
    [
        ("report-tso-light", "lost_wakeup", "tso", 4, "light"),
        ("report-tso-dark", "lost_wakeup", "tso", 4, "dark"),
    ],
)
def test_a_screenshot_shows_the_whole_page(
    name: str, example: str, model: ModelName, step: int, theme: str, opened: Any, tmp_path: Path
) -> None:
    page = opened(example, model, f"#step={step}")
    page.execute_script(f"document.documentElement.dataset.theme = '{theme}'")
    check_screenshot(page, name, tmp_path)


def check_screenshot(page: Any, name: str, otherwise: Path) -> None:
    """The whole page, not only what fits the window."""
    height = page.execute_script("return document.documentElement.scrollHeight")
    page.set_window_size(1440, height + 140)
    folder = IMAGES if os.environ.get("UPDATE_SCREENSHOTS") else otherwise
    folder.mkdir(parents=True, exist_ok=True)
    assert page.save_screenshot(str(folder / f"{name}.png"))
    page.set_window_size(1440, 1100)
    assert (folder / f"{name}.png").stat().st_size > 20_000


def test_the_page_of_a_fix_shows_the_fences(browser: Any, tmp_path: Path) -> None:
    here = Path.cwd()
    os.chdir(ROOT)
    result = fix(load(Path("examples/lost_wakeup.pml")), FixOptions(model="tso"))
    os.chdir(here)
    path = tmp_path / "fix.html"
    path.write_text(render_html(fix_page(result)), encoding="utf-8")
    browser.get(path.as_uri() + "#step=3")
    assert [line.text for line in browser.find_elements("css selector", ".line.inserted code")] == ["    mfence();"] * 2
    check_screenshot(browser, "report-fix-light", tmp_path)
    assert browser.get_log("browser") == []
