"""Every option of every verb, under every model and in every language, is honoured or refused by name.

What the table of options says is compared with what the commands do: what it refuses ends with exit code 2 and the name
of the option, and what it does not is read by whoever answers.
"""

from __future__ import annotations

import json
import shutil
import typing
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import typer

from memfence import cache_folder
from memfence.cli import main
from memfence.cli.app import VERBS, app
from memfence.cli.parameters import kind_of
from memfence.clients.result import Consistency
from memfence.frontends.c import load as c_front_end
from memfence.frontends.catalogue import LANGUAGES
from memfence.models.catalogue import NAMES
from memfence.pipeline import load
from memfence.program.load_options import COptions, LoadOptions
from memfence.questions.explore import ExploreOptions
from memfence.questions.run_result import RunOptions
from memfence.report.formats.table import FORMAT_NAMES
from memfence.synthesis.options import FixOptions
from memfence.tasks.criterion import Criterion
from memfence.tasks.options import CheckOptions
from memfence.tasks.task import ALL_REDUCTIONS
from memfence.verbs.models import BY_STATES, models_in
from memfence.verbs.option import Option
from memfence.verbs.options import OPTIONS, options_of
from memfence.verbs.refusal import answered_as, obstacle
from memfence.verbs.usage import Usage
from support.command_line import memfence
from support.read_fields import fields_read
from support.store_buffering import STORE_BUFFERING

IN_C = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifndef N
#define N 2
#endif
atomic_int x, y;
int a, b;
static int depth(int n) { return n ? 1 + depth(n - 1) : 0; }
void *first(void *unused) {
  int *block = malloc(sizeof *block);
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  a = atomic_load_explicit(&y, memory_order_relaxed);
  free(block);
  return 0;
}
void *second(void *unused) {
  atomic_store_explicit(&y, depth(1), memory_order_relaxed);
  b = atomic_load_explicit(&x, memory_order_relaxed);
  return 0;
}
int main(void) {
  pthread_t p, q;
  pthread_create(&p, 0, first, 0);
  pthread_create(&q, 0, second, 0);
  pthread_join(p, 0);
  pthread_join(q, 0);
  assert(a || b || N > 2);
  return 0;
}
"""
IN_AARCH64 = """\
AArch64 SB
{ 0:X1=x; 0:X3=y; 1:X1=x; 1:X3=y; }
 P0          | P1          ;
 MOV W0,#1   | MOV W0,#1   ;
 STR W0,[X1] | STR W0,[X3] ;
 LDR W2,[X3] | LDR W2,[X1] ;
exists (0:X2=0 /\\ 1:X2=0)
"""
TEXTS = {**STORE_BUFFERING, "c": IN_C, "aarch64": IN_AARCH64}
ENDINGS = {"c": ".c", "promela": ".pml", "persist": ".pst", "trencher": ".txt", "remmex": ".remmex"}
LISTS = ("x86,rc11,armv8", "sc,tso,pso", "tso,own.cat")
"""Beside single models: with and without states, and a model of the user's own."""
BY_MODEL = ("check", "fix", "why")
OTHERS = ("compare", "explore", "simulate", "reproduce", "translate")
PROCESSES = ("cluster",)
"""What needs other machines has its own tests (`test_cluster_option.py`)."""
ALIKE = tuple(sorted(FORMAT_NAMES - {"html", "sarif"}))
"""Formats of which nobody but the table knows: what holds of these two holds of them (`test_formats.py`)."""
VALUES = {
    "reduce": "none",
    "define": "p=true",
    "ltl": "[] true",
    "any_number": "P",
    "forbid": "false",
    "invariant": "true",
    "final": "true",
    "kinds": "mfence",
    "cost": "mfence=3",
    "macros": "MORE=1",
    "include": ".",
    "std": "c17",
    "entry": "main",
    "bench": "true {}",
    "clang": "no-such-clang",
    "seconds": "0.01",
    "to": "dot",
}
FILES = {"html", "sarif", "save_schedule"}
"""Options whose file is there whenever there is an answer."""
NO_FIELD = {"unroll", "atomic", "atomic_waits", "criterion", "start", "every_step", "replay", "also", "to", "of"}
NO_FIELD |= {"store_buffers", "instrument", "model", "timeout"}
"""Options that are parameters of the functions of the API, which read them; their effects have tests elsewhere."""


