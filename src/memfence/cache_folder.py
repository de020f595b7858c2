"""Results of earlier commands, in files of the user's cache folder: a bounded number of bytes, believed only if intact.

Nothing here is needed: where the folder is missing, full, of somebody else, or has broken files, everything is computed
again. Files are written beside their place and renamed, so that processes may share the folder. Only files that are
named as ours are ever removed. Commands switch it `on`; Python programs that call memfence compute everything.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from contextlib import suppress
from pathlib import Path

MOST_BYTES = 256_000_000
"""Of all files together; the oldest ones go first."""
MOST_OF_ONE = 32_000_000
FILLED = 0.75
"""What is left of `MOST_BYTES` after the oldest ones went."""
OWN = "MEMFENCE_CACHE"
"""The variable of the environment that names another folder; no folder where it names none."""
MAGIC = b"memfence cache 1\n"
DIGEST = 32
OURS = re.compile(r"[0-9a-f]{64}(\.[0-9]+\.new)?")
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH

_state = {"on": False}


def switch(*, on: bool) -> None:
    """From now on, results are looked up and kept, or not."""
    _state["on"] = on


def is_on() -> bool:
    return _state["on"]


def find(key: str) -> bytes | None:
    """What was kept under the key, a number of 64 hexadecimal digits; None where it is not there or not intact."""
    place = _folder()
    if place is None:
        return None
    try:
        with (place / key).open("rb") as file:
            content = file.read(MOST_OF_ONE + len(MAGIC) + DIGEST + 1)
    except OSError:
        return None
    head = len(MAGIC) + DIGEST
    if not content.startswith(MAGIC) or hashlib.sha256(content[head:]).digest() != content[len(MAGIC) : head]:
        return None
    with suppress(OSError):
        os.utime(place / key)
    return content[head:]


def keep(key: str, content: bytes) -> None:
    """Keep it for later commands, if that is possible."""
    place = _folder(make=True)
    if place is None or len(content) > MOST_OF_ONE:
        return
    beside = place / f"{key}.{os.getpid()}.new"
    try:
        number = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(number, "wb") as file:
            file.write(MAGIC + hashlib.sha256(content).digest() + content)
        beside.replace(place / key)
    except OSError:
        with suppress(OSError):
            beside.unlink()
        return
    _make_room(place)


def _folder(*, make: bool = False) -> Path | None:
    """Where the files are: a folder of this user that nobody else may write to."""
    base = _base()
    if not _state["on"] or base is None or not hasattr(os, "geteuid"):
        return None
    place = base / "programs"
    try:
        if make:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
        there = place.lstat()
    except OSError:
        return None
    is_safe = stat.S_ISDIR(there.st_mode) and there.st_uid == os.geteuid()
    return place if is_safe and not there.st_mode & WRITABLE_BY_OTHERS else None


def _base() -> Path | None:
    """Our part of the cache folder, as the XDG specification has it, unless the user names another folder."""
    named, above, home = (os.environ.get(name, "") for name in (OWN, "XDG_CACHE_HOME", "HOME"))
    if named:
        return Path(named) if named.startswith("/") else None
    base = Path(above) if above.startswith("/") else Path(home, ".cache") if home.startswith("/") else None
    return None if base is None else base / "memfence"


def _make_room(place: Path) -> None:
    """Remove the files that were used longest ago, once there are too many bytes."""
    try:
        there = [(one.stat(follow_symlinks=False), one.path) for one in os.scandir(place) if OURS.fullmatch(one.name)]
    except OSError:
        return
    size = sum(about.st_size for about, _ in there)
    if size <= MOST_BYTES:
        return
    for about, path in sorted(there, key=lambda one: one[0].st_mtime_ns):
        if size <= MOST_BYTES * FILLED:
            return
        with suppress(OSError):
            Path(path).unlink()
            size -= about.st_size
