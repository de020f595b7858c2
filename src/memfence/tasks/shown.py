"""Results as people look at them in Python: as text, in a notebook, as JSON, as a page.

How a result is put into words is the business of `report`, which comes later; `api.showing` says so by calling
`show_by`.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

from memfence.records import Record


class Renderer(Record):
    """How to write one kind of result: the whole report, one line, the JSON text, the page."""

    text: Callable[[Any], str]
    line: Callable[[Any], str]
    json: Callable[[Any], str]
    html: Callable[[Any], str]


_RENDERERS: dict[type, Renderer] = {}
_LATER: list[Callable[[], object]] = []


def show_by(kind: type, renderer: Renderer) -> None:
    """Write results of this kind, and of kinds derived from it, by `renderer`."""
    _RENDERERS[kind] = renderer


def arrange_later(arrange: Callable[[], object]) -> None:
    """Have `arrange` called when the first result is to be shown."""
    _LATER.append(arrange)


class Shown:
    """A result. Whether it is good news is for `verdict` to say: it has no truth value of its own."""

    __slots__ = ()

    @property
    def _renderer(self) -> Renderer:
        while _LATER:
            _LATER.pop()()
        return next(_RENDERERS[kind] for kind in type(self).__mro__ if kind in _RENDERERS)

    def __bool__(self) -> bool:
        raise TypeError('a result is neither true nor false: write `result.verdict == "holds"`, or look at its parts')

    def __str__(self) -> str:
        return self._renderer.text(self).rstrip("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._renderer.line(self)}>"

    def to_json(self) -> str:
        """What `--json` prints."""
        return self._renderer.json(self)

    def to_html(self) -> str:
        """The page that `--html` writes."""
        return self._renderer.html(self)

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks; the text where there is no page."""
        try:
            page = self.to_html()
        except ValueError:
            return f"<pre>{escape(str(self))}</pre>"
        return f'<iframe srcdoc="{escape(page)}" style="width: 100%; height: 40em; border: 0"></iframe>'
