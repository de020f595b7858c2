"""A run on a page: to step through, as a cycle of accesses, and marked in the texts that it goes through."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from memfence.execution.happens_before import explained_cycle
from memfence.execution.trace import Trace
from memfence.report.page import Page
from memfence.report.views.cycle_svg import cycle_sentences, cycle_svg
from memfence.report.views.run_view import run_view
from memfence.report.views.source_view import marks_of, source_view, sources_of
from memfence.source import SourceText
from memfence.synthesis.patch import PatchedFile


def with_run(
    page: Page,
    own: SourceText,
    trace: Trace | None,
    *,
    loop_start: int | None = None,
    patched: Iterable[PatchedFile] = (),
) -> Page:
    """The page with the program's `own` text and, where there is a run, with that; files are shown as `patched`."""
    shown = (own,) if trace is None else sources_of(trace)
    texts = {one.source.path: one.text for one in patched}
    sources = (*shown, *(one.source for one in patched if one.source not in shown))
    page = replace(
        page,
        sources=tuple(
            source_view(one, {} if trace is None else marks_of(trace, one), texts.get(one.path)) for one in sources
        ),
    )
    if trace is None:
        return page
    cycle = explained_cycle(trace)
    return replace(
        page,
        run=run_view(trace, sources, loop_start),
        cycle="" if cycle is None else cycle_svg(trace, cycle),
        cycle_text=() if cycle is None else cycle_sentences(trace, cycle),
    )
