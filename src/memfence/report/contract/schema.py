"""From the classes of the contract to JSON Schema 2020-12."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, get_args, get_origin, get_type_hints, is_typeddict

from memfence.report.contract.check import NOTHING_SHOWN, Check, CheckModels
from memfence.report.contract.clients import Test
from memfence.report.contract.fix import Compare, Fix, Why
from memfence.report.contract.mutation import CheckMutants
from memfence.report.contract.parts import Error
from memfence.report.contract.relax import Relax
from memfence.report.contract.run import Monitor, Run, RunModels
from memfence.report.contract.shape import CLOSED, Least, Pattern, Size
from memfence.report.contract.variants import CompareVariants
from memfence.report.contract.verify import Verify
from memfence.report.contract.walks import Explore, Simulate

Schema = dict[str, Any]
ROOTS: dict[str, Any] = {
    "check": Check,
    "check_models": CheckModels,
    "check_mutants": CheckMutants,
    "compare": Compare,
    "compare_variants": CompareVariants,
    "error": Error,
    "explore": Explore,
    "fix": Fix,
    "monitor": Monitor,
    "relax": Relax,
    "run": Run,
    "run_models": RunModels,
    "simulate": Simulate,
    "test": Test,
    "verify": Verify,
    "why": Why,
}
"""What `memfence NAME --json` prints; `error`: what each prints instead where the input cannot be used."""
CONDITIONS: dict[Any, list[Schema]] = {Check: NOTHING_SHOWN}
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}
FOLDER = Path(__file__).parents[1] / "schema"


def derived(name: str) -> Schema:
    """The schema of `memfence NAME --json`; every class that it mentions is one of its `$defs`."""
    definitions: dict[str, Schema] = {}
    root = _object(ROOTS[name], definitions)
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"https://memfence.example/schema/{name}.json",
        "title": f"memfence {name} --json",
    }
    return head | root | ({"$defs": dict(sorted(definitions.items()))} if definitions else {})


def _object(shape: Any, definitions: dict[str, Schema]) -> Schema:
    hints = get_type_hints(shape, include_extras=True)
    optional = {key for key, kind in hints.items() if get_origin(kind) is NotRequired}
    said = " ".join((shape.__doc__ or "").split())
    found: Schema = {"description": said} if said else {}
    found |= {
        "type": "object",
        "properties": {key: _value(kind, definitions) for key, kind in hints.items()},
        "required": [key for key in hints if key not in optional],
    }
    if shape in CONDITIONS:
        found["allOf"] = CONDITIONS[shape]
    return found | ({"additionalProperties": False} if f"{shape.__module__}.{shape.__name__}" in CLOSED else {})


def _value(kind: Any, definitions: dict[str, Schema]) -> Schema:
    inner = get_args(kind)
    match get_origin(kind):
        case origin if origin is NotRequired:
            return _value(inner[0], definitions)
        case origin if origin is Annotated:
            return _value(inner[0], definitions) | {key: text for one in inner[1:] for key, text in _said(one).items()}
        case origin if origin is Literal:
            return {"const": inner[0]} if len(inner) == 1 else {"enum": list(inner)}
        case origin if origin is list:
            return {"type": "array", "items": _value(inner[0], definitions)}
        case origin if origin is dict:
            return {"type": "object"} | _keys(inner[0], inner[1], definitions)
        case origin if origin is UnionType:
            return _one_of([_value(one, definitions) for one in inner])
    if is_typeddict(kind):
        return _reference(kind, definitions)
    return {"type": TYPES[kind]}


def _said(more: Any) -> Schema:
    """What is said of a value besides its type."""
    match more:
        case str():
            return {"description": more}
        case Least(value):
            return {"minimum": value}
        case Pattern(text):
            return {"pattern": text}
        case Size(least, most):
            return {"minItems": least} | ({} if most is None else {"maxItems": most})
    raise TypeError(f"no part of a schema: {more!r}")


def _keys(key: Any, value: Any, definitions: dict[str, Schema]) -> Schema:
    names = {} if key is str else {"propertyNames": _value(key, definitions)}
    return names | ({} if value is Any else {"additionalProperties": _value(value, definitions)})


def _one_of(parts: list[Schema]) -> Schema:
    """Several plain types are listed; of several objects the value is one."""
    null = {"type": "null"}
    plain = [part for part in parts if part.keys() - {"type"} and part != null]
    if len(plain) <= 1 and all("type" in part for part in parts):
        return {key: value for part in plain for key, value in part.items()} | {"type": [p["type"] for p in parts]}
    return {"oneOf": parts}


def _reference(shape: Any, definitions: dict[str, Schema]) -> Schema:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", shape.__name__).lower()
    if name not in definitions:
        definitions[name] = {}  # lest a shape that contains itself is looked at without end
        definitions[name] = _object(shape, definitions)
    return {"$ref": f"#/$defs/{name}"}


def main() -> None:
    """Write the files that are shipped: `make golden` does."""
    for name in ROOTS:
        (FOLDER / f"{name}.json").write_text(as_text(derived(name)), encoding="utf-8")


def as_text(schema: Schema) -> str:
    """As it stands in the file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
