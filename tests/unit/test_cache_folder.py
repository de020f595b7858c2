"""The folder of earlier results: what is broken is not there, it stays bounded, and nothing of others is touched."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memfence import cache_folder

KEY, OTHER = "0" * 64, "f" * 64


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("MEMFENCE_CACHE")
    cache_folder.switch(on=True)
    yield tmp_path / "memfence" / "programs"
    cache_folder.switch(on=False)


def test_what_was_kept_is_found(place: Path) -> None:
    cache_folder.keep(KEY, b"content")
    assert cache_folder.find(KEY) == b"content"
    assert cache_folder.find(OTHER) is None
    assert [path.name for path in place.iterdir()] == [KEY]


def test_nothing_is_written_or_found_while_it_is_off(place: Path) -> None:
    cache_folder.keep(KEY, b"content")
    cache_folder.switch(on=False)
    cache_folder.keep(OTHER, b"content")
    assert cache_folder.find(KEY) is None
    assert [path.name for path in place.iterdir()] == [KEY]


def test_a_file_with_any_bit_changed_or_cut_off_is_not_there(place: Path) -> None:
    cache_folder.keep(KEY, b"some content")
    whole = (place / KEY).read_bytes()
    for at in range(len(whole)):
        (place / KEY).write_bytes(whole[:at] + bytes((whole[at] ^ 1,)) + whole[at + 1 :])
        assert cache_folder.find(KEY) is None
        (place / KEY).write_bytes(whole[:at])
        assert cache_folder.find(KEY) is None
    (place / KEY).write_bytes(whole)
    assert cache_folder.find(KEY) == b"some content"


def test_the_oldest_go_when_there_are_too_many_bytes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_folder, "MOST_BYTES", 4_000)
    place.mkdir(parents=True, mode=0o700)
    foreign = place / "notes.txt"
    foreign.write_bytes(b"x" * 10_000)
    for number in range(8):
        cache_folder.keep(f"{number:064x}", b"x" * 900)
        os.utime(place / f"{number:064x}", (number + 1, number + 1))
    left = {path.name for path in place.iterdir()}
    assert f"{7:064x}" in left
    assert f"{0:064x}" not in left
    assert sum((place / name).stat().st_size for name in left if name != "notes.txt") <= 4_000
    assert foreign.exists()


def test_what_is_too_large_is_not_kept(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_folder, "MOST_OF_ONE", 10)
    cache_folder.keep(KEY, b"x" * 11)
    assert cache_folder.find(KEY) is None


def test_a_folder_that_others_may_write_to_is_not_used(place: Path) -> None:
    cache_folder.keep(KEY, b"content")
    place.chmod(0o777)
    assert cache_folder.find(KEY) is None
    place.chmod(0o700)
    assert cache_folder.find(KEY) == b"content"


def test_a_link_in_place_of_the_folder_is_not_followed(place: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    place.parent.mkdir()
    place.symlink_to(elsewhere)
    cache_folder.keep(KEY, b"content")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("name", ["XDG_CACHE_HOME", "HOME"])
def test_no_folder_is_no_error(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "relative")
    if name == "XDG_CACHE_HOME":
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    cache_folder.keep(KEY, b"content")
    assert cache_folder.find(KEY) is None


def test_another_folder_can_be_named(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMFENCE_CACHE", str(tmp_path / "own"))
    cache_folder.keep(KEY, b"content")
    assert (tmp_path / "own" / "programs" / KEY).exists()
    monkeypatch.setenv("MEMFENCE_CACHE", "none")
    assert cache_folder.find(KEY) is None


def test_many_at_once_keep_whole_files(place: Path) -> None:
    contents = [bytes((number,)) * 5_000 for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda content: cache_folder.keep(KEY, content), contents))
    assert cache_folder.find(KEY) in contents
