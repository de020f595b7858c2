"""`memfence.run`: explore a compiled program, from sources or as an executable that `memfence cc` made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from memfence.api.inputs import allowed
from memfence.api.values import refuse_unknown, refuse_values, spell_out
from memfence.binary.driver import drive
from memfence.binary.inputs import are_texts, refusal, require_readable, require_runtime
from memfence.binary.rust_driver import drive_rust
from memfence.deadline import Deadline
from memfence.frontends.endings import is_rust, is_source
from memfence.questions.replay_run import ReplayedRun, schedules
from memfence.questions.replay_run import replay as ask_replay
from memfence.questions.replay_run import replay_in_gdb as ask_gdb
from memfence.questions.run import run as ask
from memfence.questions.run import run_program
from memfence.questions.run_models import RunModels
from memfence.questions.run_result import RunOptions, RunResult
from memfence.tasks.usage import WrongUsage
from memfence.verbs.refusal import refuse_unused
from memfence.verbs.rules import known_to_run, more_with_states, runs_with_states
from memfence.verbs.usage import Usage

if TYPE_CHECKING:
    from memfence.api.typed import RunKeywords
    from memfence.synthesis.run_fences import RunFix

__all__ = ["drive_compiler", "drive_rustc", "fix_by_running", "replay", "replay_in_gdb", "run", "schedules"]


def run(
    files: str | Path | Sequence[str | Path], options: RunOptions | None = None, **typed: Unpack[RunKeywords]
) -> RunResult | Any:
    """Run all SC executions of the program that matter, and monitor each; under `rc11`, all execution graphs.

    `files`: C and C++ sources, the root of a crate in Rust, or one executable. Keywords are the fields of `RunOptions`.
    InputError for what cannot be compiled or run, ValueError for options that make no sense.

    `model="x86,rc11"`: the `RunModels` of both, each with its share of the time.
    """
    keywords = dict[str, Any](typed)
    asked = replace(options or RunOptions(), **_fields(keywords))
    _refuse_other_models(asked)
    asked = replace(asked, deadline=asked.deadline or Deadline(asked.timeout_seconds))
    models = tuple(dict.fromkeys(name.strip() for name in asked.model.split(",")))
    if len(models) == 1:
        return _run(files, asked)
    return RunModels(tuple(_run(files, one) for one in _each_with_its_share(asked, models)))


def _each_with_its_share(asked: RunOptions, models: Sequence[str]) -> Iterator[RunOptions]:
    """The options for each model; what one leaves of its time, the next ones have."""
    assert asked.deadline is not None
    for done, model in enumerate(models):
        left = asked.deadline.left
        share = None if left is None else left / (len(models) - done)
        yield replace(asked, model=model, deadline=Deadline(share))


def _refuse_other_models(asked: RunOptions) -> None:
    if reason := known_to_run(Usage(verb="run", said={"model": asked.model}), asked.model):
        raise WrongUsage("model", reason)


def _run(files: str | Path | Sequence[str | Path], asked: RunOptions) -> RunResult:
    names = tuple(str(file) for file in ([files] if isinstance(files, str | Path) else files))
    _refuse_for_other_compilers(asked, names)
    _refuse_for_graphs(asked)
    require_readable(names)
    if are_texts(names):
        return ask(names, asked)
    if len(names) > 1:
        wrong = next(name for name in names if not is_source(name))
        if is_rust(wrong):
            raise refusal(wrong, f"`{wrong}` is Rust, and a crate is named by its root alone")
        raise refusal(wrong, f"`{wrong}` is neither C nor C++, and an executable is run on its own")
    require_runtime(names[0])
    assert asked.deadline is not None
    return run_program(Path(names[0]), names, asked, asked.deadline)


def _refuse_for_other_compilers(asked: RunOptions, names: tuple[str, ...]) -> None:
    """ValueError for what rustc is told about C, or gcc about Rust."""
    told = ("macros", "include", "std", "edition", "cfg")
    said = {name: value for name in told if (value := getattr(asked, name))}
    refuse_unused(Usage(verb="run", said=said, files=names))


def _refuse_for_graphs(asked: RunOptions) -> None:
    """ValueError for options about the order of steps, where executions have none."""
    usage = Usage(verb="run", said={"model": asked.model})
    for name, value in (("preemptions", asked.preemptions), ("random", asked.random), ("cluster", asked.cluster)):
        if value is not None and (reason := runs_with_states(usage, value)):
            raise WrongUsage(name, reason)
    if reason := more_with_states(usage, asked.threads):
        raise WrongUsage("threads", reason)


def _fields(keywords: dict[str, Any]) -> dict[str, Any]:
    """The keywords as fields of `RunOptions`."""
    spell_out(keywords)
    refuse_unknown("run", keywords, besides=[one.name for one in fields(RunOptions)])
    refuse_values("run", keywords)
    if keywords.get("allow"):
        keywords["allow"] = allowed(keywords["allow"])
    return {name: value for name, value in keywords.items() if name != "model" or value is not None}


def replay(files: Sequence[str | Path], schedule: str | Path, **typed: Unpack[RunKeywords]) -> ReplayedRun:
    """Run a saved schedule again. InputError where it is none, or not one of this program."""
    keywords = dict[str, Any](typed)
    return ask_replay(tuple(map(str, files)), Path(schedule), replace(RunOptions(), **_fields(keywords)))


def replay_in_gdb(files: Sequence[str | Path], schedule: str | Path, **typed: Unpack[RunKeywords]) -> int:
    """The same in gdb, with the terminal. Returns gdb's exit status."""
    keywords = dict[str, Any](typed)
    return ask_gdb(tuple(map(str, files)), Path(schedule), replace(RunOptions(), **_fields(keywords)))


def fix_by_running(file: str | Path, options: RunOptions | None = None, **typed: Unpack[RunKeywords]) -> RunFix:
    """Fences from the borderline executions of one C or C++ file: the fewest statements that leave none."""
    keywords = dict[str, Any](typed)
    from memfence.synthesis.run_fences import fix_by_running as ask_fix

    require_readable((str(file),))
    if not is_source(str(file)):
        raise refusal(str(file), f"`{file}` is neither C nor C++")
    asked = replace(options or RunOptions(), **_fields(keywords))
    return ask_fix(str(file), replace(asked, deadline=asked.deadline or Deadline(asked.timeout_seconds)))


def drive_compiler(words: Sequence[str], *, is_cpp: bool) -> int:
    """`memfence cc` and `memfence c++`."""
    return drive(words, is_cpp=is_cpp)


def drive_rustc(words: Sequence[str]) -> int:
    """`memfence rustc`."""
    return drive_rust(words)
