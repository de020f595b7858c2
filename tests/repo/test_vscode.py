"""The extension for Visual Studio Code says what the server knows. To build it takes npm, which tests do not need."""

from __future__ import annotations

import json
import re
from pathlib import Path

from memfence.models.catalogue import NAMES, USUAL

FOLDER = Path(__file__).resolve().parents[2] / "contrib" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text())
ENTRY = (FOLDER / "src" / "extension.ts").read_text()


def test_the_server_is_asked_about_every_language_that_is_declared():
    (listed,) = re.findall(r"MODELS = (\[.*\])", ENTRY)
    assert json.loads(listed) == [one["id"] for one in MANIFEST["contributes"]["languages"]]


def test_every_grammar_is_there_and_names_its_scope():
    for one in MANIFEST["contributes"]["grammars"]:
        assert json.loads((FOLDER / one["path"]).read_text())["scopeName"] == one["scopeName"]


def test_every_model_can_be_chosen():
    offered = MANIFEST["contributes"]["configuration"]["properties"]["memfence.model"]["enum"]
    assert offered == [*NAMES, USUAL]


def test_commands_and_settings_are_those_of_the_source():
    for command in MANIFEST["contributes"]["commands"]:
        assert f'registerCommand("{command["command"]}"' in ENTRY
    named = set(re.findall(r'settings\.get<\w+>\("(\w+)"\)', ENTRY))
    assert {f"memfence.{name}" for name in named} == set(MANIFEST["contributes"]["configuration"]["properties"])
