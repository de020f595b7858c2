"""The HTML report: one self-contained file that needs no network, drawn from a `Page`.

What can be read without JavaScript is in the markup: verdict, source, the run as a table, the cycle. The script adds
the stepper: the state of the machine at each step, and the arrows. A content security policy in the page forbids every
request, so opening a report cannot load anything.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from memfence.report.page import Page
from memfence.report.report import Report
from memfence.version import VERSION

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TEMPLATES = Path(__file__).with_name("templates")


def render(report: Report) -> str:
    """The page of the report as one HTML document."""
    return render_html(report.page())


def render_html(page: Page) -> str:
    """The page as one HTML document. Same page, same text."""
    return _environment().get_template("report.html.jinja").render(
        page=page,
        version=VERSION,
        data=_embedded(None if page.run is None else asdict(page.run)),
        outcomes=_embedded([asdict(outcome) for outcome in page.outcomes]),
    )  # fmt: skip


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["prose"] = _prose
    environment.filters["tone"] = _tone
    return environment


TONES = {"holds": "good", "violated": "bad", "unknown": "open", "no violation": "open"}
"""Cells of tables that are verdicts."""


def _tone(cell: str) -> Markup:
    """The class of a cell that begins with a verdict."""
    from markupsafe import Markup

    tone = next((tone for word, tone in TONES.items() if cell.lower().startswith(word)), "")
    return Markup(f' class="{tone}"' if tone else "")


def _prose(text: str, subject: str = "") -> Markup:
    """A sentence with its `names` as code; step numbers are buttons that go there, places in the `subject` links."""
    from markupsafe import Markup, escape

    safe = str(escape(text))
    safe = re.sub(r"`([^`]+)`", r"<code>\1</code>", safe)
    button = r'<button type="button" class="steplink" data-step="\1">step \1</button>'
    safe = re.sub(r"\bstep (\d+)\b", button, safe)
    if subject:
        path = re.escape(str(escape(subject)))
        safe = re.sub(rf"((?:{path}:|\bline )(\d+))\b", r'<a class="placelink" href="#line-0-\2">\1</a>', safe)
    return Markup(safe)


def _embedded(value: object) -> str:
    """JSON that can stand inside a `script` element: nothing in it can end the element."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text
