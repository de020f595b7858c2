"""The graph of states as a drawing: text for Graphviz, or SVG that needs no other program."""

from __future__ import annotations

from collections import defaultdict
from xml.sax.saxutils import escape

from memfence.models.state import Commit, DropSeparator, ProcessStep, Rendezvous, Step
from memfence.program.ir import Program
from memfence.report.views.shown_run import equation, is_shown_variable, place, register_text, shown_text
from memfence.simulation.state_graph import Edge, Node, StateGraph

OLD, NEW = "#475569", "#c2410c"
"""What the strongest model reaches, and what only a weaker one does."""
ACROSS, DOWN, RADIUS = 74, 78, 15


def step_label(program: Program, step: Step) -> str:
    """Who does what, on one line."""
    match step:
        case ProcessStep(process, transition):
            taken = program.processes[process].transitions[transition]
            text = place(program, taken) + shown_text(program, process, taken)
            return f"{program.processes[process].name} {text}"
        case Rendezvous(sender, receiver):
            return f"{step_label(program, sender)} with {program.processes[receiver.process].name}"
        case Commit(process):
            return f"{program.processes[process].name} commits"
        case DropSeparator(process):
            return f"{program.processes[process].name} sfence takes effect"


def node_lines(program: Program, node: Node) -> list[str]:
    """Memory, registers and pending stores of the state."""
    memory = [equation(program, n, v) for n, v in enumerate(node.memory) if is_shown_variable(program, n)]
    lines = [" ".join(memory)]
    for process, values, waiting in zip(program.processes, node.registers, node.pending, strict=True):
        held = [
            f"{name}={value}"
            for register, value in zip(process.registers, values, strict=True)
            if not register.transient and (name := register_text(program, register.name)) is not None
        ]
        stores = ["|" if entry is None else equation(program, *entry) for entry in waiting]
        parts = [*held, *([f"buffer {' '.join(stores)}"] if stores else [])]
        lines.append(f"{process.name}: {' '.join(parts)}" if parts else process.name)
    return lines


def is_new(graph: StateGraph, one: Node | Edge) -> bool:
    """Whether the first model of the graph does not have it."""
    return graph.models[0] not in one.models


def state_graph_dot(graph: StateGraph) -> str:
    """Text for `dot`. What only a weaker model has is coloured; ends have a double line."""
    lines = ["digraph states {", "  rankdir=TB; node [shape=box, fontname=monospace]; edge [fontname=monospace];"]
    for number, node in enumerate(graph.nodes):
        colour = NEW if is_new(graph, node) else OLD
        label = "\\n".join(_escaped(line) for line in node_lines(graph.program, node))
        ends = ", peripheries=2" if node.is_end else ""
        lines.append(f'  s{number} [label="{label}", color="{colour}"{ends}];')
    for edge in graph.edges:
        colour = NEW if is_new(graph, edge) else OLD
        label = _escaped(step_label(graph.program, edge.step))
        lines.append(f'  s{edge.source} -> s{edge.target} [label="{label}", color="{colour}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def state_graph_svg(graph: StateGraph) -> str:
    """A picture: states in rows by their distance from the start. What a state holds is in its title."""
    at, width, height = layout(graph)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="monospace" font-size="11" role="img" aria-label="states of {_xml(graph.program.name)}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *(_arrow_head(colour) for colour in (OLD, NEW)),
    ]
    lines += [_edge_svg(graph, edge, at) for edge in graph.edges]
    lines += [_node_svg(graph, number, node, at) for number, node in enumerate(graph.nodes)]
    new = sum(is_new(graph, node) for node in graph.nodes)
    under = " and ".join(graph.models)
    more = "" if graph.complete else " (the first of them: there are more)"
    legend = f"{len(graph.nodes)} states under {under}{more}"
    lines.append(f'<text x="12" y="20" fill="{OLD}">{_xml(legend)}</text>')
    if new:
        text = f"{new} that {graph.models[0]} does not reach"
        lines.append(f'<text x="12" y="36" fill="{NEW}">{_xml(text)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def layout(graph: StateGraph) -> tuple[list[tuple[float, float]], int, int]:
    """Where the states are in the picture, its width and its height."""
    rows: dict[int, list[int]] = defaultdict(list)
    for number, node in enumerate(graph.nodes):
        rows[node.depth].append(number)
    widest = max((len(row) for row in rows.values()), default=1)
    width = max(420, widest * ACROSS + 40)
    at = [(0.0, 0.0)] * len(graph.nodes)
    for depth, row in rows.items():
        for column, number in enumerate(row):
            at[number] = (width * (column + 1) / (len(row) + 1), 70.0 + depth * DOWN)
    return at, width, 70 + (max(rows, default=0) + 1) * DOWN


def _arrow_head(colour: str) -> str:
    return (
        f'<marker id="to{colour[1:]}" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto">'
        f'<path d="M0 1 L8 4 L0 7 z" fill="{colour}"/></marker>'
    )


def _edge_svg(graph: StateGraph, edge: Edge, at: list[tuple[float, float]]) -> str:
    (x1, y1), (x2, y2) = at[edge.source], at[edge.target]
    colour = NEW if is_new(graph, edge) else OLD
    bend = (x2 - x1) * 0.15 if y1 < y2 else 40
    path = f"M{x1:.0f} {y1 + RADIUS:.0f} Q{(x1 + x2) / 2 + bend:.0f} {(y1 + y2) / 2:.0f} {x2:.0f} {y2 - RADIUS:.0f}"
    title = _xml(step_label(graph.program, edge.step))
    return (
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-opacity="0.6" marker-end="url(#to{colour[1:]})">'
        f"<title>{title}</title></path>"
    )


def _node_svg(graph: StateGraph, number: int, node: Node, at: list[tuple[float, float]]) -> str:
    x, y = at[number]
    colour = NEW if is_new(graph, node) else OLD
    title = _xml("\n".join(node_lines(graph.program, node)))
    double = (
        f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS - 3}" fill="none" stroke="{colour}"/>' if node.is_end else ""
    )
    return (
        f'<g><title>{title}</title><circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS}" fill="#f8fafc" stroke="{colour}" '
        f'stroke-width="1.6"/>{double}<text x="{x:.0f}" y="{y + 4:.0f}" text-anchor="middle" fill="{colour}">{number}'
        "</text></g>"
    )


def _xml(text: str) -> str:
    return escape(text, {'"': "&quot;"})
