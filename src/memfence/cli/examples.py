"""`memfence examples [NAME]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memfence.cli.completion import example_names
from memfence.cli.report_files import write_report
from memfence.cli.verb import verb

if TYPE_CHECKING:
    from collections.abc import Sequence


MOST_LIKE = 4
"""So many examples are proposed for a part of a name."""


@verb("List the example programs, or write one.", example="examples lost_wakeup")
def examples(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Which one to write here; none lists all.", autocompletion=example_names),
    ] = None,
    *,
    output: Path | None,
) -> None:
    """List the example programs that come with memfence, or write one of them into this folder."""
    from memfence.api.examples import example, example_texts, examples_like, needed_by, verb_for
    from memfence.diagnostics import did_you_mean

    if name is None:
        _list(example_texts())
        return
    found = example(name)
    if found is None:
        known = [one for one, _ in example_texts()]
        near = did_you_mean(name, [*known, *(Path(one).stem for one in known)], "`memfence examples` lists all") or ""
        near = next((f"did you mean `{one}`?" for one in known if f"`{Path(one).stem}`" in near), near)
        if like := examples_like(name)[:MOST_LIKE]:
            near = f"did you mean {' or '.join(f'`{one}`' for one in like)}?"
        raise typer.BadParameter(f"there is no example `{name}`; {near}", param_hint="NAME")
    target = output or Path(found.name)
    if target.exists():
        raise typer.BadParameter(f"`{target}` is there already; use -o", param_hint="NAME" if output is None else "-o")
    texts = {target: found.read_text(encoding="utf-8")}
    for other in needed_by(found):
        if other.name != "memfence.h":  # every program finds that one
            texts[target.with_name(other.name)] = other.read_text(encoding="utf-8")
    for path, text in texts.items():
        if path != target and path.exists() and path.read_text(encoding="utf-8") != text:
            raise typer.BadParameter(f"`{path}`, which it needs, is there already with another text", param_hint="NAME")
    for path, text in texts.items():
        write_report(path, text, "--output")
    *others, last = [str(path) for path in texts]
    written = f"{', '.join(others)} and {last}" if others else last
    sys.stdout.write(f"{written} written. Try: memfence {verb_for(found)} {target}\n")


def _list(listed: Sequence[tuple[str, str]]) -> None:
    width = max((len(name) for name, _ in listed), default=0)
    for name, about in listed:
        sys.stdout.write(f"{name:<{width}}  {about}".rstrip() + "\n")
