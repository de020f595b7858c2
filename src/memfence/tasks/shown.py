"""Results as people look at them in Python: as text, in a notebook, or in any format of reports.

How a result is put into words is the business of `report`, which comes later; `api` says so by calling `write_by`.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape

Writer = Callable[["Shown", str], str]
"""The result in a form: `text`, `brief`, `json`, or the name of a format."""

_WRITERS: list[Writer] = []


def write_by(writer: Writer) -> None:
    """Write all results by this function."""
    _WRITERS[:] = [writer]


class Shown:
    """Base class of results: rendered as text, JSON and HTML. It has no truth value; ask for its `verdict`."""

    __slots__ = ()

    def __bool__(self) -> bool:
        raise TypeError('a result is neither true nor false: write `result.verdict == "holds"`, or look at its parts')

    def __str__(self) -> str:
        return self.to("text").rstrip("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.to('brief')}>"

    def to(self, form: str) -> str:
        """What the option of that name writes: `html`, `sarif`, `junit`, `github`; or `json`, or `text`."""
        return _WRITERS[0](self, form)

    def to_json(self) -> str:
        """What `--json` prints."""
        return self.to("json")

    def to_html(self) -> str:
        """The page that `--html` writes."""
        return self.to("html")

    def _repr_html_(self) -> str:
        """The page in a frame, for notebooks."""
        page = escape(self.to_html())
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'
