"""Every option that writes: an old file survives a failure, a pipe is written to, and no input is overwritten."""

from __future__ import annotations

import errno
import inspect
import os
import stat
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from memfence import output_files
from memfence.cli import places
from memfence.cli.app import app
from memfence.cli.exit_codes import Exit
from memfence.cli.main import add_verbs
from memfence.report.formats.table import FORMAT_NAMES, FORMATS
from memfence.verbs.names import IN_JSON
from support.command_line import ROOT, memfence

OLD = b"what was there before\n"
MODEL = (ROOT / "examples/lost_wakeup.pml").read_text()
LITMUS = (ROOT / "examples/store_buffering.litmus").read_text()
TRACE = '{"op": "init", "addr": "x", "value": 0}\n{"thread": "P", "op": "st", "addr": "x", "value": 1}\n'
C = """
#include <assert.h>
#include <pthread.h>
int x, y, a, b;
void *first(void *p) { x = 1; a = y; return 0; }
void *second(void *p) { y = 1; b = x; return 0; }
int main(void) {
    pthread_t t, u;
    pthread_create(&t, 0, first, 0); pthread_create(&u, 0, second, 0);
    pthread_join(t, 0); pthread_join(u, 0);
    assert(a == 1 && b == 1);
    return 0;
}
"""
LTL = "[]<> (P0@cs)"

FILES = {
    "check --html": "check m.pml --html OUT",
    "check --sarif": "check m.pml --sarif OUT",
    "check --junit": "check m.pml --junit OUT",
    "check --github": "check m.pml --github OUT",
    "check --certificate": "check m.pml --model sc --certificate OUT",
    "check --witness": "check m.c --model sc --witness OUT",
    "fix --html": "fix m.pml --html OUT",
    "fix --sarif": "fix m.pml --sarif OUT",
    "fix --junit": "fix m.pml --junit OUT",
    "fix --certificate": "fix m.pml --certificate OUT",
    "fix --output": "fix m.pml -o OUT",
    "why --html": "why m.pml --html OUT",
    "compare --html": "compare m.pml --no-fences --html OUT",
    "run --html": "run m.c --html OUT",
    "run --sarif": "run m.c --sarif OUT",
    "run --junit": "run m.c --junit OUT",
    "explore --html": "explore m.pml --html OUT",
    "explore --save-schedule": "explore m.pml --save-schedule OUT",
    "simulate --html": "simulate m.pml --html OUT",
    "simulate --save-schedule": "simulate m.pml --save-schedule OUT",
    "monitor --html": "monitor trace --html OUT",
    "translate --output": "translate m.pml --to dot -o OUT",
}
"""A command for each option that names a file to write. Each ends with the file written."""
OTHERS = {
    "examples --output": "never writes where something is",
    "relax --output": "goes through `write_patched` as the text of `fix` does",
    "test --output": "is written by `write_report` as reports are, where a client fails",
    "bench families --out": "goes through `write_report` after minutes of measuring",
}


