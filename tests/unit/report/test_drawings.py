"""Drawings: the graph of states, the chart of a run, and bars. Each is well-formed, and shows what it should."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

import memfence
from memfence.models.spec import PSO, SC, TSO, ModelSpec
from memfence.report.describe.compare import comparison_page
from memfence.report.formats.html import render_html
from memfence.report.views.bars import Bar, render_bars
from memfence.report.views.sequence_chart import sequence_chart
from memfence.report.views.state_graph import is_new, state_graph_dot, state_graph_svg
from memfence.simulation.outcomes import outcomes
from memfence.simulation.state_graph import state_graph
from memfence.tasks.usage import WrongUsage
from twins.reference_search import explore

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SB = EXAMPLES / "store_buffering.litmus"
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("model", [SC, TSO, PSO], ids=lambda model: model.name)
def test_the_graph_has_the_states_that_the_reference_search_visits(model: ModelSpec) -> None:
    program = memfence.load(SB)
    graph = state_graph(program, (model,))
    assert graph.complete
    assert len(graph.nodes) == len(explore(program, model.definition).states)


def test_what_sc_does_not_reach_is_new_under_tso() -> None:
    program = memfence.load(SB)
    graph = state_graph(program, (SC, TSO))
    alone = len(state_graph(program, (SC,)).nodes)
    new = [node for node in graph.nodes if is_new(graph, node)]
    assert len(graph.nodes) - len(new) == alone
    assert all(any(node.pending) for node in new if not node.is_end)
    assert sum(node.is_end for node in graph.nodes) == 4
    assert sum(node.is_end for node in new) == 1


def test_a_graph_that_is_too_large_says_so() -> None:
    graph = state_graph(memfence.load(EXAMPLES / "peterson.pml"), (SC, TSO), most_states=30)
    assert not graph.complete
    assert "there are more" in state_graph_svg(graph)


def test_the_pictures_of_the_graph_have_every_state_and_step() -> None:
    graph = state_graph(memfence.load(SB), (SC, TSO))
    picture = ElementTree.fromstring(state_graph_svg(graph))
    assert len(picture.findall(f"{SVG}g")) == len(graph.nodes)
    assert len(picture.findall(f"{SVG}path")) == len(graph.edges)
    text = state_graph_dot(graph)
    assert text.count(" -> ") == len(graph.edges)


def test_the_outcomes_are_the_final_states_of_the_reference_search() -> None:
    program = memfence.load(SB)
    relaxed = {}
    for model in (SC, TSO, PSO):
        found = outcomes(program, model.definition)
        assert found.complete
        relaxed[model.name] = {walk.state.registers for walk in found.walks}
        assert all(walk.trace.end == walk.state for walk in found.walks)
    assert relaxed["tso"] == relaxed["pso"] == relaxed["sc"] | {((0,), (0,))}


def test_the_chart_of_a_run_has_an_arrow_for_each_access_to_memory() -> None:
    walk = memfence.simulate(SB)
    for choice in (1, 2, 2, 3, 1, 1):
        walk = walk.choose(choice)
    picture = ElementTree.fromstring(sequence_chart(walk.trace))
    assert len([one for one in picture.findall(f"{SVG}line") if one.get("marker-end")]) == 4
    assert len([one for one in picture.findall(f"{SVG}rect") if one.find(f"{SVG}title") is not None]) == 2


def test_the_comparison_is_one_page_with_plots() -> None:
    page = comparison_page(memfence.compare(EXAMPLES / "peterson.pml"))
    assert len(page.plots) >= 2
    for plot in page.plots:
        ElementTree.fromstring(plot)
    assert render_html(page).count("<svg") > len(page.plots)


def test_bars_differ_as_their_numbers_do() -> None:
    near = ElementTree.fromstring(render_bars("t", [Bar("a", 1, "1"), Bar("b", 2, "2"), Bar("c", None, "?")]))
    widths = [float(one.get("width", "")) for one in near.findall(f"{SVG}rect")]
    assert widths[1] == 2 * widths[0]
    assert widths[2] == 0
    far = render_bars("t", [Bar("a", 1, "1"), Bar("<b>", 1_000, "1,000")])
    assert "logarithmic" in far
    assert "<b>" not in far


@pytest.mark.parametrize(
    "wrong",
    [
        {"to": "svg"},
        {"to": "promela", "of": "states"},
        {"to": "dot", "of": "run"},
        {"to": "svg", "of": "run"},
        {"to": "dot", "model": "tso"},
    ],
)
def test_options_that_make_no_picture_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(WrongUsage):
        memfence.translate(SB, **wrong)
