"""Files that users asked for: whole or not at all; what was there before is neither lost nor another thing then."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memfence import output_files
from memfence.deadline import Deadline, TimeUp
from memfence.output_files import CannotWrite, is_kept, make_folders, write_file

OLD, NEW = b"what was there before\n", b"something new, and longer than what was there before\n" * 1000


def only(folder: Path, *names: str) -> bool:
    """Whether the folder has these files and nothing else, nothing half done among it."""
    return sorted(path.name for path in folder.iterdir()) == sorted(names)


@contextmanager
def disk_with_room_for(size: int) -> Iterator[None]:
    """Writing more than so many bytes fails as on a full disk, wherever it is done."""
    left, real = [size], os.write

    def write(handle: int, content: bytes) -> int:
        fits = min(left[0], len(content))
        if fits == 0 and len(content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left[0] -= fits
        return real(handle, content[:fits])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output_files.os, "write", write)
        yield


def test_a_new_file_is_written_as_the_mask_says(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        write_file(tmp_path / "new", NEW)
    finally:
        os.umask(mask)
    assert (tmp_path / "new").read_bytes() == NEW
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    assert only(tmp_path, "new")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_file_keeps_its_permissions(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(OLD)
    path.chmod(mode)
    write_file(path, NEW)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (NEW, mode)
    assert only(tmp_path, "old")


@pytest.mark.parametrize("room", [0, 1, 100, len(OLD), len(NEW) - 1])
def test_a_full_disk_leaves_what_was_there(room: int, tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(OLD)
    with disk_with_room_for(room), pytest.raises(CannotWrite) as refused:
        write_file(tmp_path / "old", NEW)
    assert (refused.value.errno, refused.value.filename) == (errno.ENOSPC, str(tmp_path / "old"))
    assert (tmp_path / "old").read_bytes() == OLD
    assert only(tmp_path, "old")


@pytest.mark.parametrize("room", [0, 1, 100])
def test_a_full_disk_leaves_no_part_of_a_new_file(room: int, tmp_path: Path) -> None:
    with disk_with_room_for(room), pytest.raises(CannotWrite):
        write_file(tmp_path / "new", NEW)
    assert only(tmp_path)


def test_a_limit_on_the_size_of_files_is_a_full_disk(tmp_path: Path) -> None:
    """The kernel's own refusal, and not a pretended one."""
    pytest.importorskip("resource")
    (tmp_path / "old").write_bytes(OLD)
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom memfence.output_files import CannotWrite, write_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "for name in ('old', 'new'):\n"
        "    try:\n        write_file(Path(sys.argv[1]) / name, b'x' * 100_000)\n"
        "    except CannotWrite as refused:\n        print(refused.strerror)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "File too large\n" * 2, done.stderr
    assert (tmp_path / "old").read_bytes() == OLD
    assert only(tmp_path, "old")


def test_a_small_file_system_that_is_full_leaves_what_was_there(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True
    )
    if not mounted or mounted.returncode != 0:
        pytest.skip("this user may not mount a small file system")
    try:
        write_file(disk / "old", OLD)
        (disk / "linked").hardlink_to(disk / "old")
        write_file(disk / "alone", OLD)
        for name in ("alone", "linked", "new"):
            with pytest.raises(CannotWrite):
                write_file(disk / name, b"x" * 1_000_000)
        assert [(disk / name).read_bytes() for name in ("old", "linked", "alone")] == [OLD] * 3
        assert only(disk, "old", "linked", "alone")
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(OLD)
    (tmp_path / "link").symlink_to("folder/file")
    (tmp_path / "link to link").symlink_to("link")
    write_file(tmp_path / "link to link", NEW)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "link to link").is_symlink()
    assert (tmp_path / "folder" / "file").read_bytes() == NEW
    assert only(tmp_path / "folder", "file") and only(tmp_path, "folder", "link", "link to link")


