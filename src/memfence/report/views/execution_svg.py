"""One execution as an SVG drawing: a column for each thread, program order downwards, the other relations across."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise

from memfence.axiomatic.candidates import candidate
from memfence.report.views.execution_view import Edge, EventRow, ExecutionView
from memfence.tasks.evidence import Counterexample

BOX_WIDTH, BOX_HEIGHT = 196, 44
COLUMN_GAP, ROW_GAP = 110, 26
TOP, SIDE = 44, 20
BEND = 60
HEADS = ("po", "rf", "co", "fr")
DEPENDENCIES = ("addr", "data", "ctrl")


def execution_svg(found: Counterexample) -> str:
    """The drawing; colours come from the CSS variables of the page around it."""
    view = ExecutionView(found.execution)
    rows = view.rows()
    threads = list(dict.fromkeys(row.thread for row in rows))
    corners = dict(_corners(rows, threads))
    width = 2 * SIDE + len(threads) * BOX_WIDTH + max(0, len(threads) - 1) * COLUMN_GAP + BEND
    height = max((y for _, y in corners.values()), default=TOP) + BOX_HEIGHT + SIDE
    edges = [*_program_order(rows), *view.edges(), *view.overwritten(), *_dependencies(found, view)]
    parts = [
        f'<svg class="cycle" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="The execution under {escape(found.model.name)}: events by thread, and relations between them">',
        "<defs>",
        *(_head(kind) for kind in HEADS),
        "</defs>",
        *(_title(n, name) for n, name in enumerate(threads)),
        *(part for edge in edges for part in _edge(edge, corners)),
        *(_box(row, threads.index(row.thread), corners[row.number]) for row in rows),
        "</svg>",
    ]
    return "\n".join(parts)


def _corners(rows: list[EventRow], threads: list[str]) -> Iterator[tuple[int, tuple[int, int]]]:
    seen = dict.fromkeys(threads, 0)
    for row in rows:
        column, place = threads.index(row.thread), seen[row.thread]
        seen[row.thread] += 1
        yield row.number, (SIDE + column * (BOX_WIDTH + COLUMN_GAP), TOP + place * (BOX_HEIGHT + ROW_GAP))


def _program_order(rows: list[EventRow]) -> Iterator[Edge]:
    for first, second in pairwise(rows):
        if first.thread == second.thread:
            yield Edge(first.number, second.number, "po")


def _dependencies(found: Counterexample, view: ExecutionView) -> Iterator[Edge]:
    events = found.execution.events
    relations = candidate(found.execution, found.model).relations
    for kind in DEPENDENCIES:
        for first, successors in enumerate(relations.get(kind, ())):
            for second in (n for n in range(len(events)) if successors >> n & 1):
                ends = [view.numbers.get(events[n].place) for n in (first, second)]
                if ends[0] is not None and ends[1] is not None:
                    yield Edge(ends[0], ends[1], kind)


def _head(kind: str) -> str:
    return (
        f'<marker id="head-{kind}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto-start-reverse"><path class="head-{kind}" d="M0 0 L10 5 L0 10 z"/></marker>'
    )


def _title(column: int, name: str) -> str:
    x = SIDE + column * (BOX_WIDTH + COLUMN_GAP) + BOX_WIDTH // 2
    return f'<text class="cycle-process p{column % 6}" x="{x}" y="26" text-anchor="middle">{escape(name)}</text>'


def _box(row: EventRow, column: int, corner: tuple[int, int]) -> str:
    x, y = corner
    middle = x + BOX_WIDTH // 2
    return (
        f'<g class="cycle-node p{column % 6}"><rect x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="8"/>'
        f'<text class="cycle-what" x="{middle}" y="{y + 19}" text-anchor="middle">{escape(_short(row.action))}</text>'
        f'<text class="cycle-where" x="{middle}" y="{y + 36}" text-anchor="middle">{row.number}, {row.place}</text></g>'
    )


def _short(text: str, most: int = 26) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _edge(edge: Edge, corners: dict[int, tuple[int, int]]) -> tuple[str, str]:
    """The line and its label. Within a column, all but program order bends to the right."""
    (sx, sy), (tx, ty) = corners[edge.first], corners[edge.second]
    kind = "po" if edge.relation in DEPENDENCIES else edge.relation
    dashed = ' stroke-dasharray="4 3"' if edge.relation in DEPENDENCIES else ""
    if edge.relation == "po":
        x, y1, y2 = sx + BOX_WIDTH // 2, sy + BOX_HEIGHT, ty - 3
        path, lx, ly = f"M{x} {y1} L{x} {y2}", x + 8, (y1 + y2) // 2 + 4
    elif sx == tx:
        x, y1, y2 = sx + BOX_WIDTH, sy + BOX_HEIGHT // 2, ty + BOX_HEIGHT // 2
        path, lx, ly = f"M{x} {y1} C{x + 46} {y1} {x + 46} {y2} {x + 3} {y2}", x + 38, (y1 + y2) // 2
    else:
        x1 = sx + (BOX_WIDTH if tx > sx else 0)
        x2 = tx + (-3 if tx > sx else BOX_WIDTH + 3)
        y1, y2 = sy + BOX_HEIGHT // 2, ty + BOX_HEIGHT // 2
        path, lx, ly = f"M{x1} {y1} L{x2} {y2}", x1 + (x2 - x1) // 5, y1 + (y2 - y1) // 5 - 6
    return (
        f'<path class="cycle-edge edge-{kind}" d="{path}" marker-end="url(#head-{kind})"{dashed}/>',
        f'<text class="cycle-label edge-{kind}" x="{lx}" y="{ly}">{edge.relation}</text>',
    )
