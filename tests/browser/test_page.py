"""`memfence ui` as a visitor meets it, in a real browser.

The screenshots of the guide are made here: `UPDATE_SCREENSHOTS=1` writes them to `docs/guide/images/`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from visitor import ENDLESS, Visitor, example, searches, wait_until

SVG = "{http://www.w3.org/2000/svg}"


def test_a_newcomer_goes_from_an_example_to_an_applied_fix(visitor: Visitor) -> None:
    visitor.visit(*example("peterson.pml"))
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("VIOLATED under tso"))
    assert wait_until(lambda: visitor.found("iframe.mf-report"))
    visitor.picture("ui-check.png")
    visitor.click("[data-testid=fix]")
    assert wait_until(lambda: visitor.shows("FIXED under tso"))
    visitor.click("[data-testid=apply]")
    assert wait_until(lambda: "mfence();" in visitor.program())
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("HOLDS under tso"))


def test_store_buffering_is_walked_to_the_relaxed_outcome_by_clicking(visitor: Visitor) -> None:
    visitor.visit(*example("store_buffering.litmus"))
    visitor.click("[data-testid=simulate]")
    for number, text in enumerate(
        ["4: MOV [x],$1", "5: MOV EAX,[y] [y=0]", "4: MOV [y],$1", "5: MOV EAX,[x] [x=0]"], 1
    ):
        assert wait_until(lambda text=text: visitor.button(text))
        assert wait_until(lambda number=number: visitor.shows(f"step {number} under tso"))
    visitor.picture("ui-simulate.png")
    for number, text in enumerate(["commit x=1", "commit y=1"], 5):
        assert wait_until(lambda text=text: visitor.button(text))
        assert wait_until(lambda number=number: visitor.shows(f"step {number} under tso"))
    assert visitor.shows("Every process has ended.")
    assert visitor.shows("the load overtook the store")


@pytest.mark.slow
def test_under_sc_nothing_waits_and_one_load_sees_the_other_store(visitor: Visitor) -> None:
    visitor.visit(*example("store_buffering.litmus"))
    assert wait_until(lambda: visitor.button("SC"))
    assert wait_until(lambda: visitor.found("[aria-label='Memory model'] [aria-pressed=true]")[0].text == "SC")
    visitor.click("[data-testid=simulate]")
    for number, text in enumerate(
        ["4: MOV [x],$1", "5: MOV EAX,[y] [y=0]", "4: MOV [y],$1", "5: MOV EAX,[x] [x=1]"], 1
    ):
        assert wait_until(lambda text=text: visitor.button(text))
        assert wait_until(lambda number=number: visitor.shows(f"step {number} under sc"))
    assert not visitor.shows("commit")


@pytest.mark.slow
def test_a_long_search_shows_progress_and_can_be_cancelled(visitor: Visitor, server: tuple[str, int]) -> None:
    visitor.visit("endless.pml", ENDLESS)
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows(" states, "))
    visitor.click("[data-testid=cancel]")
    assert wait_until(lambda: visitor.shows("cancelled"))
    assert wait_until(lambda: len(searches(server[1])) <= 1, 10)  # the one that reads the text may stay


@pytest.mark.slow
def test_a_search_that_nobody_watches_is_ended(visitor: Visitor, server: tuple[str, int]) -> None:
    visitor.visit("endless.pml", ENDLESS)
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows(" states, "))
    visitor.browser.get("about:blank")
    assert wait_until(lambda: searches(server[1]) == [], 30)


@pytest.mark.slow
def test_two_tabs_do_not_disturb_each_other(visitor: Visitor) -> None:
    browser = visitor.browser
    visitor.visit(*example("peterson.pml"))
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    visitor.visit(*example("ticket_lock.pml"))
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("HOLDS under tso"))
    browser.switch_to.window(first)
    assert "wants[2]" in visitor.program()
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("VIOLATED under tso"))
    assert not visitor.shows("HOLDS")


@pytest.mark.slow
def test_outcomes_and_states_are_shown_side_by_side(visitor: Visitor) -> None:
    visitor.visit(*example("store_buffering.litmus"))
    visitor.click("[data-testid=outcomes]")
    assert wait_until(lambda: visitor.found("[data-testid=outcomes-pso]"))
    columns = {name: visitor.found(f"[data-testid=outcomes-{name}]")[0].text for name in ("sc", "tso", "pso")}
    tops = {visitor.found(f"[data-testid=outcomes-{name}]")[0].rect["y"] for name in ("sc", "tso", "pso")}
    assert len(tops) == 1
    relaxed = "P0: EAX=0\nP1: EAX=0"
    assert [relaxed in columns[name] for name in ("sc", "tso", "pso")] == [False, True, True]
    visitor.picture("ui-outcomes.png")
    visitor.click("[data-testid=states]")
    assert wait_until(lambda: visitor.shows("that sc does not reach"))
    visitor.picture("ui-states.png")


def test_fences_are_taken_back_and_never_written_over_what_was_typed(visitor: Visitor) -> None:
    visitor.visit(*example("peterson.pml"))
    before = visitor.program()
    visitor.click("[data-testid=fix]")
    for _ in range(2):
        visitor.click("[data-testid=apply]")
        assert wait_until(lambda: "mfence();" in visitor.program())
        visitor.click("[data-testid=undo]")
        assert wait_until(lambda: visitor.program() == before)
    visitor.click(".cm-content")
    visitor.press("/* mine */")
    assert wait_until(lambda: "mine" in visitor.program())
    visitor.click("[data-testid=apply]")
    assert wait_until(lambda: "has changed since" in visitor.notices())
    assert "mine" in visitor.program() and "mfence();" not in visitor.program()


def test_the_link_of_a_page_holds_the_program_as_it_was_typed(visitor: Visitor) -> None:
    from selenium.webdriver.common.keys import Keys

    visitor.visit(*example("store_buffering.litmus"))
    visitor.click(".cm-content")
    visitor.press(Keys.CONTROL, Keys.END, Keys.CONTROL, "(* mine: é😀 *)")
    assert wait_until(lambda: "mine: é😀" in visitor.program())
    plain = visitor.browser.current_url
    visitor.click("[data-testid=link]")
    assert wait_until(lambda: visitor.browser.current_url != plain)
    visitor.go(visitor.browser.current_url)
    assert "mine: é😀" in visitor.program()
    assert visitor.shows("store_buffering.litmus")


def test_the_picture_of_the_states_is_saved(visitor: Visitor, browser: Any) -> None:
    visitor.visit(*example("store_buffering.litmus"))
    visitor.click("[data-testid=states]")
    visitor.click("[data-testid=save]")
    saved = Path(browser.capabilities["chrome"]["userDataDir"]) / "downloads" / "states.svg"
    wait_until(saved.is_file)
    states = ElementTree.parse(saved).getroot().findall(f"{SVG}g/{SVG}title")
    assert len(states) == 34
    assert "x=1 y=1\nP0: EAX=0\nP1: EAX=0" in [one.text for one in states]  # the end that SC does not have


@pytest.mark.slow
def test_the_newcomers_way_needs_no_mouse(visitor: Visitor) -> None:
    from selenium.webdriver.common.keys import Keys

    visitor.go(visitor.address)
    visitor.tab_to("Open")
    visitor.press("peterson.pml")
    assert wait_until(lambda: visitor.found(".q-menu .q-item"))
    visitor.press(Keys.ARROW_DOWN, Keys.ENTER)
    assert wait_until(lambda: "wants[2]" in visitor.program())
    visitor.tab_to("check")
    visitor.press(Keys.ENTER)
    assert wait_until(lambda: visitor.shows("VIOLATED under tso"))
    visitor.tab_to("fix")
    visitor.press(Keys.ENTER)
    assert wait_until(lambda: visitor.shows("FIXED under tso"))
    visitor.tab_to("apply")
    visitor.press(Keys.SPACE)
    assert wait_until(lambda: "mfence();" in visitor.program())
    visitor.tab_to("simulate")
    visitor.press(Keys.ENTER)
    assert wait_until(lambda: visitor.shows("step 0 under tso"))
    visitor.press(Keys.TAB, Keys.TAB, Keys.TAB, Keys.ENTER)  # Cancel and Undo can do nothing now
    assert wait_until(lambda: visitor.shows("step 1 under tso"))


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["check", "fix", "compare", "outcomes", "states", "simulate"])
def test_a_narrow_window_needs_no_sideways_scrolling(verb: str, visitor: Visitor) -> None:
    visitor.browser.set_window_size(420, 900)
    try:
        visitor.visit(*example("store_buffering.litmus"))
        visitor.click(f"[data-testid={verb}]")
        assert wait_until(lambda: visitor.found("[aria-label=Answer] > *"))
        assert visitor.overhang() <= 0
        right = [one.rect["x"] + one.rect["width"] for one in visitor.found("button") if one.is_displayed()]
        assert max(right) <= 420
        if verb == "simulate":
            visitor.browser.execute_script("document.querySelector('[data-testid=check]').scrollIntoView()")
            visitor.picture("ui-narrow.png")
    finally:
        visitor.browser.set_window_size(1440, 1100)


@pytest.mark.slow
def test_twenty_tabs_are_answered_at_once(visitor: Visitor) -> None:
    browser, first = visitor.browser, visitor.browser.current_window_handle
    tabs = []
    for number in range(20):
        browser.switch_to.new_window("tab")
        tabs.append(browser.current_window_handle)
        visitor.visit(*example(("peterson.pml", "ticket_lock.pml")[number % 2]))
    for tab in tabs:
        browser.switch_to.window(tab)
        visitor.click("[data-testid=check]")
    for number, tab in enumerate(tabs):
        browser.switch_to.window(tab)
        verdict = ("VIOLATED under tso", "HOLDS under tso")[number % 2]
        assert wait_until(lambda verdict=verdict: visitor.shows(verdict))
        browser.close()
    browser.switch_to.window(first)


@pytest.mark.slow
def test_mistakes_appear_and_files_elsewhere_are_refused(visitor: Visitor) -> None:
    visitor.visit("broken.pml", "byte x; active proctype P() { y = 1 }\n")
    assert wait_until(lambda: visitor.shows("line 1: "))
    visitor.visit("reader.c", '#include "/etc/passwd"\nint main(void) { return 0; }\n')
    visitor.click("[data-testid=check]")
    assert wait_until(lambda: visitor.shows("`/etc/passwd` file not found"))
    assert not visitor.shows("root:")
