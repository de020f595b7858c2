"""Bars as SVG: one number a row, on a logarithmic scale where they differ much. Fits light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from math import log10

from memfence.records import Record

WIDTH, ROW, NAME, TOP = 620, 22, 190, 30
MUCH = 100
"""From such a ratio of the largest to the smallest on, the scale is logarithmic."""


class Bar(Record):
    """`value` None: there is no number, and `text` says why."""

    name: str
    value: float | None
    text: str
    tone: str = "#2f6fd0"


def render_bars(title: str, bars: Sequence[Bar]) -> str:
    """The figure. Same data, same text."""
    values = [bar.value for bar in bars if bar.value]
    is_wide = bool(values) and max(values) >= MUCH * min(values)
    height = TOP + len(bars) * ROW + 6
    scale = f"{title}, logarithmic" if is_wide else title
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}" font-family="sans-serif" font-size="12" fill="currentColor">',
        f'<text x="{NAME}" y="16" font-weight="bold">{escape(scale)}</text>',
    ]
    for number, bar in enumerate(bars):
        y = TOP + number * ROW
        length = _length(bar.value, values, is_wide)
        lines.append(f'<text x="{NAME - 8}" y="{y + 13}" text-anchor="end">{escape(bar.name)}</text>')
        lines.append(f'<rect x="{NAME}" y="{y + 2}" width="{length:.1f}" height="{ROW - 8}" rx="2" fill="{bar.tone}"/>')
        lines.append(f'<text x="{NAME + length + 6:.1f}" y="{y + 13}">{escape(bar.text)}</text>')
    return "\n".join([*lines, "</svg>"])


def _length(value: float | None, values: Sequence[float], is_wide: bool) -> float:
    if not value:
        return 0.0
    room, largest = WIDTH - NAME - 90, max(values)
    if not is_wide:
        return room * value / largest
    least = min(values)
    return room * (0.05 + 0.95 * log10(value / least) / log10(largest / least))
