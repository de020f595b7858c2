"""From the table of options to the types of keywords: writes `api/typed.py`, which type checkers and editors read.

`make golden` writes it again; a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from memfence.questions.explore import ExploreOptions
from memfence.questions.run_result import RunOptions
from memfence.tasks.criterion import Criterion
from memfence.verbs.option import Option
from memfence.verbs.options import by_keyword
from memfence.verbs.table.asking import CRITERIA

PLACE = Path(__file__).with_name("typed.py")
HEAD = '''"""The keywords of the functions of the API, with their types. Written by `memfence.api.typing`: do not edit.

`model` and `modle` differ: a keyword that the function does not have is an error for type checkers, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypedDict

from memfence.deadline import Deadline
from memfence.frontends.frontend import EditKind
from memfence.program.ir import Final, Forbidden, Invariant, Ltl
from memfence.tasks.criterion import Criterion

CriterionName = Literal[{criteria}]

__all__ = [
{names}]
'''
RICHER = {
    "forbid": "str | Forbidden | Sequence[str | Forbidden]",
    "invariant": "str | Invariant | Sequence[str | Invariant]",
    "final": "str | Final | Sequence[str | Final]",
    "ltl": "str | Ltl",
    "define": "Mapping[str, str] | Sequence[tuple[str, str]]",
    "kinds": "Sequence[EditKind]",
    "costs": "Mapping[EditKind, int]",
    "reduce": "Sequence[str]",
    "allow": "str | Sequence[str]",
    "model": "str",
}
"""Where Python takes values that cannot be typed on a command line, or names that are not all in the table."""
ONLY_IN_PYTHON = {"progress": "Callable[..., Any]", "deadline": "Deadline"}
ONLY_IN_READING = {"forced_include": "Sequence[str]", "overflow": "bool"}
READING = ("check", "fix", "why", "relax", "compare", "reproduce", "explore", "simulate", "translate")
ASKING = ("check", "fix", "why", "compare", "reproduce")
SPELLED_OUT = ("simulate", "verify", "conform")
"""Verbs that take no shorter names."""
KEYWORDS: dict[str, tuple[str, frozenset[str]]] = {
    "Check": ("check", frozenset()),
    "CheckModels": ("check", frozenset({"model", "unroll"})),
    "Mutate": ("check", frozenset({"model", "unroll"})),
    "Fix": ("fix", frozenset({"atomic", "atomic_waits"})),
    "FixModels": ("fix", frozenset({"model", "unroll", "atomic", "atomic_waits"})),
    "Why": ("why", frozenset({"criteria"})),
    "WhyModels": ("why", frozenset({"model", "unroll"})),
    "Relax": ("relax", frozenset({"model", "unroll", "keep"})),
    "Compare": ("compare", frozenset()),
    "CompareVariants": ("compare", frozenset()),
    "Reproduce": ("reproduce", frozenset()),
    "Explore": ("explore", frozenset()),
    "Replay": ("explore", frozenset({"timeout_seconds"})),
    "Simulate": ("simulate", frozenset({"model", "start", "every_step", "replay", "timeout_seconds"})),
    "Translate": (
        "translate",
        frozenset({"to", "store_buffers", "atomic", "atomic_waits", "instrument", "of", "model", "replay"}),
    ),
    "Test": ("test", frozenset({"models"})),
    "Run": ("run", frozenset()),
    "Verify": ("verify", frozenset({"checker", "memory_megabytes", "timeout_seconds"})),
    "Conform": ("conform", frozenset()),
}
"""The verb of each, and the keywords that are parameters of the function by themselves."""


def keywords_of_verb(verb: str) -> dict[str, str]:
    """Every keyword of the verb's function, with its type; None is as if it were not given."""
    found: dict[str, str] = {}
    for name, option in by_keyword(verb).items():
        found[name] = RICHER.get(name) or _type(option)
        if name.startswith(f"{option.name}_") and verb not in SPELLED_OUT:
            found[option.name] = found[name]  # the shorter name, as on the command line
    if verb in READING:
        found |= ONLY_IN_READING
    if verb == "verify":
        found["forced_include"] = ONLY_IN_READING["forced_include"]
    if verb in ("explore", "run"):
        kind: Any = ExploreOptions if verb == "explore" else RunOptions
        found |= {one.name: _plain(str(one.type)) for one in fields(kind) if one.name not in found}
    if verb not in ("verify", "conform"):
        found |= ONLY_IN_PYTHON
    return {name: text if text.endswith("None") else f"{text} | None" for name, text in found.items()}


def _type(option: Option) -> str:
    if option.choices:
        words = f"Literal[{', '.join(f'{word!r}' for word in option.choices)}]"
        text = "Criterion | CriterionName" if option.choices == CRITERIA else words
    else:
        text = "str | Path" if option.kind is Path else option.kind.__name__
    return f"Sequence[{text}]" if option.repeats else text


def _plain(text: str) -> str:
    return text.replace("tuple[str, ...]", "Sequence[str]")


def written() -> str:
    """The text of `api/typed.py`."""
    names = "".join(f'    "{name}Keywords",\n' for name in KEYWORDS)
    reading = _shared(READING)
    asking = {name: text for name, text in _shared(ASKING).items() if name not in reading}
    parts = [
        HEAD.replace("{names}", names).replace("{criteria}", ", ".join(f'"{one.value}"' for one in Criterion)),
        _class("Reading", "TypedDict", "How the program is read.", reading),
        _class("Asking", "Reading", "What is asked, and how it is searched.", asking),
        *(_of_function(name, reading, asking) for name in KEYWORDS),
    ]
    return "\n\n".join(parts)


def _shared(verbs: tuple[str, ...]) -> dict[str, str]:
    every = [keywords_of_verb(verb) for verb in verbs]
    given = frozenset(name for verb, without in KEYWORDS.values() if verb in verbs for name in without)
    kept = (name for name in every[0] if name not in given)
    return {name: every[0][name] for name in kept if all(one.get(name) == every[0][name] for one in every)}


def _of_function(name: str, reading: Mapping[str, str], asking: Mapping[str, str]) -> str:
    verb, without = KEYWORDS[name]
    base, above = "TypedDict", dict[str, str]()
    if verb in READING:
        base, above = ("Asking", {**reading, **asking}) if verb in ASKING else ("Reading", dict(reading))
    own = {key: text for key, text in keywords_of_verb(verb).items() if key not in above and key not in without}
    return _class(f"{name}Keywords", base, f"Of `memfence {verb}`.", own)


def _class(name: str, base: str, about: str, keys: Mapping[str, str]) -> str:
    return f'class {name}({base}, total=False):\n    """{about}"""\n' + "".join(_lines(keys))


def _lines(keys: Mapping[str, str]) -> Iterator[str]:
    if keys:
        yield "\n"
    yield from (f"    {name}: {text}\n".replace("'", '"') for name, text in keys.items())


def main() -> None:
    """Write the file."""
    PLACE.write_text(written(), encoding="utf-8")


if __name__ == "__main__":
    main()