def test_a_link_to_nothing_makes_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("new")
    write_file(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink() and (tmp_path / "new").read_bytes() == NEW


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(CannotWrite):
        write_file(tmp_path / "a", NEW)
    assert only(tmp_path, "a", "b")


@pytest.mark.parametrize("room", [None, 0, 1, 100, len(OLD), len(NEW) - 1])
def test_a_file_with_two_names_keeps_both(room: int | None, tmp_path: Path) -> None:
    """A rename would part them, so the file is written over, and gets back what it had if that fails."""
    (tmp_path / "one").write_bytes(OLD)
    (tmp_path / "other").hardlink_to(tmp_path / "one")
    if room is None:
        write_file(tmp_path / "one", NEW)
    else:
        failing = FailsOnce(room)
        with failing.patched(), pytest.raises(CannotWrite):
            write_file(tmp_path / "one", NEW)
    expected = NEW if room is None else OLD
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes() == expected
    assert (tmp_path / "one").samefile(tmp_path / "other") and only(tmp_path, "one", "other")


class FailsOnce:
    """A disk on which a longer file has no room, but the old content, whose room is there, has."""

    def __init__(self, room: int) -> None:
        self.left, self.has_failed = room, False

    @contextmanager
    def patched(self) -> Iterator[None]:
        real = os.write

        def write(handle: int, content: bytes) -> int:
            if self.has_failed:
                return real(handle, content)
            fits = min(self.left, len(content))
            self.left -= fits
            if not fits:
                self.has_failed = True
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return real(handle, content[:fits])

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(output_files.os, "write", write)
            yield


def test_time_that_is_up_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(OLD)
    real = os.write

    def slow(handle: int, content: bytes) -> int:
        if content[:1] == b"x":
            while True:
                pass
        return real(handle, content)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output_files.os, "write", slow)
        for name in ("old", "new"):
            with pytest.raises(TimeUp), Deadline(0.01).enforced(grace=0.0):
                write_file(tmp_path / name, b"x")
    assert (tmp_path / "old").read_bytes() == OLD
    assert only(tmp_path, "old")


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert received(pipe, lambda: write_file(pipe, NEW)) == NEW
    assert stat.S_ISFIFO(pipe.lstat().st_mode) and only(tmp_path, "pipe")


def received(pipe: Path, write: Callable[[], None]) -> bytes:
    """What comes out of the pipe while something is written."""
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write()
    reader.join()
    return read[0]


def test_a_pipe_behind_a_link_is_written_to_and_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    assert received(tmp_path / "pipe", lambda: write_file(tmp_path / "link", NEW)) == NEW
    assert (tmp_path / "link").is_symlink() and stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


def test_a_pipe_that_nobody_reads_any_more_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    real = os.write

    def gone(handle: int, content: bytes) -> int:
        os.close(reader)
        return real(handle, content)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(CannotWrite, match="Broken pipe"):
        patch.setattr(output_files.os, "write", gone)
        write_file(pipe, NEW)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7)}


@pytest.mark.parametrize("name", DEVICES)
@pytest.mark.parametrize("is_linked", [False, True], ids=["", "behind a link"])
def test_a_device_is_written_to_and_stays(name: str, is_linked: bool, tmp_path: Path) -> None:
    """Copies of devices: whatever happens to them, those of the machine stay."""
    device = tmp_path / name
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(*DEVICES[name]))
        device.open("rb").close()
    except OSError:
        pytest.skip("this user may not make devices here")
    named = device
    if is_linked:
        named = tmp_path / "link"
        named.symlink_to(name)
    if name == "full":
        with pytest.raises(CannotWrite, match="No space left"):
            write_file(named, NEW)
    else:
        write_file(named, NEW)
    assert stat.S_ISCHR(device.lstat().st_mode) and device.lstat().st_rdev == os.makedev(*DEVICES[name])
    assert not is_kept(named)


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="the system has no /dev/stdout")
@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1"])
@pytest.mark.parametrize("is_file", [False, True], ids=["a pipe", "a file"])
def test_what_is_written_to_standard_output_comes_after_what_was_printed(
    name: str, is_file: bool, tmp_path: Path
) -> None:
    code = (
        "from pathlib import Path\nfrom memfence.output_files import write_file\nprint('first')\n"
        f"write_file(Path({name!r}), b'second\\n')\nprint('third')\n"
    )
    with (tmp_path / "printed").open("w+b") as printed:
        output = printed if is_file else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code], stdout=output, stderr=subprocess.PIPE, timeout=60)
        printed.seek(0)
        told = printed.read() if is_file else done.stdout
    assert told == b"first\nsecond\nthird\n", done.stderr
    assert only(tmp_path, "printed")