def value_of(option: Option, folder: Path) -> list[str]:
    """The option as it is typed, with a value that is not its default where it has another."""
    if option.name == "language":
        return []
    if option.kind is bool:
        return [option.flag]
    if option.name in VALUES and (not option.choices or VALUES[option.name] in option.choices):
        return [option.flag, VALUES[option.name]]
    if option.choices:
        return [option.flag, next((word for word in option.choices if word != option.default), option.choices[0])]
    if option.kind is Path:
        return [option.flag, str(folder / f"out.{option.name}")]
    return [option.flag, str(max(int(option.least or 0), 3))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the program in every language, and a model of our own."""
    made = tmp_path_factory.mktemp("languages")
    for language, text in TEXTS.items():
        (made / language).mkdir()
        file_of(made, language).write_text(text)
    (made / "own.cat").write_text('"Own"\nacyclic po | rf | co | fr as sc\n')
    return made


def file_of(folder: Path, language: str) -> Path:
    return folder / language / f"sb{ENDINGS.get(language, '.litmus' if 'litmus' in language else f'.{language}')}"


@pytest.fixture(autouse=True, scope="module")
def compiled_once() -> Iterator[None]:
    """Clang takes longer than all else here."""
    known: dict[Any, str] = {}
    compile_text = c_front_end.compile_text

    def cached(source: Any, options: COptions, instead: Any = (), files: Any = None) -> str:
        with_defaults = tuple(object.__getattribute__(options, one.name) for one in fields(COptions))
        used = tuple(getattr(options, name) for name in ("macros", "include", "std", "clang", "as_compiled"))
        if used not in known or with_defaults[3]:
            known[used] = compile_text(source, options, instead, files)
        return known[used]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(c_front_end, "compile_text", cached)
        patched.setattr(cache_folder, "switch", lambda *, on: None)  # what is remembered reads no option
        yield


# The table and the commands.


def commands() -> dict[str, Any]:
    main.add_verbs([])
    group: Any = typer.main.get_command(app)
    found = {"": group}
    for name, command in group.commands.items():
        found |= {f"{name} {inner}": one for inner, one in getattr(command, "commands", {}).items()} or {name: command}
    return found


@pytest.mark.parametrize("verb", ["", *(verb for verb in VERBS if verb != "bench"), "bench tables", "bench families"])
def test_the_options_of_a_command_are_those_of_the_table(verb: str) -> None:
    typed = {one.name: one for one in commands()[verb].params if one.param_type_name == "option"}
    rows = {option.name: option for option in options_of(verb) if not option.is_argument}
    assert set(typed) - {"install_completion", "show_completion"} == set(rows)
    for name, option in rows.items():
        flags = {flag for given in option.flags or (option.flag,) for flag in given.split("/")}
        assert {*typed[name].opts, *typed[name].secondary_opts} == flags


def test_an_option_of_a_verb_is_one_row() -> None:
    pairs = [(verb, option.name) for option in OPTIONS for verb in option.verbs | option.in_python_for]
    assert len(pairs) == len(set(pairs))


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "bench"])
def test_a_command_reads_an_option_as_the_kind_that_the_table_says(verb: str) -> None:
    import importlib

    module = importlib.import_module(f"memfence.cli.{VERBS[verb]}")
    named = {"cc": "compile_c", "c++": "compile_cpp", "rustc": "compile_rust"}
    command = getattr(module, named.get(verb, verb)).__wrapped__
    declared = dict(_declared(command))
    for option in options_of(verb):
        if option.name in declared:
            kind: Any = str if option.choices else option.kind
            kind = list[kind] if option.repeats else kind
            assert declared[option.name] == (kind | None if option.default is None else kind), option.name
            assert kind_of(option) is not None


def _declared(command: Any) -> Iterator[tuple[str, Any]]:
    for name, kind in typing.get_type_hints(command).items():
        if hasattr(kind, "__dataclass_fields__"):
            yield from _declared(kind)
        else:
            yield name, kind


def test_words_of_the_table_are_those_of_the_program() -> None:
    for option in OPTIONS:
        if option.name == "criterion":
            words = Consistency if "test" in option.verbs else Criterion
            assert set(option.choices) == {one.value for one in words}
        if option.name == "reduce":
            assert all(name in option.help for name in ALL_REDUCTIONS)
    assert {name for option in OPTIONS for name in option.languages} <= {one.name for one in LANGUAGES}
    assert {verb for option in OPTIONS for verb in option.verbs} <= {*VERBS, "", "bench tables", "bench families"}


@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        ("check", CheckOptions),
        ("fix", FixOptions),
        ("check", LoadOptions),
        ("check", COptions),
        ("explore", ExploreOptions),
        ("run", RunOptions),
    ],
)
def test_defaults_of_the_table_are_those_of_the_program(verb: str, kind: Any) -> None:
    usual = kind()
    for option in options_of(verb):
        is_another = kind is COptions and option.name == "deadlock"  # there, whether C has them as errors
        if hasattr(usual, option.in_python) and not option.never and not is_another:
            expected = getattr(usual, option.in_python)
            assert expected == option.default or expected in ((), ALL_REDUCTIONS) or option.name == "cost", option.name


# The product.


def models_of(verb: str) -> tuple[str | None, ...]:
    if verb not in BY_MODEL:
        return (None,)
    single = tuple(name for name in NAMES if name != "sc" or verb == "check")
    return (*single, "own.cat", *LISTS)


def is_quick(verb: str, model: str | None, language: str) -> bool:
    """Every model with one language, and every language with one model; `make test-all` has the whole product."""
    if verb == "reproduce":
        return language == "promela"
    return model in (None, "tso") or language == "promela" or (language == "c" and model in ("x86", "rc11"))


PRODUCT = [
    pytest.param(verb, model, language, marks=() if is_quick(verb, model, language) else pytest.mark.slow)
    for verb in (*BY_MODEL, *OTHERS)
    for model in models_of(verb)
    for language in TEXTS
]


@pytest.mark.parametrize(("verb", "model", "language"), PRODUCT)
def test_every_option_is_honoured_or_refused_by_name(
    verb: str, model: str | None, language: str, folder: Path, tmp_path: Path
) -> None:
    for option in options_of(verb):
        if not option.is_argument and not option.never and option.name not in (*PROCESSES, *ALIKE, "model", "run"):
            check_option(verb, model, language, option, folder, tmp_path)


def check_option(verb: str, model: str | None, language: str, option: Option, folder: Path, tmp_path: Path) -> None:
    typed = value_of(option, tmp_path)
    chosen = ["--model", model] if model is not None and option.goes_with is None else []
    needed = ["--to", "promela"] if verb == "translate" and option.name != "to" else []
    needed += ["--runs", "1"] if verb == "reproduce" and option.name != "runs" else []
    place = file_of(folder, language)
    before = place.read_bytes()
    with fields_read() as read:
        done = memfence(verb, place, *chosen, *needed, *typed, folder=folder)
    place.write_bytes(before)
    what = f"memfence {verb} sb.{language} {' '.join([*chosen, *needed, *typed])}: {done.returncode} {done.stderr}"
    assert done.returncode in (0, 1, 2, 3, 4), what
    assert "Traceback" not in done.stderr, what
    if is_refused(verb, model, language, option, typed, folder):
        assert done.returncode == 2 and f"Invalid value for {option.typed}" in done.stderr, what
        assert done.stdout == "" and not list(tmp_path.iterdir()), what
    elif done.returncode == 2:
        assert f"Invalid value for {option.typed}" in done.stderr, what
    elif done.returncode == 3:
        assert "error[MF" in done.stderr or '"code": "MF' in done.stdout, what
    else:
        assert is_honoured(option, read, done.stdout, tmp_path, done.returncode), what
    shutil.rmtree(tmp_path)
    tmp_path.mkdir()


def is_refused(verb: str, model: str | None, language: str, option: Option, typed: Sequence[str], folder: Path) -> bool:
    """Whether the table refuses the option, before the program is read or by its language."""
    said = {option.name: True if option.kind is bool else typed[-1] if typed else None}
    models = () if model is None or option.goes_with is not None else models_in(model)
    usage = Usage(verb=verb, said=said, models=models, files=(str(file_of(folder, language)),))
    if verb == "translate" and option.name != "to":
        usage = Usage(verb=verb, said={**said, "to": "promela"}, files=usage.files)
    answered = Usage(verb=verb, said=usage.said, models=answered_as(usage), files=usage.files)
    return obstacle(option, answered) is not None


def is_honoured(option: Option, read: set[str], stdout: str, written: Path, code: int) -> bool:
    """Whether an accepted option did something: its field was read, or what it asks for is there."""
    if option.name in FILES:
        return (written / f"out.{option.name}").is_file()
    if option.name == "json":
        return isinstance(json.loads(stdout), dict)
    if option.in_python in ("costs", "timeout_seconds", "language") or option.name in NO_FIELD or not option.in_python:
        return True
    return option.in_python in read


def test_languages_of_the_table_are_refused_elsewhere(folder: Path) -> None:
    """By the table alone: every option that knows some languages only, for every verb and language."""
    programs = {language: load(file_of(folder, language)) for language in TEXTS}
    for option in OPTIONS:
        for verb in option.verbs if option.languages else ():
            for language, program in programs.items():
                found = obstacle(option, Usage(verb=verb, said={option.name: "x"}, program=program))
                is_only = found is not None and "means something in" in found
                assert is_only == (language not in option.languages), (verb, option.name, language)


def test_a_model_without_states_refuses_what_is_about_states() -> None:
    """By the table alone: what one model without states refuses, all of them refuse, and every list with one."""
    for verb in BY_MODEL:
        for option in options_of(verb):
            value: Any = "persistent" if option.name == "criterion" else "x"  # rc11 knows what robust means
            found = {
                models: obstacle(option, Usage(verb=verb, said={option.name: value}, models=models)) is not None
                for models in (("rc11",), ("armv8",), ("own.cat",), ("tso", "rc11"), ("x86", "rc11", "armv8"))
            }
            assert len(set(found.values())) == 1, (verb, option.name, found)


@pytest.mark.parametrize("verb", BY_MODEL)
def test_x86_answers_whatever_tso_answers(verb: str) -> None:
    for option in options_of(verb):
        value: Any = "robust" if option.name == "criterion" else "x"
        usage = Usage(verb=verb, said={option.name: value}, models=("x86",))
        as_tso = obstacle(option, Usage(verb=verb, said=usage.said, models=("tso",)))
        as_x86 = obstacle(option, Usage(verb=verb, said=usage.said, models=answered_as(usage)))
        assert (as_tso is None) == (as_x86 is None), option.name
    assert BY_STATES["x86"] == "tso"
