"""Line plots as SVG: small panels with a logarithmic scale of seconds, for benchmarks and their pages.

Text and lines take the colour of the page they stand on, so that one file fits light and dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil, floor, log10

from memfence.records import Record

WIDTH, HEIGHT = 230, 170
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 26, 34
COLOURS = ("#2f6fd0", "#c2571a", "#2a8f5b", "#8a4fc0")
DASHES = ("", "5 3", "2 3", "8 3 2 3")
PER_ROW = 4
MARGIN = 8


class Series(Record):
    """A named line: points (x, seconds); None where the limit was hit first."""

    name: str
    points: tuple[tuple[int, float | None], ...]


class Panel(Record):
    """One small plot. Every panel of a figure shows the same series, in the same order."""

    title: str
    series: tuple[Series, ...]


def render_plot(title: str, panels: Sequence[Panel], *, x_label: str, limit_seconds: float | None = None) -> str:
    """All panels in one figure, with one scale of seconds and a legend. Same data, same text.

    A point without seconds is drawn as a ring at `limit_seconds`.
    """
    seconds = [s for p in panels for line in p.series for _, s in line.points if s is not None]
    seconds += [] if limit_seconds is None else [limit_seconds]
    scale = _Scale(min(seconds, default=0.001), max(seconds, default=1.0))
    columns = min(PER_ROW, max(1, len(panels)))
    rows = ceil(len(panels) / columns)
    width, height = columns * WIDTH + MARGIN, rows * HEIGHT + 30
    names = [line.name for line in panels[0].series] if panels else []
    body = [_legend(names)]
    for number, panel in enumerate(panels):
        place = f"translate({number % columns * WIDTH} {30 + number // columns * HEIGHT})"
        body.append(f'<g transform="{place}">{"".join(_panel(panel, scale, x_label, limit_seconds))}</g>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-{MARGIN} 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img" aria-label="{escape(title)}" '
        f'font-family="sans-serif" font-size="11" fill="currentColor" '
        f'style="color:#7a8594"><title>{escape(title)}</title>\n' + "\n".join(body) + "\n</svg>\n"
    )


class _Scale:
    """Seconds to height, in whole powers of ten."""

    def __init__(self, least: float, most: float) -> None:
        self.low = floor(log10(max(least, 1e-6)))
        self.high = max(self.low + 1, ceil(log10(max(most, 1e-6))))

    def y(self, seconds: float) -> float:
        part = (log10(max(seconds, 1e-6)) - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM)

    def ticks(self) -> Iterable[float]:
        return (10.0**power for power in range(self.low, self.high + 1))


def _legend(names: Sequence[str]) -> str:
    parts = []
    for number, name in enumerate(names):
        x = LEFT + number * 190
        parts.append(f'<path d="M{x} 12h24" {_stroke(number)}/><text x="{x + 30}" y="16">{escape(name)}</text>')
    return "".join(parts)


def _panel(panel: Panel, scale: _Scale, x_label: str, limit: float | None) -> Iterable[str]:
    values = sorted({x for line in panel.series for x, _ in line.points})
    step = (WIDTH - LEFT - RIGHT - 20) / max(1, len(values) - 1)
    at = {value: LEFT + 10 + number * step for number, value in enumerate(values)}
    yield f'<text x="{LEFT}" y="16" font-weight="bold">{escape(panel.title)}</text>'
    for tick in scale.ticks():
        y = scale.y(tick)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="currentColor" stroke-opacity=".25"/>'
        yield f'<text x="{LEFT - 5}" y="{y + 4:.1f}" text-anchor="end">{tick:g} s</text>'
    for value, x in at.items():
        yield f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 14}" text-anchor="middle">{value}</text>'
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>'
    for number, line in enumerate(panel.series):
        yield from _line(line, number, at, scale, limit)


def _line(line: Series, number: int, at: dict[int, float], scale: _Scale, limit: float | None) -> Iterable[str]:
    colour = COLOURS[number % len(COLOURS)]
    measured = [(at[x], scale.y(seconds)) for x, seconds in line.points if seconds is not None]
    if measured:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in measured)
        yield f'<polyline points="{points}" {_stroke(number)}/>'
        yield "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{colour}"/>' for x, y in measured)
    for x, seconds in line.points:
        if seconds is None and limit is not None:
            yield f'<circle cx="{at[x]:.1f}" cy="{scale.y(limit):.1f}" r="4" fill="none" stroke="{colour}"/>'


def _stroke(number: int) -> str:
    dash = DASHES[number % len(DASHES)]
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'fill="none" stroke="{COLOURS[number % len(COLOURS)]}" stroke-width="1.8"{dashes}'
