"""`memfence run --replay` believes no file: what it says is what the program does now."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from memfence.api.run import replay, run, schedules
from memfence.binary.build import Sources, build_program
from memfence.binary.schedule_file import read_schedule
from memfence.diagnostics import InputError
from memfence.tasks.answer import Verdict
from support.command_line import memfence
from support.run_programs import run_text, two_threads

BUFFERED = two_threads(
    "volatile int x, y, r = 1, s = 1;", "x = 1; r = y; assert(r || s);", "y = 1; s = x; assert(r || s);"
)
ASSERTION = two_threads("volatile int x, y;", "x = 1; assert(y == 1);", "y = x + 1;")
DEADLOCK = two_threads(
    "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;",
    "pthread_mutex_lock(&m); pthread_mutex_lock(&n); pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);",
    "pthread_mutex_lock(&n); pthread_mutex_lock(&m); pthread_mutex_unlock(&m); pthread_mutex_unlock(&n);",
)
LOST = two_threads(
    "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c = PTHREAD_COND_INITIALIZER; volatile int x;",
    "if (!x) { pthread_mutex_lock(&m); pthread_cond_wait(&c, &m); pthread_mutex_unlock(&m); }",
    "x = 1; pthread_mutex_lock(&m); pthread_cond_signal(&c); pthread_mutex_unlock(&m);",
)
BORDERLINE = two_threads("volatile int x, y, r, s;", "x = 1; r = y;", "y = 1; s = x;")
FREED = two_threads("int *volatile p;", "int *q = malloc(4); p = q; free(q);", "if (p) *p = 1;")
FAILING = {
    "buffered": BUFFERED,
    "assertion": ASSERTION,
    "deadlock": DEADLOCK,
    "lost": LOST,
    "borderline": BORDERLINE,
    "freed": FREED,
}
RIGHT = {
    "empty": "int main(void) { return 0; }",
    "the same memory": two_threads("volatile int x, y, r = 1, s = 1;", "x = 1; r = y;", "y = 2; s = x;").replace(
        "return 0;\n}\n", "if (0) assert(0); return 0;\n}\n"
    ),
    "fenced": BUFFERED.replace("x = 1;", "x = 1; __sync_synchronize();").replace(
        "y = 1;", "y = 1; __sync_synchronize();"
    ),
    "locked": two_threads(
        "pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; int n;",
        *["pthread_mutex_lock(&m); n++; pthread_mutex_unlock(&m);"] * 2,
    ),
}


def saved(folder: Path, text: str) -> list[Path]:
    """The findings of the program as files."""
    found = []
    for name, content in schedules(run_text(folder, text)):
        (folder / name).write_text(content)
        found.append(folder / name)
    assert found
    return found


def built(folder: Path, text: str, name: str) -> Path:
    (folder / f"{name}.c").write_text(text)
    (folder / name).mkdir()
    return build_program(Sources(files=(str(folder / f"{name}.c"),)), folder / name)


@pytest.mark.parametrize("kind", FAILING)
def test_a_finding_is_shown_again_by_the_program_that_it_is_about(tmp_path: Path, kind: str) -> None:
    result = run_text(tmp_path, FAILING[kind])
    files = saved(tmp_path, FAILING[kind])
    for finding, file in zip(result.findings, files, strict=True):
        again = replay([tmp_path / "program.c"], file)
        assert again.finding is not None and again.verdict is Verdict.VIOLATED
        if finding.is_confirmed:
            assert finding.confirmation is not None and again.finding.cause == finding.confirmation.kind
        else:
            assert (again.finding.kind, again.finding.cause) == (finding.kind, finding.cause)


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("right", RIGHT)
def test_a_schedule_of_another_program_makes_no_program_wrong(tmp_path: Path, kind: str, right: str) -> None:
    other = built(tmp_path, RIGHT[right], "other")
    is_right = run(other, timeout_seconds=30).verdict is Verdict.HOLDS
    for file in saved(tmp_path, FAILING[kind]):
        try:
            again = replay([other], file)
        except InputError as error:
            assert error.diagnostics[0].code.id == "MF303"
        else:
            assert again.verdict is Verdict.UNKNOWN
            assert again.finding is None or (again.finding.kind == "borderline" and not is_right)


def test_the_command_says_that_nothing_went_wrong_and_gives_no_verdict(tmp_path: Path) -> None:
    file = saved(tmp_path, BUFFERED)[0]
    value = json.loads(file.read_text())
    for cut in range(len(value["schedule"])):
        file.write_text(json.dumps({**value, "schedule": value["schedule"][:cut]}))
        done = memfence("run", tmp_path / "program.c", "--replay", file, "--json")
        shown = json.loads(done.stdout)
        assert (done.returncode, shown["verdict"]) == (4, "unknown"), done.stdout
        assert shown["files"] == [str(tmp_path / "program.c")]
    quiet = memfence("run", tmp_path / "program.c", "--replay", file, "--quiet")
    assert quiet.stdout.count("\n") == 1


def test_the_names_in_the_file_are_not_repeated_as_the_verdict(tmp_path: Path) -> None:
    file = saved(tmp_path, ASSERTION)[0]
    value = json.loads(file.read_text())
    file.write_text(json.dumps({**value, "kind": "THE END OF THE WORLD", "files": ["elsewhere.c"]}))
    done = memfence("run", tmp_path / "program.c", "--replay", file, "--quiet")
    assert done.returncode == 1 and "END" not in done.stdout and "elsewhere" not in done.stdout
    assert "VIOLATED (replayed): assertion" in done.stdout


def test_a_schedule_that_forgets_shared_memory_is_refused(tmp_path: Path) -> None:
    """A store that is no step would reach memory before older ones that wait in the buffer."""
    file = saved(tmp_path, BUFFERED)[0]
    value = json.loads(file.read_text())
    for forgotten in range(len(value["cells"])):
        cells = [cell for number, cell in enumerate(value["cells"]) if number != forgotten or cell[1] == 0]
        file.write_text(json.dumps({**value, "cells": cells}))
        if len(cells) < len(value["cells"]):
            with pytest.raises(InputError, match="MF303"):
                replay([tmp_path / "program.c"], file)


STRANGE: dict[str, Any] = {
    "deep": "[" * 100_000,
    "deep in an object": '{"format": ' + "[" * 100_000,
    "nothing": "",
    "a number": "7",
    "a list": "[]",
    "null": "null",
    "infinity": {"schedule": [float("inf")]},
    "negative infinity": {"load_address": float("-inf")},
    "not a number": {"cells": [[float("nan"), 4]]},
    "a fraction": {"schedule": [0.5]},
    "true": {"schedule": [True]},
    "a huge step": {"schedule": [10**30]},
    "a huge thread": {"threads": [[-1, 0], [0, 10**30]]},
    "a thread of nobody": {"threads": [[-1, 0], [5, 0]]},
    "no thread": {"threads": []},
    "many threads": {"threads": [[-1, 0]] + [[0, i] for i in range(100)]},
    "the same thread twice": {"threads": [[-1, 0], [0, 0], [0, 0]]},
    "a long cell": {"cells": [[4096, 4096]]},
    "a cell across": {"cells": [[4097, 8]]},
    "a negative cell": {"cells": [[-4096, 8]]},
    "a triple": {"cells": [[1, 2, 3]]},
    "a text": {"schedule": "0,1"},
    "an object": {"schedule": {}},
    "no texts": {"arguments": [1]},
    "a null byte": {"arguments": ["a\0b"]},
    "half a letter": {"arguments": ["\ud800"]},
    "a long argument": {"arguments": ["x" * 3_000_000]},
    "buffers": {"buffers": 2},
    "another format": {"format": "memfence-schedule-9"},
    "a format that is none": {"format": [1, 2, 3]},
    "many steps": {"schedule": [0] * 2_000_000},
    "a thread that there is not": {"schedule": [63]},
    "an empty buffer": {"schedule": [-1]},
}


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_schedule_is_refused_in_words(tmp_path: Path, name: str) -> None:
    file = saved(tmp_path, ASSERTION)[0]
    program = built(tmp_path, ASSERTION, "again")
    strange = STRANGE[name]
    text = strange if isinstance(strange, str) else json.dumps({**json.loads(file.read_text()), **strange})
    file.write_text(text)
    done = memfence("run", program, "--replay", file)
    assert done.returncode == 3 and "error[MF303]" in done.stderr, done.stderr[-300:]
    assert memfence("run", program, "--replay", file, "--json").returncode == 3


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(b"\xff\xfe{}")
    (tmp_path / "program.c").write_text(RIGHT["empty"])
    done = memfence("run", tmp_path / "program.c", "--replay", tmp_path / "bad.json")
    assert done.returncode == 3 and "error[MF" in done.stderr


def changed(text: str, chance: random.Random) -> str:
    """The file with a few of its characters replaced, dropped, doubled or moved."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(text) or 1)
        end = min(len(text), at + chance.randint(1, 12))
        match chance.randrange(4):
            case 0:
                text = text[:at] + chance.choice('0123456789-+.eE[]{},:"\\ntInfinity') + text[at + 1 :]
            case 1:
                text = text[:at] + text[end:]
            case 2:
                text = text[:at] + text[at:end] * chance.randint(2, 5) + text[end:]
            case _:
                text = text[end:] + text[:end] if chance.random() < 0.1 else text[:at] + text[at:end][::-1] + text[end:]
    return text


@pytest.mark.parametrize("kind", ["buffered", "assertion", "lost", "freed"])
def test_changed_files_are_read_or_refused_but_nothing_else_happens(tmp_path: Path, kind: str) -> None:
    file = saved(tmp_path, FAILING[kind])[0]
    program = built(tmp_path, FAILING[kind], "again")
    text = file.read_text()
    chance = random.Random(kind)
    runnable = 0
    for _ in range(3_000):
        file.write_text(changed(text, chance))
        try:
            read_schedule(file)
        except InputError as error:
            assert error.diagnostics[0].code.id in ("MF303", "MF002")
            continue
        runnable += 1
        if runnable > 60:
            continue
        try:
            again = replay([program], file, timeout_seconds=20)
        except InputError as error:
            assert error.diagnostics[0].code.id == "MF303"
        else:
            assert again.verdict in (Verdict.VIOLATED, Verdict.UNKNOWN)
            assert (again.verdict is Verdict.VIOLATED) <= (again.finding is not None)
    assert runnable > 20
