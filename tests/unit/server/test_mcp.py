"""memfence as tools of an assistant: the package's own client goes through them, and nothing outside is read."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from memfence.report.schemas import schema_names
from memfence.server.mcp.answering import ToolAnswer, answered
from memfence.server.mcp.catalogue import TOOLS
from support.c_compiler import needs_clang

MESSAGE = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
int data;
atomic_int ready;
void *writer(void *unused) {
  data = 42;
  atomic_store_explicit(&ready, 1, memory_order_relaxed);
  return 0;
}
void *reader(void *unused) {
  if (atomic_load_explicit(&ready, memory_order_acquire)) assert(data == 42);
  return 0;
}
int main(void) {
  pthread_t p, q;
  pthread_create(&p, 0, writer, 0);
  pthread_create(&q, 0, reader, 0);
  pthread_join(p, 0);
  pthread_join(q, 0);
}
"""
MODEL = "bool x, y;\nactive proctype P() { x = true; assert(true) }\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "mp.c").write_text(MESSAGE)
    (inside / "m.pml").write_text(MODEL)
    (tmp_path / "secret.pml").write_text(MODEL)
    (inside / "link.pml").symlink_to(tmp_path / "secret.pml")
    return inside


def asked(folder: Path, name: str, **arguments: Any) -> ToolAnswer:
    return asyncio.run(answered(name, arguments, folder))


@needs_clang
def test_the_own_client_goes_through_check_why_and_fix(folder: Path) -> None:
    client = pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

    async def talk() -> dict[str, Any]:
        here = client.StdioServerParameters(
            command=sys.executable, args=["-m", "memfence", "mcp"], cwd=str(folder), env={**os.environ}
        )
        async with client.Client(here) as session:
            names = [tool.name for tool in (await session.list_tools()).tools]
            asked = {"file": "mp.c", "model": "rc11"}
            found = {name: await session.call_tool(name, asked) for name in ("check", "why", "fix")}
            return {"names": names, **found, "outside": await session.call_tool("check", {"file": "../secret.pml"})}

    found = asyncio.run(talk())
    assert found["names"] == ["check", "why", "fix", "compare", "relax", "explain"]
    assert found["check"].structured_content["verdict"] == "violated"
    assert "fails as it is" in found["why"].content[0].text
    assert found["fix"].structured_content["verdict"] == "fixed"
    assert "memory_order_release" in found["fix"].structured_content["patched"]
    assert found["outside"].is_error and "is not in the folder" in found["outside"].content[0].text
    assert (folder / "mp.c").read_text() == MESSAGE


@pytest.mark.parametrize("file", ["../secret.pml", "/etc/hostname", "link.pml", "", ".", "nothing.pml"])
def test_what_is_not_a_file_of_the_folder_is_refused(folder: Path, file: str) -> None:
    assert asked(folder, "check", file=file).is_error
    assert asked(folder, "compare", files=["m.pml", file]).is_error


@needs_clang
def test_an_include_from_outside_is_not_read(folder: Path) -> None:
    (folder.parent / "secret.h").write_text("#error told\n")
    (folder / "a.c").write_text('#include "../secret.h"\nint main(void) { return 0; }\n')
    found = asked(folder, "check", file="a.c")
    assert found.is_error and "told" not in found.text


def test_answers_are_what_json_prints(folder: Path) -> None:
    from jsonschema import Draft202012Validator

    found = asked(folder, "check", file="m.pml", model="tso")
    schema = next(tool for tool in TOOLS if tool.name == "check").output_schema
    assert found.data is not None and found.data["verdict"] == "holds" and schema is not None
    Draft202012Validator(schema).validate(json.loads(json.dumps(found.data)))
    assert {name for tool in TOOLS for name in tool.answers} <= set(schema_names())


@needs_clang
def test_relax_and_compare_are_tools_too(folder: Path) -> None:
    (folder / "good.c").write_text(MESSAGE.replace("memory_order_relaxed", "memory_order_seq_cst"))
    relaxed = asked(folder, "relax", file="good.c", model="rc11")
    assert relaxed.data is not None and relaxed.data["verdict"] == "relaxed"
    compared = asked(folder, "compare", files=["mp.c", "good.c"], model="rc11")
    assert compared.data is not None and compared.data["best"] == ["good.c"]


def test_what_makes_no_sense_is_said(folder: Path) -> None:
    assert "there is no tool" in asked(folder, "run", file="m.pml").text
    assert "`speed` is no argument" in asked(folder, "check", file="m.pml", speed=1).text
    assert "`file` is missing" in asked(folder, "check").text
    assert "'nine'" in asked(folder, "check", file="m.pml", model="nine").text
    assert "MF101" in asked(folder, "explain", code="mf101").text
    assert asked(folder, "explain", code="MF000").is_error
    (folder / "bad.pml").write_text("active proctype P() { x = }\n")
    found = asked(folder, "check", file="bad.pml")
    assert found.is_error and "bad.pml:1" in found.text
