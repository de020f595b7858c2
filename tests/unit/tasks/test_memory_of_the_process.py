"""Memory is measured on every system: Linux tells what is held now, macOS counts its peak in bytes."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

import pytest

from memfence.tasks import limits


@pytest.mark.skipif(not limits.STATM.exists(), reason="this system does not tell through /proc")
def test_the_memory_held_now_is_not_more_than_the_peak() -> None:
    assert 1 < limits.resident_megabytes() <= limits.peak_megabytes() * 1.05


def test_without_proc_the_peak_stands_in(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(limits, "STATM", tmp_path / "statm")
    assert limits.resident_megabytes() == pytest.approx(limits.peak_megabytes(), rel=0.05)


@pytest.mark.parametrize(("platform", "unit"), [("linux", 1024), ("darwin", 1)])
def test_the_peak_is_counted_in_the_unit_of_the_system(
    monkeypatch: pytest.MonkeyPatch, platform: str, unit: int
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    told = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert limits.peak_megabytes() == pytest.approx(told * unit / 1e6, rel=0.05)
