"""What stands behind the page: one folder, limits, and many visitors at once."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from memfence.models import catalogue
from memfence.models.catalogue import NAMES, states_of
from memfence.server.child import Question, ask
from memfence.server.ui.board import Board, Hall, packed, unpacked
from memfence.server.ui.folder import Folder, Outside
from support.c_compiler import HAS_CLANG

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SB = (EXAMPLES / "store_buffering.litmus").read_text()
ENDLESS = "byte a, b, c, d; active [4] proctype P() { do :: a++ :: b++ :: c++ :: d++ :: a-- :: c = b * 3 + d od }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.pml").write_text("secret")
    (inside / "good.pml").write_text("byte x;")
    (inside / "link.pml").symlink_to(tmp_path / "secret.pml")
    return Folder(inside)


@pytest.mark.parametrize("name", ["../secret.pml", "/etc/passwd", "link.pml", "", ".", "a/../../secret.pml", "a\0b"])
def test_nothing_outside_of_the_folder_is_read(name: str, folder: Folder) -> None:
    with pytest.raises(Outside):
        folder.read(name)


def test_the_files_of_the_folder_are_listed_and_read(folder: Folder) -> None:
    assert folder.files() == ["good.pml"]
    assert folder.read("good.pml") == "byte x;"


def test_what_is_no_file_or_too_long_is_not_read(folder: Folder) -> None:
    os.mkfifo(folder.root / "pipe.pml")
    (folder.root / "long.pml").write_text("x" * 200_001)
    (folder.root / "just.pml").write_text("x" * 200_000)
    with pytest.raises(Outside):
        folder.read("pipe.pml")
    with pytest.raises(ValueError, match="longer than 200,000"):
        folder.read("long.pml")
    assert len(folder.read("just.pml")) == 200_000


def test_a_text_that_is_too_long_is_not_asked_about() -> None:
    board = Board(Hall(Folder(EXAMPLES)), "x.pml", "x" * 200_001)
    for asked in (board.ask("check"), board.read(), board.walk([])):
        assert "longer than 200,000" in str(asyncio.run(asked))


def test_whatever_the_page_asks_is_asked_of_a_confined_process() -> None:
    board = Board(Hall(Folder(EXAMPLES)), "x.pml", "byte x;")
    for verb in ("check", "fix", "compare", "outcomes", "graph", "diagnose", "walk"):
        question = board._question(verb, {})
        assert question.is_confined and question.folder == str(EXAMPLES)
        assert b'"is_confined": true' in question.line()


def test_a_program_in_an_address_comes_back() -> None:
    assert unpacked(packed("sb.litmus", SB)) == ("sb.litmus", SB)


@pytest.mark.parametrize(
    "part",
    [
        "",
        "?",
        "AAAA",
        packed("../up.pml", "x"),
        packed("/b.pml", "x"),
        packed("a/../../b.pml", "x"),
        packed("x.pml", "y" * 300_000),
    ],
)
def test_other_addresses_hold_no_program(part: str) -> None:
    assert unpacked(part) is None


def test_time_and_memory_are_limited() -> None:
    found = asyncio.run(ask(Question("check", "e.pml", ENDLESS, {"forbid": ["a == 300"]}, timeout_seconds=1)))
    assert found["verdict"] in ("unknown", "holds_up_to")
    asked = Question("check", "e.pml", ENDLESS, {"forbid": ["a == 300"]}, timeout_seconds=60, memory_megabytes=40)
    found = asyncio.run(ask(asked))
    assert "memory" in str(found["limit"])


@pytest.mark.parametrize("asked, given", [(1e9, 600), (-5, 1), (0, 1), (None, 1), (float("nan"), 1), (30, 30)])
def test_no_visitor_gets_more_time_than_there_is(asked: float, given: float) -> None:
    question = Board(Hall(Folder(EXAMPLES)), "e.pml", ENDLESS, seconds=asked)._question("check", {})
    assert question.timeout_seconds == given
    assert question.memory_megabytes == 2_000


RUNS = """
#include <stdio.h>
__attribute__((constructor)) static void before(void) {{ fclose(fopen("{path}", "w")); }}
int main(void) {{ fclose(fopen("{path}", "w")); return 0; }}
"""


@pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")
def test_a_program_is_read_and_never_run(tmp_path: Path) -> None:
    async def visit() -> object:
        board = Board(Hall(Folder(tmp_path)), "runs.c", RUNS.format(path=tmp_path / "ran"))
        return await board.ask("check"), await board.ask("fix"), await board.walk([]), await board.leave()

    assert asyncio.run(visit())
    assert sorted(path.name for path in tmp_path.iterdir()) == []


def test_a_visitor_who_leaves_ends_the_search() -> None:
    async def visit() -> object:
        board = Board(Hall(Folder(EXAMPLES)), "e.pml", ENDLESS, forbid="a == 300")
        asked = asyncio.ensure_future(board.ask("check"))
        await asyncio.sleep(0.5)
        assert board.is_searching
        await board.leave()
        return await asked

    assert asyncio.run(visit()) is None


@pytest.mark.parametrize("model", NAMES)
def test_every_model_can_be_asked_about_and_those_with_states_walked_through(model: str) -> None:
    async def visit() -> tuple[Any, ...]:
        board = Board(Hall(Folder(EXAMPLES)), "sb.litmus", SB, model=model)
        found = await board.ask("check"), await board.ask("graph"), await board.walk([1])
        await board.leave()
        return found

    checked, graph, walk = asyncio.run(visit())
    if not catalogue.knows(model, "litmus"):
        assert "error" in checked and model in str(checked)
    else:
        assert checked["verdict"] == ("holds" if model == "sc" else "violated")
    if states_of(model):
        assert "svg" in graph and walk["steps"] == 1
    else:
        assert all(f"`{model}` has no states" in found["usage"] for found in (graph, walk))


ASKING = """
import asyncio
from memfence.server.child import Conversation, Question

async def main():
    talk = Conversation()
    asked = asyncio.ensure_future(talk.ask(Question("check", "e.pml", {text!r}, {{"forbid": ["a == 300"]}})))
    while talk._child is None:
        await asyncio.sleep(0.05)
    print(talk._child.pid, flush=True)
    await asked

asyncio.run(main())
"""


def test_a_search_ends_with_a_server_that_is_killed() -> None:
    server = subprocess.Popen([sys.executable, "-c", ASKING.format(text=ENDLESS)], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    child = int(server.stdout.readline())
    os.kill(child, 0)
    server.kill()
    server.wait()
    end = time.monotonic() + 20
    while is_running(child) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_running(child)


def is_running(number: int) -> bool:
    """Whether the process exists and has not ended; one that nobody waited for has."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True).stdout.strip()
    return bool(shown) and not shown.startswith("Z")


@pytest.mark.slow
def test_twenty_visitors_are_served_at_once() -> None:
    async def visit(hall: Hall, number: int) -> object:
        board = Board(hall, "sb.litmus", SB, model=("sc", "tso")[number % 2])
        found = await board.ask("check")
        walk = await board.walk([1])
        await board.leave()
        return found and found["verdict"], walk["steps"]

    async def all_of_them() -> list[object]:
        hall = Hall(Folder(EXAMPLES))
        return list(await asyncio.gather(*(visit(hall, number) for number in range(20))))

    assert asyncio.run(all_of_them()) == [("holds", 1), ("violated", 1)] * 10
