"""A run as a message sequence chart in SVG: a line for each process and one for memory; time goes down.

A load is an arrow from memory, a store that waits is a box on its process's line, a commit is an arrow to memory.
"""

from __future__ import annotations

from html import escape

from memfence.execution.trace import Trace
from memfence.models.accesses import Access, accesses
from memfence.report.views.shown_run import equation, is_shown_variable, shown_positions, shown_processes
from memfence.report.words.actions import actions

ACROSS, DOWN, LEFT, TOP = 230, 46, 60, 60
LINE, DELAYED, COMMITTED = "#475569", "#c2410c", "#15803d"


def sequence_chart(trace: Trace) -> str:
    """The chart of the steps that reports show, as one SVG document. Same run, same text."""
    columns = {process: number for number, process in enumerate(shown_processes(trace))}
    shown = shown_positions(trace)
    memory = len(columns)
    width, height = LEFT * 2 + memory * ACROSS, TOP + (len(shown) + 1) * DOWN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="monospace" font-size="12" role="img" aria-label="a run of {_xml(trace.program.name)}">',
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0 8 4 0 8z" fill="context-stroke"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    names = [*(trace.program.processes[process].name for process in columns), "memory"]
    for column, name in enumerate(names):
        x = LEFT + column * ACROSS
        lines.append(f'<text x="{x}" y="28" text-anchor="middle" font-weight="bold">{_xml(name)}</text>')
        lines.append(f'<line x1="{x}" y1="38" x2="{x}" y2="{height - 12}" stroke="{LINE}" stroke-opacity="0.4"/>')
    for row, position in enumerate(shown):
        lines += _step(trace, position, columns, TOP + row * DOWN + DOWN // 2, LEFT + memory * ACROSS)
    return "\n".join([*lines, "</svg>"]) + "\n"


def _step(trace: Trace, position: int, columns: dict[int, int], y: int, memory: int) -> list[str]:
    """The text of the step beside its process, and an arrow for each access to memory."""
    lines = []
    for process, action in actions(trace, position).items():
        x = LEFT + columns[process] * ACROSS
        lines.append(f'<text x="{x + 8}" y="{y - 6}"><title>step {position + 1}</title>{_xml(action.line)}</text>')
        lines.append(f'<circle cx="{x}" cy="{y}" r="4" fill="{LINE}"/>')
    step = trace.steps[position].step
    for access in accesses(trace.program, trace.memory_model, trace.state_before(position), step):
        if is_shown_variable(trace.program, access.variable) and access.process in columns:
            lines.append(_access(trace, access, LEFT + columns[access.process] * ACROSS, y, memory))
    return lines


def _access(trace: Trace, access: Access, x: int, y: int, memory: int) -> str:
    title = f"<title>{_xml(f'{access.kind} {equation(trace.program, access.variable, access.value)}')}</title>"
    match access.kind:
        case "load":
            return _arrow(memory, x + 5, y, LINE, title)
        case "store" | "commit":
            return _arrow(x, memory, y, COMMITTED, title)
        case "pending store" | "own load":
            return f'<rect x="{x - 7}" y="{y - 7}" width="14" height="14" fill="none" stroke="{DELAYED}">{title}</rect>'


def _arrow(start: int, end: int, y: int, colour: str, title: str) -> str:
    ends = f'x1="{start}" y1="{y}" x2="{end}" y2="{y}"'
    return f'<line {ends} stroke="{colour}" stroke-width="1.5" marker-end="url(#tip)">{title}</line>'


def _xml(text: str) -> str:
    return escape(text)