@pytest.mark.parametrize("name", [".", "no/such/folder", "file/below", "x" * 300, "zero\0byte"])
def test_a_name_that_cannot_be_written_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(OLD)
    with pytest.raises(CannotWrite) as refused:
        write_file(tmp_path / name, NEW)
    assert refused.value.filename == str(tmp_path / name) and refused.value.strerror
    assert only(tmp_path, "file") and (tmp_path / "file").read_bytes() == OLD


def test_a_long_name_is_no_obstacle(tmp_path: Path) -> None:
    name = "ä" * 120
    write_file(tmp_path / name, NEW)
    write_file(tmp_path / name, OLD)
    assert (tmp_path / name).read_bytes() == OLD and only(tmp_path, name)


@pytest.mark.parametrize("path", ["/proc/self/nothing", "/proc/version", "/sys/nothing"])
def test_places_that_the_kernel_makes_are_refused(path: str) -> None:
    if not Path(path).parent.exists():
        pytest.skip(f"the system has no {Path(path).parent}")
    with pytest.raises(CannotWrite):
        write_file(Path(path), NEW)


NOBODY = 65_534


@contextmanager
def as_nobody() -> Iterator[Path]:
    """A folder that everybody reaches; inside, this process is somebody who is not root."""
    folder = Path(tempfile.mkdtemp(prefix="memfence-"))
    folder.chmod(0o777)
    real_access, access_options = os.access, {"effective_ids": os.access in os.supports_effective_ids}
    try:
        if os.getuid() == 0:
            os.seteuid(NOBODY)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(output_files.os, "access", lambda *given: real_access(*given, **access_options))
            yield folder
    finally:
        if os.getuid() == 0:
            os.seteuid(0)
        shutil.rmtree(folder)


def test_a_read_only_file_is_not_replaced() -> None:
    with as_nobody() as folder:
        (folder / "old").write_bytes(OLD)
        (folder / "old").chmod(0o444)
        with pytest.raises(CannotWrite, match="Permission denied"):
            write_file(folder / "old", NEW)
        assert (folder / "old").read_bytes() == OLD and only(folder, "old")


def test_a_read_only_folder_takes_no_new_file_and_keeps_the_old_one_writable() -> None:
    with as_nobody() as folder:
        inside = folder / "inside"
        inside.mkdir()
        (inside / "old").write_bytes(OLD)
        inside.chmod(0o555)
        try:
            with pytest.raises(CannotWrite, match="Permission denied"):
                write_file(inside / "new", NEW)
            write_file(inside / "old", NEW)
            assert (inside / "old").read_bytes() == NEW and only(inside, "old")
            with FailsOnce(100).patched(), pytest.raises(CannotWrite, match="No space left"):
                write_file(inside / "old", OLD * 5000)
            assert (inside / "old").read_bytes() == NEW and only(inside, "old")
        finally:
            inside.chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_a_file_of_somebody_else_stays_theirs(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(OLD)
    os.chown(tmp_path / "old", NOBODY, NOBODY)
    write_file(tmp_path / "old", NEW)
    assert (tmp_path / "old").read_bytes() == NEW
    assert ((tmp_path / "old").stat().st_uid, (tmp_path / "old").stat().st_gid) == (NOBODY, NOBODY)


def test_attributes_of_a_file_stay(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(OLD)
    try:
        os.setxattr(tmp_path / "old", "user.note", b"mine")
    except (OSError, AttributeError):
        pytest.skip("this file system has no attributes")
    write_file(tmp_path / "old", NEW)
    assert os.getxattr(tmp_path / "old", "user.note") == b"mine" and (tmp_path / "old").read_bytes() == NEW


def test_folders_are_made_or_refused(tmp_path: Path) -> None:
    make_folders(tmp_path / "a" / "b")
    make_folders(tmp_path / "a" / "b")
    (tmp_path / "file").write_bytes(OLD)
    for name in ("file", "file/below"):
        with pytest.raises(CannotWrite) as refused:
            make_folders(tmp_path / name)
        assert refused.value.filename == str(tmp_path / name)
