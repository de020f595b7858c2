"""Files that users asked for: written whole or not at all, and nothing is removed that was not made here.

A new file, or one that is there already, is written beside its place and renamed, so that a full disk or an interrupt
leaves what was there before. What is no regular file (a device, a pipe) is written to, and stays. A file that a rename
would change in more than its content (it has another name, owner or attributes, or its folder takes no new files) is
written over, and gets its old content back if that fails. Links are followed.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from memfence.safe_points import uninterrupted

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
STANDARD_STREAMS = (1, 2)


class CannotWrite(OSError):
    """The file could not be written; what was there before is there still. `filename`: as the user named it."""


def write_file(path: Path, content: bytes) -> None:
    """Make `content` that of the file. CannotWrite where this is impossible."""
    try:
        _write(path, content)
    except OSError as problem:
        raise CannotWrite(problem.errno, problem.strerror, str(path)) from None
    except (ValueError, RuntimeError) as problem:  # a name with a zero byte, a loop of links
        raise CannotWrite(errno.EINVAL, str(problem), str(path)) from None


def make_folders(path: Path) -> None:
    """Make the folder and those above it, unless it is there. CannotWrite where this is impossible."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise CannotWrite(problem.errno, problem.strerror, str(path)) from None


def is_kept(path: Path) -> bool:
    """Whether what is written there can be read again: not so of devices, pipes and our own output."""
    try:
        there = path.stat()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return stat.S_ISREG(there.st_mode) and _stream_of(there) is None


def _write(path: Path, content: bytes) -> None:
    try:
        there = path.stat()
    except FileNotFoundError:
        _put_beside(Path(os.path.realpath(path)), content, None)
        return
    stream = _stream_of(there)
    if stream is not None:
        _write_to_stream(stream, content)
    elif not stat.S_ISREG(there.st_mode):
        _write_through(path, content)
    elif not os.access(path, os.W_OK):  # a rename would not ask
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    elif not _put_in_place_of(path, content, there):
        _write_over(path, content)


def _put_in_place_of(path: Path, content: bytes, there: os.stat_result) -> bool:
    """Replace the regular file by a new one; False where that cannot be done, or would change more than its content."""
    target = Path(os.path.realpath(path))
    try:
        if not os.path.samestat(target.lstat(), there):  # reached by a number of ours, as /proc/self/fd/7
            return False
        if there.st_nlink > 1 or (hasattr(os, "listxattr") and os.listxattr(target)):
            return False
        _put_beside(target, content, there)
    except _NotTheSame:
        return False
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise
        return False
    return True


class _NotTheSame(Exception):
    """The new file would belong to somebody else."""


def _put_beside(target: Path, content: bytes, there: os.stat_result | None) -> None:
    """Write a new file in the same folder, and give it the name; `there`: the file that has the name now."""
    name = target.parent / f".memfence-{os.urandom(8).hex()}"
    try:  # from before the file is there: time may be up at any moment
        handle = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if there is None else 0o600)
        try:
            if there is not None:
                _require_same_owner(os.fstat(handle), there)
                os.fchmod(handle, stat.S_IMODE(there.st_mode))
            _write_all(handle, content)
        finally:
            os.close(handle)
        name.replace(target)
    except FileExistsError:  # somebody else's
        raise
    except BaseException:
        with suppress(OSError):
            name.unlink()
        raise


def _require_same_owner(new: os.stat_result, there: os.stat_result) -> None:
    if (new.st_uid, new.st_gid) != (there.st_uid, there.st_gid):
        raise _NotTheSame


def _write_over(path: Path, content: bytes) -> None:
    """Write into the file itself, and on any failure write back what it had."""
    before = path.read_bytes()
    handle = os.open(path, os.O_RDWR)
    try:
        try:
            _fill(handle, content)
        except BaseException:
            with suppress(OSError):
                _put_back(handle, before)
            raise
    finally:
        os.close(handle)


def _fill(handle: int, content: bytes) -> None:
    os.lseek(handle, 0, os.SEEK_SET)
    _write_all(handle, content)
    os.ftruncate(handle, len(content))


@uninterrupted
def _put_back(handle: int, before: bytes) -> None:
    _fill(handle, before)


def _write_through(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
    try:
        _write_all(handle, content)
    finally:
        os.close(handle)


def _stream_of(there: os.stat_result) -> int | None:
    """The number of our own output, if the file is that: it has a place of its own in the file."""
    for number in STANDARD_STREAMS:
        with suppress(OSError):
            if os.path.samestat(os.fstat(number), there):
                return number
    return None


def _write_to_stream(number: int, content: bytes) -> None:
    """After what was printed so far."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    _write_all(number, content)


def _write_all(handle: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(handle, rest) :]
