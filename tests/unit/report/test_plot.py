"""Plots: well-formed SVG in which every measured point stands where its value says."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from memfence.report.views.plot import Panel, Series, render_plot

SVG = "{http://www.w3.org/2000/svg}"
PANEL = Panel("a & b", (Series("plain", ((2, 0.01), (3, 0.1), (4, 1.0))), Series("<flat>", ((2, 0.01), (4, None)))))


def plot() -> ElementTree.Element:
    return ElementTree.fromstring(render_plot("t", [PANEL], x_label="processes", limit_seconds=10))


def test_text_is_escaped_and_every_series_is_in_the_legend() -> None:
    words = [text.text for text in plot().iter(f"{SVG}text")]
    assert {"plain", "<flat>", "a & b", "processes"} <= set(words)


def test_equal_factors_of_time_are_equal_distances() -> None:
    first = next(plot().iter(f"{SVG}polyline"))
    points = [tuple(map(float, point.split(","))) for point in first.attrib["points"].split()]
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x1 - x0 == x2 - x1 > 0
    assert abs((y0 - y1) - (y1 - y2)) < 0.2 and y0 > y1


def test_a_point_beyond_the_limit_is_a_ring_above_the_others() -> None:
    circles = list(plot().iter(f"{SVG}circle"))
    rings = [c for c in circles if c.attrib["fill"] == "none"]
    assert (len(circles), len(rings)) == (5, 1)
    assert float(rings[0].attrib["cy"]) < min(float(c.attrib["cy"]) for c in circles if c not in rings)


def test_a_plot_refers_to_nothing_outside_itself() -> None:
    text = render_plot("t", [PANEL], x_label="processes")
    assert re.findall(r"(?:href|src|url)", text) == []