OTHERS |= {
    f"{verb} --{form.name}": "is written by `Output.write` as the others are"
    for verb in IN_JSON
    for form in FORMATS
    if f"{verb} --{form.name}" not in FILES
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.pml").write_text(MODEL)
    (tmp_path / "m.c").write_text(C)
    (tmp_path / "m.litmus").write_text(LITMUS)
    (tmp_path / "trace").write_text(TRACE)
    return tmp_path


def run(line: str, folder: Path, out: str = "out") -> int:
    return memfence(*line.replace("OUT", out).split(), folder=folder).returncode


def options_that_write() -> Iterator[str]:
    add_verbs([])
    groups = [("", app), *((f"{one.name} ", one.typer_instance) for one in app.registered_groups)]
    for prefix, group in groups:
        for command in group.registered_commands:
            name = command.name or command.callback.__name__
            for parameter in inspect.signature(command.callback, eval_str=True).parameters.values():
                about = places.about_of(parameter)
                if places.is_written(about) or (about and getattr(about, "metavar", None) == "SVG"):
                    yield f"{prefix}{name} --{parameter.name.replace('_', '-')}"


def test_every_option_that_writes_is_in_the_table() -> None:
    assert sorted(options_that_write()) == sorted([*FILES, *OTHERS])


def test_the_options_that_write_are_told_from_the_others() -> None:
    """Whatever is a path and is not read is written: in `bench` and where folders are written, by other means."""
    known = {*FORMAT_NAMES, "witness", "certificate", "output", "save_schedule"}
    folders = {"save", "save_trace", "emit", "folder", "out", "examples", "corpus"}
    read = {"file", "files", "replay", "script", "atomic"}
    add_verbs([])
    for command in app.registered_commands:
        for parameter in inspect.signature(command.callback, eval_str=True).parameters.values():
            if "Path" in str(parameter.annotation) and not isinstance(
                places.about_of(parameter), typer.models.ArgumentInfo
            ):
                assert parameter.name in known | folders | read, parameter.name


@pytest.mark.parametrize("option", FILES)
def test_an_old_file_is_replaced_as_a_whole(option: str, folder: Path) -> None:
    out = folder / "out"
    out.write_bytes(OLD * 10_000)
    out.chmod(0o640)
    before = set(folder.iterdir())
    code = run(FILES[option], folder)
    assert code in (Exit.HOLDS, Exit.VIOLATED, Exit.UNKNOWN)
    assert OLD not in out.read_bytes() and out.stat().st_size > 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o640
    assert set(folder.iterdir()) == before


@pytest.mark.parametrize("option", FILES)
def test_a_full_disk_loses_nothing(option: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "out").write_bytes(OLD)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(output_files, "_write_all", full)
    assert run(FILES[option], folder) == Exit.USAGE
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def full(handle: int, content: bytes) -> None:
    os.write(handle, content[:7])
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("option", FILES)
def test_a_pipe_is_written_to_and_stays(option: str, folder: Path) -> None:
    pipe = folder / "out"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    code = run(FILES[option], folder)
    reader.join(60)
    assert code in (Exit.HOLDS, Exit.VIOLATED, Exit.UNKNOWN) and read[0]
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


@pytest.mark.parametrize("option", FILES)
def test_a_device_that_is_full_stays(option: str, folder: Path) -> None:
    """A copy of /dev/full: whatever happens to it, that of the machine stays."""
    device = folder / "out"
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        device.open("rb").close()
    except OSError:
        pytest.skip("this user may not make devices here")
    assert run(FILES[option], folder) == Exit.USAGE
    assert stat.S_ISCHR(device.lstat().st_mode)


@pytest.mark.parametrize("option", FILES)
def test_no_input_is_overwritten(option: str, folder: Path) -> None:
    line = FILES[option]
    read = line.split()[1]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    (folder / "link").symlink_to(read)
    (folder / "sub").mkdir()
    for name in (read, f"./{read}", f"sub/../{read}", str(folder / read), "link"):
        assert run(line, folder, name) == Exit.USAGE
    assert {path: path.read_bytes() for path in before} == before


def test_no_further_input_is_overwritten(folder: Path) -> None:
    (folder / "n.c").write_text("int other;\n")
    (folder / "m.cat").write_text('"all" empty 0 as nothing\n')
    (folder / "s").write_text("[]")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for line in (
        "check m.c n.c --html n.c", "run m.c n.c --junit n.c", "why m.pml:3 --html m.pml",
        "check m.c --model m.cat --html m.cat", "explore m.pml --replay s --html s",
        "simulate m.pml --script s --html s",
    ):  # fmt: skip
        assert run(line, folder) == Exit.USAGE, line
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("checked", ["", "--verify"])
@pytest.mark.parametrize("place", ["/dev/null", "pipe"])
def test_a_certificate_that_cannot_be_read_again_is_still_verified(place: str, checked: str, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    reader = threading.Thread(target=(folder / "pipe").read_bytes, daemon=True)
    if place == "pipe":
        reader.start()
    done = memfence("check", "m.pml", "--model", "sc", "--certificate", place, *checked.split(), folder=folder)
    assert done.returncode == Exit.HOLDS, done.stderr
    assert Path("/dev/null").is_char_device() and (folder / "pipe").is_fifo()


@pytest.mark.parametrize("place", ["/proc/self/proof", "/proc/proof", "/proc/self/task/proof", "/sys/proof"])
@pytest.mark.parametrize("verb", ["check m.pml --model sc", "fix m.pml"])
def test_a_certificate_where_no_file_can_be_is_wrong_usage(place: str, verb: str, folder: Path) -> None:
    if not Path(place).parent.exists():
        pytest.skip(f"the system has no {Path(place).parent}")
    done = memfence(*verb.split(), "--certificate", place, folder=folder)
    assert done.returncode == Exit.USAGE and "cannot write" in done.stderr


FOLDERS = {
    "run --save": "run m.c --save",
    "explore --save-trace": "explore m.pml --save-trace",
    "reproduce --emit": "reproduce m.litmus --seconds 0.05 --emit",
    "conform --emit": "conform m.litmus --seconds 0.05 --emit",
}


@pytest.mark.parametrize("option", FOLDERS)
def test_a_folder_that_is_a_file_is_refused_and_stays(option: str, folder: Path) -> None:
    (folder / "out").write_bytes(OLD)
    done = memfence(*FOLDERS[option].split(), "out", folder=folder)
    assert done.returncode == Exit.USAGE and "`out`: " in done.stderr
    assert (folder / "out").read_bytes() == OLD


@pytest.mark.parametrize("option", FOLDERS)
def test_files_in_a_folder_survive_a_full_disk(option: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = [*FOLDERS[option].split(), "out"]
    memfence(*line, folder=folder)
    before = {path: path.read_bytes() for path in (folder / "out").iterdir()}
    assert before
    for path in before:
        path.write_bytes(OLD)
    monkeypatch.setattr(output_files, "_write_all", full)
    assert memfence(*line, folder=folder).returncode == Exit.USAGE
    assert {path: path.read_bytes() for path in (folder / "out").iterdir()} == dict.fromkeys(before, OLD)


def test_bench_tables_are_written_whole_or_not_at_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from paper_tables import tables

    first = next(iter(tables.TABLES.values()))
    short: Any = replace(first, rows=lambda _: ())
    monkeypatch.setattr(tables, "TABLES", {first.name: short})
    monkeypatch.setattr("memfence.cli.bench.SOURCES", ROOT)
    line = ("bench", "tables", "-o", "out")
    assert memfence(*line, folder=folder).returncode == Exit.HOLDS
    for path in (folder / "out").iterdir():
        path.write_bytes(OLD)
    monkeypatch.setattr(output_files, "_write_all", full)
    assert memfence(*line, folder=folder).returncode == Exit.USAGE
    assert [path.read_bytes() for path in (folder / "out").iterdir()] == [OLD] * 2
    (folder / "file").write_bytes(OLD)
    assert memfence("bench", "tables", "-o", "file", folder=folder).returncode == Exit.USAGE


def test_examples_are_never_written_over_anything(folder: Path) -> None:
    (folder / "out").write_bytes(OLD)
    os.mkfifo(folder / "pipe")
    for name in ("out", "pipe"):
        assert memfence("examples", "lost_wakeup", "-o", name, folder=folder).returncode == Exit.USAGE
    assert (folder / "out").read_bytes() == OLD and (folder / "pipe").is_fifo()


def test_a_compiler_leaves_the_files_beside_its_output_alone(folder: Path) -> None:
    for name in ("m.memfence.s", "m.s", "m.i"):
        (folder / name).write_bytes(OLD)
    done = memfence("cc", "-c", "m.c", "-MD", folder=folder)
    assert done.returncode == 0 and (folder / "m.o").exists() and (folder / "m.d").read_text().startswith("m.o:")
    assert [(folder / name).read_bytes() for name in ("m.memfence.s", "m.s", "m.i")] == [OLD] * 3
    done = memfence("cc", "-c", "m.c", "-o", "n.o", "-MMD", "-MT", "other", folder=folder)
    assert done.returncode == 0 and (folder / "n.d").read_text().startswith("other:")
