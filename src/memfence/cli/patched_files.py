"""Where the texts of `memfence fix` go: one file, every file in its own place, or a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from memfence.cli.report_files import make_folder, write_report

if TYPE_CHECKING:
    from memfence.synthesis.patch import PatchedFile


def write_patched(files: Sequence[PatchedFile], output: Path | None, *, in_place: bool) -> None:
    """Write the program's first file, and the others that are changed.

    In place, each is written where it is. To `output`: the first one alone is written to that file; if others are
    changed, too, or it is a folder, all are written into the folder, each under its own path. Exit code 2 where
    something else is there.
    """
    if in_place:
        for one in files:
            write_report(Path(one.source.path), one.content, "--in-place")
    elif output is not None and len(files) == 1 and not output.is_dir():
        write_report(output, files[0].content, "--output")
    elif output is not None:
        _write_folder(files, output)


def _write_folder(files: Sequence[PatchedFile], folder: Path) -> None:
    from memfence.api.fix import diff_path

    if folder.exists() and not folder.is_dir():
        changed = ", ".join(f"`{one.source.path}`" for one in files[1:])
        raise typer.BadParameter(f"the fix changes {changed}, too: name a folder", param_hint="--output")
    places = {folder / diff_path(one.source.path): one for one in files}
    for place in places:
        if any(place.exists() and place.samefile(one.source.path) for one in files):
            raise typer.BadParameter(f"`{place}` would overwrite FILE; use --in-place", param_hint="--output")
    for place, one in places.items():
        make_folder(place.parent, "--output")
        write_report(place, one.content, "--output")
