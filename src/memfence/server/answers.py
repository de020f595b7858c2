"""What a child process can be asked: a verb, a text and options in; one JSON object out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from memfence.deadline import TimeUp
from memfence.diagnostics import InputError
from memfence.models.catalogue import MODELS, states_of
from memfence.models.spec import SC, SPECS, TSO, ModelSpec
from memfence.simulation.walk import NotPossible, Walk
from memfence.source import SourceText, Span
from memfence.tasks.usage import WrongUsage

MOST_OUTCOMES = 100
Object = dict[str, Any]
Progress = Callable[[int, int, int, float, float], None]


def answer(request: Object, progress: Progress | None = None) -> Object:
    """The answer to `request`: `verb`, `path`, `text` and `options` (keywords of the API).

    Mistakes in the text come back as `diagnostics`, a limit as `limit`, wrong options as `usage`; nothing is raised for
    any of them.
    """
    source = SourceText(str(request["path"]), str(request["text"]))
    options = {name: value for name, value in request.get("options", {}).items() if value is not None}
    try:
        return VERBS[request["verb"]](source, options, progress)
    except InputError as error:
        from memfence.report.describe.check_data import error_object

        return error_object(error)
    except TimeUp as up:
        return {"limit": f"the time of {up.seconds:g} s was up"}
    except NotPossible as problem:
        return {"usage": str(problem)}
    except WrongUsage as wrong:
        return {"usage": f"{wrong.option.replace('_', ' ')}: {wrong.problem}"}
    except MemoryError:
        return {"limit": "the memory that a search may use was used up"}


def _diagnose(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """Whether the text is a program, and what it consists of."""
    program = _read(source, options, is_only_read=True)
    return {
        "diagnostics": [],
        "language": program.language,
        "processes": [process.name for process in program.processes],
        "variables": [variable.name for variable in program.variables if not variable.is_bookkeeping],
        "lines": sorted({t.span.line for p in program.processes for t in p.transitions if t.span.source is source}),
    }


def _read(source: SourceText, options: Object, *, is_only_read: bool = False) -> Any:
    """The program; one that `is_only_read` may have any number of threads, and be one for another processor."""
    from memfence.api.inputs import read_program
    from memfence.deadline import Deadline

    deadline = Deadline(options.pop("timeout_seconds", None))
    for name in ("criterion", "forbid"):
        options.pop(name, None)
    return read_program(source, options, deadline, for_any_number=is_only_read, for_every_processor=is_only_read)


def _asked(verb: str, source: SourceText, options: Object, progress: Progress | None) -> Any:
    """The result of the verb's function in the API."""
    function = getattr(import_module(f"memfence.api.{verb}"), verb)
    return function(source, **options, **({} if progress is None else {"progress": progress}))


def _check(source: SourceText, options: Object, progress: Progress | None) -> Object:
    return _shown(_asked("check", source, options, progress))


