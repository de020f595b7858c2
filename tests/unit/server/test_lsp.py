"""Dialogues of an editor with `memfence lsp`, over its standard streams, by a real client of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pygls", reason="the extra `lsp` is not installed")

from lsprotocol import types

import memfence
from memfence.models.catalogue import NAMES, USUAL, WITHOUT_STATES
from memfence.server.lsp.documents import Settings
from support.c_compiler import HAS_CLANG
from support.lsp_client import Editor, edited, editor

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
Talk = Callable[[Editor], Awaitable[None]]
PETERSON = (EXAMPLES / "peterson.pml").read_text()
SB = (EXAMPLES / "store_buffering.litmus").read_text()
needs_clang = pytest.mark.skipif(not HAS_CLANG, reason="neither ziglang nor clang is installed")

ENDLESS = """
byte a, b, c, d, e, f;
active [4] proctype P() {
  do :: a++ :: b++ :: c++ :: d++ :: e++ :: f++ :: a-- :: c = b * 3 + d od
}
ltl p { [] !(a == 251 && b == 17 && c == 99 && d == 200 && e == 1 && f == 7) }
"""
"""More states than any search of these tests visits."""


@pytest.fixture(scope="module")
def talk() -> Iterator[Callable[[Talk], None]]:
    """Runs a dialogue with an editor that all dialogues of this module share, as users do."""
    loop = asyncio.new_event_loop()
    opening = editor(timeoutSeconds=20)
    opened = loop.run_until_complete(opening.__aenter__())
    yield lambda dialogue: loop.run_until_complete(dialogue(opened))
    loop.run_until_complete(opening.__aexit__(None, None, None))
    loop.close()


def codes(found: list[types.Diagnostic]) -> list[object]:
    return [one.code for one in found]


BROKEN = {
    "promela": ("broken.pml", "byte x;\nactive proctype P() { x = ; }\n"),
    "unknown name": ("name.pml", "byte x;\nactive proctype P() { xx = 1 }\n"),
    "litmus": ("broken.litmus", "X86 SB\n{ x=0; }\n P0 ;\n FLY [x],$1 ;\nexists (x=1)\n"),
    "rmm": ("broken.rmm", "forbidden\n*\nprocess\ntext\n  write x := ;\n"),
    "dve": ("broken.dve", "byte x;\nprocess P { state a; init b; trans a -> ; }\nsystem async;\n"),
    "persist": ("broken.pst", "program x\nprocs begin\n"),
    "no language": ("unknown.xyz", "what is this\n"),
    "empty": ("empty.pml", ""),
    "no text": ("zeros.pml", "\0\0\0"),
    "wide characters": ("wide.pml", "/* 😀😀 */ byte x; active proctype P() { 😀 = 1 }\n"),
}


OFTEN = ("unknown name", "no language")
"""What is tried in every run of the tests; the others are slow together."""


@pytest.mark.parametrize(
    "name", [name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow) for name in BROKEN]
)
def test_a_broken_file_shows_its_mistakes_and_the_server_goes_on(name: str, talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        path, text = BROKEN[name]
        address = opened.open(path, text)
        found = await opened.diagnostics(address)
        assert found
        assert all(str(code).startswith("MF") for code in codes(found))
        assert await opened.lenses(address) == []
        opened.close(address)

    talk(dialogue)


def test_a_mistake_that_is_repaired_goes_away(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("repaired.pml", "byte x;\nactive proctype P() { y = 1 }\n")
        (found,) = await opened.diagnostics(address)
        assert (found.range.start.line, found.range.start.character) == (1, 22)
        at = types.Range(types.Position(1, 22), types.Position(1, 23))
        opened.change(address, "x", at)
        assert await opened.diagnostics(address) == []

    talk(dialogue)


@pytest.mark.slow
def test_places_are_counted_as_the_protocol_counts(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("emoji.pml", "byte x; active proctype P() { /* 😀 */ y = 1 }\n")
        (found,) = await opened.diagnostics(address)
        assert found.range.start.character == 39  # the emoji is two units, one character

    talk(dialogue)


def test_check_fix_and_the_action_lead_to_a_text_that_holds(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("mutex.pml", PETERSON.replace("memfence.h", str(EXAMPLES / "memfence.h")))
        text = PETERSON.replace("memfence.h", str(EXAMPLES / "memfence.h"))
        assert [lens.command.title for lens in await opened.lenses(address) if lens.command] == ["check", "fix", "why"]
        assert (await opened.command("check", address))["verdict"] == "violated"
        (found,) = await opened.diagnostics(address, lambda one: codes(one) == ["violated"])
        assert len(found.related_information or []) >= 4
        assert (await opened.command("fix", address))["verdict"] == "fixed"
        (action,) = await opened.actions(address)
        assert action.edit is not None
        patched = edited(text, action.edit, address)
        opened.change(address, patched)
        assert (await opened.command("check", address))["verdict"] == "holds"

    talk(dialogue)


def test_fix_can_ask_the_editor_to_insert_the_fences(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("sb.litmus", SB)
        (action,) = await opened.actions(address)
        assert isinstance(action, types.Command)
        assert list(action.arguments or ()) == [address, True]
        await opened.command("fix", address, True)
        assert edited(SB, opened.edits.pop(), address).count("MFENCE") == 2

    talk(dialogue)


def test_hover_tells_the_values_of_a_register_and_whether_a_fence_is_needed(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        fenced = SB.replace(" MOV EAX,[y]", " MFENCE      | MFENCE      ;\n MOV EAX,[y]")
        address = opened.open("fenced.litmus", fenced)
        line = fenced.split("\n").index(next(one for one in fenced.split("\n") if "MFENCE" in one)) + 1
        assert "needed" in await opened.hover(address, line, 3)
        shown = await opened.hover(address, line + 1, 7)
        assert "`P0`: `EAX` is 0 or 1" in shown
        assert await opened.hover(address, 1, 1) == ""

    talk(dialogue)


def test_cancel_ends_a_search_at_once(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("endless.pml", ENDLESS)
        assert await opened.diagnostics(address) == []
        asked = asyncio.ensure_future(opened.command("check", address))
        while not children():
            await asyncio.sleep(0.05)
        assert await opened.command("cancel", address) == 1
        assert await asked is None
        assert children() == []

    talk(dialogue)


def children() -> list[str]:
    """The searches that run now, of any server of this process's."""
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid=,args="], capture_output=True, text=True).stdout.split("\n")
    rows = [line.split(None, 2) for line in listed if line.strip()]
    servers = {pid for parent, pid, text in rows if parent == str(os.getpid()) and "memfence lsp" in text}
    return [pid for parent, pid, text in rows if parent in servers and "memfence.server.worker" in text]


