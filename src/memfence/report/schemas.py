"""The JSON schemas of what `--json` prints, one file per command: `schema/check.json` and so on.

The files are written from the classes in `contract/` (`make golden`); a test compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("schema")


def schema_names() -> tuple[str, ...]:
    """The commands that have a schema, and `error` for bad input."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.json")))


def json_schema(name: str) -> dict[str, Any]:
    """The schema of `memfence NAME --json` (JSON Schema 2020-12). KeyError for a name without one."""
    if name not in schema_names():
        raise KeyError(name)
    schema: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return schema
