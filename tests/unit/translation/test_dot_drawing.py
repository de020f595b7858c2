"""The drawing has a node a location and an edge a transition, whatever the names are."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings

from memfence.program.ir import Program
from memfence.translation.dot import render_dot
from support.generators.programs import programs
from support.samples import store_buffering


@given(programs())
@settings(max_examples=30, deadline=None)
def test_every_location_is_a_node_and_every_transition_an_edge(program: Program) -> None:
    lines = render_dot(program).splitlines()
    edges = [line for line in lines if " -> " in line.split("[")[0]]
    nodes = [line for line in lines if line.startswith("    p") and line not in edges]
    assert len(edges) == sum(len(p.transitions) for p in program.processes)
    assert len(nodes) == sum(len(p.locations) for p in program.processes)


@pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz not installed")
def test_graphviz_accepts_the_drawing() -> None:
    drawing = render_dot(store_buffering())
    drawn = subprocess.run(["dot", "-Tsvg"], input=drawing, text=True, check=True, capture_output=True)
    assert "<svg" in drawn.stdout


def test_quotes_in_names_are_escaped() -> None:
    from dataclasses import replace

    assert '"say \\"hi\\""' in render_dot(replace(store_buffering(), name='say "hi"'))
