"""What a child process can be asked: a verb, a text and options in; one JSON object out."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from memfence.deadline import TimeUp
from memfence.diagnostics import InputError
from memfence.simulation.walk import NotPossible, Walk
from memfence.source import SourceText
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


def _with(options: Object, progress: Progress | None) -> Object:
    return options if progress is None else {**options, "progress": progress}


def _check(source: SourceText, options: Object, progress: Progress | None) -> Object:
    from memfence.api.check import check

    return _shown(check(source, **_with(options, progress)))


def _fix(source: SourceText, options: Object, progress: Progress | None) -> Object:
    from memfence.api.fix import fix

    result = fix(source, **_with(options, progress))
    return {**_shown(result), "patched": getattr(result, "patched", None)}


def _why(source: SourceText, options: Object, progress: Progress | None) -> Object:
    from memfence.api.why import why

    return _shown(why(source, **_with(options, progress)))


def _compare(source: SourceText, options: Object, progress: Progress | None) -> Object:
    from memfence.api.compare import compare

    options = {name: value for name, value in options.items() if name not in ("model", "criterion")}
    return _shown(compare(source, **_with(options, progress)))


def _shown(result: Any) -> Object:
    """What `--json` prints, with the verdict in one line and the page."""
    from memfence.report.described import report_of
    from memfence.report.formats.html import render

    report = report_of(result)
    return {**report.data(), "line": report.line(), "page": render(report)}


def _values(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """What registers and variables can hold."""
    from memfence.models.spec import SPECS
    from memfence.simulation.reachable import reachable_values

    model, program = SPECS[options.pop("model")], _read(source, options)
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
    from memfence.models.spec import SPECS
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
    from memfence.models.spec import SC, SPECS
    from memfence.report.views.state_graph import layout, state_graph_svg
    from memfence.simulation.state_graph import state_graph

    model = SPECS[options.pop("model")]
    graph = state_graph(_read(source, options), (SC, model) if model.has_buffers else (SC,))
    _, width, _ = layout(graph)
    return {"svg": state_graph_svg(graph), "width": width, "complete": graph.complete, "states": len(graph.nodes)}


def _walk(source: SourceText, options: Object, progress: Progress | None) -> Object:
    """A walk by the numbers of its choices: the state it leads to, and what can come next."""
    from memfence.report.describe.simulate import walk_view

    numbers, model = options.pop("choices"), options.pop("model")
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
    "values": _values,
    "outcomes": _outcomes,
    "graph": _graph,
    "walk": _walk,
}