def test_a_question_that_the_editor_takes_back_is_ended(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("taken_back.pml", ENDLESS)
        assert await opened.diagnostics(address) == []
        asked = types.ExecuteCommandParams("memfence.check", [address])
        future = opened.client.protocol.send_request("workspace/executeCommand", asked, msg_id="taken-back")
        while not children():
            await asyncio.sleep(0.05)
        opened.client.protocol.notify("$/cancelRequest", types.CancelParams("taken-back"))
        while children():
            await asyncio.sleep(0.05)
        future.cancel()
        assert await opened.lenses(address)

    talk(dialogue)


def test_an_edit_during_a_search_ends_it(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("edited.pml", ENDLESS)
        asked = asyncio.ensure_future(opened.command("check", address))
        while not children():
            await asyncio.sleep(0.05)
        opened.change(address, "byte x; active proctype P() { x = 1; assert(x == 1) }\n")
        assert await asked is None
        assert (await opened.command("check", address))["verdict"] == "holds"

    talk(dialogue)


def test_a_rename_during_a_search_ends_it_and_the_new_name_works(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("before.pml", ENDLESS)
        asked = asyncio.ensure_future(opened.command("check", address))
        while not children():
            await asyncio.sleep(0.05)
        renamed = Path("after.pml").absolute().as_uri()
        files = types.RenameFilesParams([types.FileRename(address, renamed)])
        opened.client.workspace_did_rename_files(files)
        assert await asked is None
        assert len(await opened.lenses(renamed)) == 3
        opened.close(renamed)
        assert await opened.lenses(renamed) == []

    talk(dialogue)


def test_commands_about_files_that_are_not_open_are_answered(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        for word in ("check", "fix", "why"):
            assert await opened.command(word, "untitled:nowhere.pml") is None
        assert await opened.command("cancel", "untitled:nowhere.pml") == 0
        assert await opened.hover("untitled:nowhere.pml", 1, 1) == ""
        assert await opened.actions("untitled:nowhere.pml") == []

    talk(dialogue)


@pytest.mark.slow
def test_settings_choose_the_model(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        path = EXAMPLES / "message_passing.pml"
        address = opened.open(path, path.read_text())
        verdicts = []
        for settings in ({"model": "pso"}, {"model": "nonsense", "timeoutSeconds": "x"}):
            changed = types.DidChangeConfigurationParams({"memfence": settings})
            opened.client.workspace_did_change_configuration(changed)
            verdicts.append((await opened.command("check", address))["verdict"])
        assert verdicts == ["violated", "holds"]

    talk(dialogue)


MESSAGE_PASSING = """
#include <assert.h>
#include <stdatomic.h>
#include <threads.h>
atomic_int data, flag;
int writer(void *_) {
  atomic_store_explicit(&data, 1, memory_order_relaxed);
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return 0;
}
int main(void) {
  thrd_t other;
  thrd_create(&other, writer, 0);
  if (atomic_load_explicit(&flag, memory_order_relaxed))
    assert(atomic_load_explicit(&data, memory_order_relaxed));
  thrd_join(other, 0);
}
"""


@needs_clang
@pytest.mark.parametrize(
    "model", [name if name == "rc11" else pytest.param(name, marks=pytest.mark.slow) for name in WITHOUT_STATES]
)
def test_a_model_without_states_marks_what_fails_and_fixes_it(model: str, talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        opened.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({"model": model}))
        address = opened.open("passing.c", MESSAGE_PASSING)
        assert (await opened.command("check", address))["verdict"] == "violated"
        (found,) = await opened.diagnostics(address, lambda one: codes(one) == ["violated"])
        assert "assert(" in MESSAGE_PASSING.splitlines()[found.range.start.line]
        assert f"(under {model})" in found.message and "passing.c" not in found.message
        assert await opened.hover(address, found.range.start.line + 1, 35) == ""
        assert (await opened.command("fix", address))["verdict"] == "fixed"
        (action,) = await opened.actions(address)
        assert action.edit is not None
        opened.change(address, edited(MESSAGE_PASSING, action.edit, address))
        assert (await opened.command("check", address))["verdict"] == "holds"
        (line,) = [
            n
            for n, text in enumerate(edited(MESSAGE_PASSING, action.edit, address).splitlines(), 1)
            if "acquire" in text
        ]
        assert "is needed" in await opened.hover(address, line, 3)
        opened.client.workspace_did_change_configuration(types.DidChangeConfigurationParams({}))

    talk(dialogue)


@pytest.mark.parametrize("model", [*NAMES, USUAL, "mine.cat"])
def test_every_model_of_the_command_line_can_be_a_setting(model: str) -> None:
    assert Settings.of({"model": model}).model == model


@pytest.mark.parametrize("model", ["", "nonsense", "x86,nonsense", 7, None, ["tso"]])
def test_what_is_no_model_is_left_at_the_default(model: object) -> None:
    assert Settings.of({"model": model}).model == Settings().model


@needs_clang
def test_c_is_checked_and_fixed(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        path = EXAMPLES / "c" / "musl_unlock.c"
        address = opened.open(path, path.read_text())
        assert await opened.diagnostics(address) == []
        await opened.command("fix", address, True)
        assert "atomic_thread_fence" in edited(path.read_text(), opened.edits.pop(), address)

    talk(dialogue)


@pytest.mark.slow
@needs_clang
def test_a_violation_is_marked_at_the_store_that_is_overtaken(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        path = EXAMPLES / "c" / "musl_unlock.c"
        address = opened.open(path, path.read_text())
        await opened.command("check", address)
        (found,) = await opened.diagnostics(address, lambda one: "violated" in codes(one))
        lines = path.read_text().splitlines()
        assert "lock = 0;" in lines[found.range.start.line]
        assert found.message.startswith("DEADLOCK: `waiter` sleeps for ever") and str(path) not in found.message
        related = [one.location.range.start.line for one in found.related_information or []]
        assert any("__atomic_load_n(&waiters" in lines[line] for line in related)
        texts = [one.message for one in found.related_information or []]
        assert len(texts) == len(set(texts))

    talk(dialogue)


@needs_clang
def test_a_mistake_in_c_is_shown_where_it_is(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open("broken.c", "int main(void)\n{\n    return nothing;\n}\n")
        found = await opened.diagnostics(address)
        assert found[0].range.start.line == 2

    talk(dialogue)


MORE_EXAMPLES = {
    "peterson.pml": "violated",
    "dekker.pml": "violated",
    "ticket_lock.pml": "holds",
    "store_buffering.litmus": "violated",
    "message_passing.pml": "holds",
    "lost_wakeup.pml": "violated",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE_EXAMPLES)
def test_the_verdict_is_that_of_the_command_line(name: str, talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        path = EXAMPLES / name
        address = opened.open(path, path.read_text())
        assert (await opened.command("check", address))["verdict"] == MORE_EXAMPLES[name]
        why = await opened.command("why", address)
        assert why["criteria"][0]["verdict"] == MORE_EXAMPLES[name]

    talk(dialogue)


GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "programs"
LANGUAGES = {
    "persist": "persist/peterson.pst",
    "rmm": "rmm/handshake.rmm",
    "dve": "../../../examples/dve/dekker.dve",
    "litmus": "litmus/store_buffering.litmus",
    "trencher": "trencher/ring.txt",
    "remmex": "remmex/peterson.remmex",
}


@pytest.mark.parametrize("language", [pytest.param(name, marks=pytest.mark.slow) for name in LANGUAGES])
def test_other_languages_are_checked_broken_and_repaired(language: str, talk: Callable[[Talk], None]) -> None:
    path = (GOLDEN / LANGUAGES[language]).resolve()
    text = path.read_text()
    expected = memfence.check(path, model="tso", timeout_seconds=20).verdict

    async def dialogue(opened: Editor) -> None:
        address = opened.open(path, text)
        assert await opened.diagnostics(address) == []
        assert len(await opened.lenses(address)) == 3
        asked = asyncio.ensure_future(opened.command("check", address))
        await asyncio.sleep(0.05)  # the question is on its way
        opened.change(address, text[: len(text) // 2])
        assert await opened.diagnostics(address, lambda found: bool(found))
        first = await asked
        assert first is None or first["verdict"] == expected
        opened.change(address, text)
        assert await opened.diagnostics(address, lambda found: not found) == []
        assert (await opened.command("check", address))["verdict"] == expected
        opened.close(address)

    talk(dialogue)


ANY_NUMBER = (EXAMPLES / "any_number" / "test_and_set.pml").read_text()


def test_programs_for_any_number_of_threads_have_no_mistake(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        address = opened.open(EXAMPLES / "any_number" / "test_and_set.pml", ANY_NUMBER)
        assert await opened.diagnostics(address) == []
        assert (await opened.command("check", address))["verdict"] == "holds"

    talk(dialogue)


async def edit_at_random(opened: Editor, seed: int, count: int) -> list[types.Diagnostic]:
    """Random insertions and deletions, some of them nonsense; then the old text again."""
    random = Random(seed)
    address = opened.open(f"random{seed}.pml", PETERSON)
    for number in range(count):
        lines = PETERSON.split("\n")
        line, end = random.randrange(len(lines) + 2), random.randrange(len(lines) + 2)
        start, stop = sorted([(line, random.randrange(30)), (end, random.randrange(30))])
        at = types.Range(types.Position(*start), types.Position(*stop))
        opened.change(address, random.choice(["", "x", "\n", "}", "😀", "/*", "do :: ", "\0", PETERSON[:200]]), at)
        if number % 10 == 0:
            await asyncio.sleep(random.choice([0, 0.01, 0.2]))
        if number % 25 == 0:
            await opened.lenses(address)
    opened.shown.pop(address, None)
    opened.change(address, "byte x; active proctype P() { x = 1 }\n")
    return list(await opened.diagnostics(address, lambda found: not found))


def test_random_edits_never_crash_it(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        assert await edit_at_random(opened, 1, 100) == []

    talk(dialogue)


@pytest.mark.slow
def test_a_thousand_random_edits_never_crash_it(talk: Callable[[Talk], None]) -> None:
    async def dialogue(opened: Editor) -> None:
        for seed in range(2, 12):
            assert await edit_at_random(opened, seed, 100) == []

    talk(dialogue)


def test_a_server_whose_editor_is_gone_leaves_no_process() -> None:
    async def dialogue() -> list[str]:
        server = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "memfence", "lsp", stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert server.stdin is not None
        server.stdin.close()
        async with asyncio.timeout(30):
            await server.wait()
        return children()

    assert asyncio.run(dialogue()) == []


def message(**parts: object) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **parts}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def test_a_server_that_is_told_to_exit_does_so_without_complaint() -> None:
    hello = {"processId": None, "rootUri": None, "capabilities": {}}
    said = message(id=1, method="initialize", params=hello) + message(method="initialized", params={})
    said += message(id=2, method="shutdown") + message(method="exit")
    command = [sys.executable, "-m", "memfence", "lsp"]
    done = subprocess.run(command, input=said, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
