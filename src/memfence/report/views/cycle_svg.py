"""The happens-before cycle as an SVG drawing: a column a process, program order downwards, conflicts across."""

from __future__ import annotations

from html import escape

from memfence.execution.graph import Edge, EdgeKind, Node
from memfence.execution.happens_before import Cycle
from memfence.execution.trace import Trace
from memfence.records import Record
from memfence.source import NOWHERE

BOX_WIDTH, BOX_HEIGHT = 196, 56
COLUMN_GAP, ROW_GAP = 150, 74
TOP, SIDE = 44, 20

MEANING: dict[EdgeKind, str] = {
    "po": "program order",
    "rf": "read from",
    "co": "store order",
    "fr": "read before",
}


class _Box(Record):
    x: float
    y: float

    @property
    def middle(self) -> tuple[float, float]:
        return self.x + BOX_WIDTH / 2, self.y + BOX_HEIGHT / 2


def cycle_svg(trace: Trace, cycle: Cycle) -> str:
    """The drawing; colours come from the CSS variables of the page around it."""
    columns: dict[int, list[Node]] = {}
    for node in cycle.nodes:
        columns.setdefault(_process(node), []).append(node)
    boxes: dict[Node, _Box] = {}
    for i, mine in enumerate(columns.values()):
        for j, node in enumerate(sorted(mine, key=lambda n: n.place_in_program)):
            boxes[node] = _Box(SIDE + i * (BOX_WIDTH + COLUMN_GAP), TOP + j * (BOX_HEIGHT + ROW_GAP))
    width = 2 * SIDE + len(columns) * BOX_WIDTH + (len(columns) - 1) * COLUMN_GAP
    far = any(_distance(boxes, edge) > 1 for edge in cycle.edges)
    height = max(box.y for box in boxes.values()) + BOX_HEIGHT + (96 if far else 20)
    title = "Happens-before cycle: " + "; ".join(cycle_sentences(trace, cycle))
    parts = [
        f'<svg class="cycle" viewBox="0 0 {width} {height:g}" width="{width}" height="{height:g}" role="img" '
        f'aria-label="{escape(title)}">',
        "<defs>",
        *(_arrow_head(kind) for kind in MEANING),
        "</defs>",
    ]
    for i, process in enumerate(columns):
        x = SIDE + i * (BOX_WIDTH + COLUMN_GAP) + BOX_WIDTH / 2
        name = escape(trace.program.processes[process].name)
        parts.append(f'<text class="cycle-process p{process % 6}" x="{x:g}" y="26" text-anchor="middle">{name}</text>')
    drawn = [_edge(boxes, number, edge) for number, edge in enumerate(cycle.edges)]
    parts += [path for path, _ in drawn] + [label for _, label in drawn]
    parts += [_node(trace, node, box) for node, box in boxes.items()]
    return "\n".join([*parts, "</svg>"])


def cycle_sentences(trace: Trace, cycle: Cycle) -> tuple[str, ...]:
    """Each edge in words."""
    return tuple(f"{_name(trace, e.source)} {_verb(e)} {_name(trace, e.target)}" for e in cycle.edges)


def _verb(edge: Edge) -> str:
    match edge.kind:
        case "po":
            return "comes before, in the program,"
        case "rf":
            return "is read by"
        case "co":
            return "reaches memory before"
        case "fr":
            return "does not see"


def _name(trace: Trace, node: Node) -> str:
    process = trace.program.processes[_process(node)].name
    kind = "store" if node.event.writes else "load"
    return f"{process}: {kind} {_variable(trace, node)} = {node.event.value}"


def _process(node: Node) -> int:
    assert isinstance(node.event.thread, int), "a node of a run"
    return node.event.thread


def _variable(trace: Trace, node: Node) -> str:
    assert isinstance(node.event.address, int), "an access of a run"
    return trace.program.variables[node.event.address].name


def _distance(boxes: dict[Node, _Box], edge: Edge) -> int:
    return round(abs(boxes[edge.source].x - boxes[edge.target].x) / (BOX_WIDTH + COLUMN_GAP))


def _arrow_head(kind: EdgeKind) -> str:
    return (
        f'<marker id="head-{kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path class="head-{kind}" d="M0 0 L10 5 L0 10 z"/></marker>'
    )


def _node(trace: Trace, node: Node, box: _Box) -> str:
    variable = _variable(trace, node)
    what = f"{variable} := {node.event.value}" if node.event.writes else f"{variable} → {node.event.value}"
    place = "" if node.event.span.source is NOWHERE.source else f"line {node.event.span.line}, "
    late = ""
    if node.is_buffered:
        late = " … never" if node.effect is None else f" … {node.effect + 1}"
    where = f"{place}step {node.step + 1}{late}"
    x = box.x + BOX_WIDTH / 2
    return (
        f'<g class="cycle-node p{_process(node) % 6}" data-step="{node.step + 1}">'
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"/>'
        f'<text class="cycle-kind" x="{box.x + 12:g}" y="{box.y + 34:g}">{"W" if node.event.writes else "R"}</text>'
        f'<text class="cycle-what" x="{x + 8:g}" y="{box.y + 25:g}" text-anchor="middle">{escape(_short(what))}</text>'
        f'<text class="cycle-where" x="{x + 8:g}" y="{box.y + 44:g}" text-anchor="middle">{escape(where)}</text></g>'
    )


def _short(text: str, most: int = 19) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _edge(boxes: dict[Node, _Box], number: int, edge: Edge) -> tuple[str, str]:
    """The line and its label, which is drawn later, above all lines."""
    source, target = boxes[edge.source], boxes[edge.target]
    (sx, sy), (tx, ty) = source.middle, target.middle
    overtaken = " overtaken" if number == 0 else ""
    if edge.kind == "po":
        x1 = x2 = sx
        y1, y2 = (source.y + BOX_HEIGHT, target.y - 3) if ty > sy else (source.y, target.y + BOX_HEIGHT + 3)
        path, lx, ly = f"M{x1:g} {y1:g} L{x2:g} {y2:g}", sx + 10, (y1 + y2) / 2 + 4
        label = "po, overtaken" if overtaken else "po"
        return _drawn(edge.kind, path, lx, ly, label, overtaken, "start")
    rightwards = tx > sx
    x1 = source.x + (BOX_WIDTH if rightwards else 0)
    x2 = target.x + (-3 if rightwards else BOX_WIDTH + 3)
    if _distance(boxes, edge) > 1:
        low = max(box.y for box in boxes.values()) + BOX_HEIGHT + 56
        y1, y2 = source.y + BOX_HEIGHT, target.y + BOX_HEIGHT + 3
        path = f"M{sx:g} {y1:g} C{sx:g} {low:g} {tx:g} {low:g} {tx:g} {y2:g}"
        return _drawn(edge.kind, path, (sx + tx) / 2, low - 8, edge.kind, "", "middle")
    # Not far from the source: two edges that cross in the middle keep their labels apart.
    lx, ly = x1 + (x2 - x1) * 0.2, sy + (ty - sy) * 0.2 - 8
    return _drawn(edge.kind, f"M{x1:g} {sy:g} L{x2:g} {ty:g}", lx, ly, edge.kind, "", "middle")


def _drawn(kind: EdgeKind, path: str, x: float, y: float, label: str, more: str, anchor: str) -> tuple[str, str]:
    return (
        f'<path class="cycle-edge edge-{kind}{more}" d="{path}" marker-end="url(#head-{kind})"/>',
        f'<text class="cycle-label edge-{kind}{more}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{label}</text>',
    )
