"""Programs by others, with known answers, kept outside the project: where they are, and the mark for tests on them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus"

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="corpus not found at ../shared/corpus")


def corpus_files(*patterns: str) -> list[Path]:
    """The files of the corpus that match any of the glob patterns, sorted; none where there is no corpus."""
    return sorted({path for pattern in patterns for path in CORPUS.glob(pattern)})


def published(table: str) -> list[dict[str, str]]:
    """The rows of a published table, with what all tools are known to answer; none where there is no corpus."""
    path = CORPUS.parent / "tables" / f"{table}.csv"
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if path.is_file() else []


def transition_lists() -> list[Path]:
    """Every program in the text format of Trencher and Persist."""
    files = corpus_files("persist/**/*.txt", "trencher/*.txt")
    return [path for path in files if not path.name.endswith("_Remmex.txt")]