def _fix(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """Under SC there is nothing to fix; the editor's user means the model that real processors have."""
    states = states_of(options["model"])
    if states and not SPECS[states].has_buffers:
        options = {**options, "model": TSO.name}
    result = _asked("fix", source, options, progress)
    return {**_shown(result), "patched": getattr(result, "patched", None)}


def _why(source: SourceText, options: Object, progress: Progress | None) -> Object:
    return _shown(_asked("why", source, options, progress))


def _compare(source: SourceText, options: Object, progress: Progress | None) -> Object:
    options = {name: value for name, value in options.items() if name not in ("model", "criterion")}
    return _shown(_asked("compare", source, options, progress))


def _tell(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """What a tool of an assistant says: the text, and what `--json` prints."""
    from memfence.report.described import report_of
    from memfence.report.report import Style

    tool, files, models = options.pop("tool"), options.pop("files"), options.pop("model", None)
    if tool == "compare":
        from memfence.api.variants import compare_variants

        result: Any = compare_variants(files, models, **options)
    elif tool == "relax":
        from memfence.api.relax import relax

        result = relax(source, *([models] if models else []), **options)
    else:
        chosen = {"model": models} if models else {}
        result = _asked(tool, source, {**options, **chosen}, progress)
    report = report_of(result)
    return {"text": report.text(Style()), "data": report.data()}


def _shown(result: Any) -> Object:
    """What `--json` prints, with the verdict in one line, the page, and where something is wrong."""
    from memfence.report.described import report_of
    from memfence.report.formats.html import render

    report = report_of(result)
    wrong = [_place(one.at, one.facts.get("model")) for one in report.findings() if one.kind == "fail" and one.at]
    return {**report.data(), "line": report.line(), "page": render(report), "wrong": wrong}


def _place(at: Span, model: str | None) -> Object:
    return {"file": at.source.path, "line": at.line, "column": at.column, "length": at.end - at.start, "model": model}


def _spec(options: Object) -> ModelSpec:
    """The model whose states are asked about; WrongUsage for one that has none."""
    name = options.pop("model")
    if not states_of(name):
        known = ", ".join(model.name for model in MODELS if model.states)
        raise WrongUsage("model", f"`{name}` has no states to look at; those of {known} can be shown")
    return SPECS[states_of(name)]


def _values(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """What registers and variables can hold."""
    from memfence.simulation.reachable import reachable_values

    model, program = _spec(options), _read(source, options)
    found = reachable_values(program, model.definition)
    return {
        "model": model.name,
        "states": found.states,
        "complete": found.complete,
        "variables": {name: sorted(values) for name, values in found.variables.items()},
        "registers": {
            process: {name: sorted(values) for name, values in registers.items()}
            for process, registers in found.registers.items()
        },
    }


def _outcomes(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """How runs can end, model by model; each with the choices that lead there."""
    from memfence.report.describe.simulate import outcome_text
    from memfence.simulation.outcomes import outcomes

    options.pop("model", None)
    program, columns = _read(source, options), []
    for spec in SPECS.values():
        found = outcomes(program, spec.definition)
        ends = [{"text": outcome_text(walk), "choices": numbers_of(walk)} for walk in found.walks[:MOST_OUTCOMES]]
        columns.append({"model": spec.name, "complete": found.complete, "states": found.states, "ends": ends})
    return {"columns": columns}


def numbers_of(walk: Walk) -> list[int]:
    """The walk as the numbers of its choices."""
    return [walk.back_to(n).choices.index(taken.step) + 1 for n, taken in enumerate(walk.taken)]


def _graph(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """The states under SC and the model, as a picture."""
    from memfence.report.views.state_graph import layout, state_graph_svg
    from memfence.simulation.state_graph import state_graph

    model = _spec(options)
    graph = state_graph(_read(source, options), (SC, model) if model.has_buffers else (SC,))
    _, width, _ = layout(graph)
    return {"svg": state_graph_svg(graph), "width": width, "complete": graph.complete, "states": len(graph.nodes)}


def _walk(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """A walk by the numbers of its choices: the state it leads to, and what can come next."""
    from memfence.report.describe.simulate import walk_view

    numbers, model = options.pop("choices"), _spec(options).name
    seconds = options.pop("timeout_seconds")
    walk = _begin(source.path, source.text, model, seconds, bool(options.pop("every_step", False)))
    for number in numbers:
        walk = walk.choose(number)
    return walk_view(walk)


@lru_cache(maxsize=4)
def _begin(path: str, text: str, model: Any, seconds: float, every_step: bool) -> Walk:
    from memfence.api.simulate import simulate

    return simulate(SourceText(path, text), model, every_step=every_step, timeout_seconds=seconds)


VERBS: dict[str, Callable[[SourceText, Object, Progress | None], Object]] = {
    "diagnose": _diagnose,
    "check": _check,
    "fix": _fix,
    "why": _why,
    "compare": _compare,
    "tell": _tell,
    "values": _values,
    "outcomes": _outcomes,
    "graph": _graph,
    "walk": _walk,
}
