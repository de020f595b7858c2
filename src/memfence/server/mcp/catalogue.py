"""What an assistant may ask: one row per tool, with the schema of its arguments and of its answer."""

from __future__ import annotations

from typing import Any

from memfence.models.catalogue import NAMES, USUAL
from memfence.records import Record
from memfence.report.schemas import json_schema

Object = dict[str, Any]
MOST_SECONDS = 300
MOST_VARIANTS = 8


class ToolRow(Record):
    """`arguments`: the properties of its input; `needed`: those that must be there. `answers`: the schemas of which its
    answer has one."""

    name: str
    about: str
    arguments: Object
    needed: tuple[str, ...]
    answers: tuple[str, ...]

    @property
    def input_schema(self) -> Object:
        return {
            "type": "object",
            "properties": self.arguments,
            "required": list(self.needed),
            "additionalProperties": False,
        }

    @property
    def output_schema(self) -> Object | None:
        """That of `--json`; an answer may be an error or a limit instead."""
        if not self.answers:
            return None
        limit = {"type": "object", "properties": {"limit": {"type": "string"}}, "required": ["limit"]}
        usage = {"type": "object", "properties": {"usage": {"type": "string"}}, "required": ["usage"]}
        known: list[Object] = []
        definitions: Object = {}
        for name in (*self.answers, "error"):
            schema = _renamed(json_schema(name), name)
            definitions |= {f"{name}.{part}": shape for part, shape in schema.pop("$defs", {}).items()}
            known.append({key: value for key, value in schema.items() if key not in ("$id", "$schema")})
        return {"type": "object", "anyOf": [*known, limit, usage], "$defs": definitions}


def _renamed(schema: Any, name: str) -> Any:
    """The schema as a part of a larger one, where its definitions have its name before their own."""
    match schema:
        case {"$ref": str(place), **rest}:
            return {"$ref": place.replace("#/$defs/", f"#/$defs/{name}."), **rest}
        case dict():
            return {key: _renamed(value, name) for key, value in schema.items()}
        case list():
            return [_renamed(value, name) for value in schema]
    return schema


FILE: Object = {"type": "string", "description": "The program: a file of the working folder, by its path in it."}
MODELS: Object = {
    "type": "string",
    "description": f"Memory models, with commas: some of {', '.join(NAMES)}. For C and C++, {USUAL} is what code "
    "should work under.",
}
SECONDS: Object = {
    "type": "number",
    "minimum": 1,
    "maximum": MOST_SECONDS,
    "description": "When to give up. Default: 30. What is not decided by then is unknown.",
}
MACROS: Object = {"type": "array", "items": {"type": "string"}, "description": "For C: macros, NAME or NAME=VALUE."}
COMMON: Object = {"file": FILE, "model": MODELS, "timeout_seconds": SECONDS, "macros": MACROS}

TOOLS = (
    ToolRow(
        "check",
        "Does this concurrent program work under these memory models? A proof, or an execution that shows why not. "
        "Only `holds` is a proof; `holds_up_to` is bounded.",
        COMMON,
        ("file",),
        ("check", "check_models"),
    ),
    ToolRow(
        "why",
        "Is this fence or memory order needed? The run that appears without it, or that there is none.",
        {**COMMON, "line": {"type": "integer", "minimum": 1, "description": "Only what stands in this line."}},
        ("file",),
        (),
    ),
    ToolRow(
        "fix",
        "Which fences or stronger memory orders make the program work, and how few are enough? The patch is returned, "
        "not written.",
        COMMON,
        ("file",),
        (),
    ),
    ToolRow(
        "compare",
        "Which of these versions of a program is right under all models, and which of those is cheapest?",
        {
            "files": {"type": "array", "items": FILE, "minItems": 1, "maxItems": MOST_VARIANTS},
            **{name: schema for name, schema in COMMON.items() if name != "file"},
        },
        ("files",),
        ("compare_variants",),
    ),
    ToolRow(
        "relax",
        "Which memory orders of this C or C++ program are stronger than they have to be? The cheapest ones, proved. "
        "The patch is returned, not written.",
        {
            **COMMON,
            "keep": {"type": "array", "items": {"type": "integer", "minimum": 1}, "description": "Lines to leave."},
        },
        ("file",),
        ("relax",),
    ),
    ToolRow(
        "explain",
        "What does this code of a diagnostic mean, such as MF101?",
        {"code": {"type": "string", "pattern": "^[Mm][Ff][0-9]{3}$"}},
        ("code",),
        (),
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
