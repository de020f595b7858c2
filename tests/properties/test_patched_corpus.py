"""A fence written into a file of the corpus is read back as the program with that fence, and changes nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from memfence.frontends.catalogue import language_named
from memfence.passes.lock_regions import fuse_lock_regions
from memfence.program.ir import Store
from memfence.source import SourceText
from memfence.synthesis.apply_edits import insert
from support.canonical import canonical
from support.corpus import corpus_files, needs_corpus
from support.points import every_point, store_points

FILES = {
    "litmus": corpus_files("litmus/dat3m/*.litmus"),
    "rmm": corpus_files("memorax/*.rmm", "persist/**/*.rmm"),
    "remmex": corpus_files("persist/**/*_Remmex.txt"),
}
CASES = [(language, path) for language, paths in FILES.items() for path in paths]


def changed_lines(before: str, after: str) -> int:
    """How many lines of `before` lie between the common beginning and the common end."""
    old, new = before.split("\n"), after.split("\n")
    start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    rest = zip(reversed(old[start:]), reversed(new[start:]), strict=False)
    end = next((n for n, (a, b) in enumerate(rest) if a != b), min(len(old), len(new)) - start)
    return len(old) - start - end


@needs_corpus
@pytest.mark.parametrize(("language", "path"), CASES, ids=lambda value: getattr(value, "name", value))
def test_one_fence_is_one_more_line(language: str, path: Path) -> None:
    known = language_named(language)
    assert known is not None
    source = SourceText(path.name, path.read_bytes().decode())
    program = known.frontend().parse(source)
    points = every_point(program)
    assert points, "no place for a fence"
    point = points[len(source.text) % len(points)]  # another place in every file
    patched = known.frontend().insert_fences(source, [(point, "mfence")])
    assert canonical(known.frontend().parse(SourceText(path.name, patched))) == canonical(
        insert(program, [(point, "mfence")])
    )
    assert len(patched.split("\n")) - len(source.text.split("\n")) in (0, 1)
    assert changed_lines(source.text, patched) <= 1  # its own, for a `;` or braces


@needs_corpus
@pytest.mark.parametrize(("language", "path"), CASES, ids=lambda value: getattr(value, "name", value))
def test_every_store_can_be_followed_by_a_fence(language: str, path: Path) -> None:
    known = language_named(language)
    assert known is not None
    program = fuse_lock_regions(known.frontend().parse(SourceText(path.name, path.read_bytes().decode())))
    by_transition = set(store_points(program))
    for process in program.processes:
        for transition in process.transitions:
            if not transition.locked and any(isinstance(op, Store) for op in transition.ops):
                after = process.locations[transition.target].point
                assert after is not None or transition.point in by_transition, transition.span.text
